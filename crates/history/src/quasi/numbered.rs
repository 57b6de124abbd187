//! Any object, asked by number: states, calls, results and elements each have one, and the search knows nothing else of them.
//!
//! So the search is compiled once, and not once for each kind of object; and equal things are compared and hashed as numbers.
//!
//! Invariant: two numbers of one kind are equal exactly when what they stand for is, and the numbers of elements that the history
//! shows are ordered as the elements are.

use std::cell::RefCell;
use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::{Classing, Orders, Placed, Reason};
use crate::{Elements, History, OpId, Spec};

/// The number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State(pub(super) u32);

/// The number of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input(u32);

/// The number of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output(u32);

/// The number of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element(u32);

/// An object whose states, calls, results and elements have numbers.
pub(super) type Object<'a> = dyn Elements<State = State, Input = Input, Output = Output, Element = Element> + 'a;

/// Things of one kind, each with a number.
pub(super) struct Table<T> {
    all: Vec<T>,
    index: HashMap<T, u32, RandomState>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    pub fn new() -> Self {
        Table { all: Vec::new(), index: HashMap::default() }
    }

    /// Its number, a new one if it has none yet.
    pub fn number(&mut self, one: T) -> u32 {
        if let Some(&number) = self.index.get(&one) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(one.clone());
        self.index.insert(one, number);
        number
    }

    /// What has this number.
    pub fn get(&self, number: u32) -> &T {
        &self.all[number as usize]
    }
}

/// An object with the numbers that were given so far.
pub(super) struct Numbered<'s, S: Elements> {
    spec: &'s S,
    states: RefCell<Table<S::State>>,
    inputs: RefCell<Table<S::Input>>,
    outputs: RefCell<Table<S::Output>>,
    elements: RefCell<Table<S::Element>>,
}

impl<'s, S: Elements> Numbered<'s, S> {
    /// The elements that the history shows get their numbers in ascending order.
    pub fn new(spec: &'s S, history: &History<S::Input, S::Output>) -> Self {
        let mut shown: Vec<S::Element> = Vec::new();
        for operation in history.operations() {
            let (input, output) = (&operation.input, operation.output());
            shown.extend(spec.brings(input, output).into_iter().chain(spec.brings(input, None)));
            shown.extend(output.and_then(|output| spec.takes(input, output)));
            shown.extend(output.and_then(|output| spec.sees(input, output)));
        }
        shown.sort_unstable();
        let mut elements = Table::new();
        for element in shown {
            elements.number(element);
        }
        Numbered {
            spec,
            states: RefCell::new(Table::new()),
            inputs: RefCell::new(Table::new()),
            outputs: RefCell::new(Table::new()),
            elements: RefCell::new(elements),
        }
    }

    fn state(&self, state: S::State) -> State {
        State(self.states.borrow_mut().number(state))
    }

    fn input(&self, input: S::Input) -> Input {
        Input(self.inputs.borrow_mut().number(input))
    }

    fn output(&self, output: S::Output) -> Output {
        Output(self.outputs.borrow_mut().number(output))
    }

    fn element(&self, element: S::Element) -> Element {
        Element(self.elements.borrow_mut().number(element))
    }

    /// The history in numbers.
    pub fn history(&self, history: &History<S::Input, S::Output>) -> History<Input, Output> {
        let all: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        history.project(&all, history.end(), |_, operation| {
            let output = operation.output().map(|output| self.output(output.clone()));
            (self.input(operation.input.clone()), output)
        })
    }

    /// The classes of calls in numbers.
    pub fn classing(&self, classing: &Classing<S::Input>) -> Classing<Input> {
        let probe = |(input, classes): &(S::Input, (u16, u16))| (self.input(input.clone()), *classes);
        Classing {
            of: classing.of.clone(),
            probes: classing.probes.iter().map(probe).collect(),
            insertion: classing.insertion,
        }
    }

    /// A reason in terms of the object.
    pub fn reason(&self, reason: Reason<Input, Output>) -> Reason<S::Input, S::Output> {
        match reason {
            Reason::Unplaced { operation, events, is_shortest, before, excess, not_enough } => {
                let before = before.map(|orders| self.orders(orders));
                Reason::Unplaced { operation, events, is_shortest, before, excess, not_enough }
            }
            Reason::Unfinished(orders) => Reason::Unfinished(self.orders(orders)),
            Reason::NeedNotBlock(op) => Reason::NeedNotBlock(op),
        }
    }

    /// Orders in terms of the object.
    pub fn orders(&self, orders: Orders<Input, Output>) -> Orders<S::Input, S::Output> {
        let (inputs, outputs) = (self.inputs.borrow(), self.outputs.borrow());
        let placed = |placed: Placed<Input, Output>| match placed {
            Placed::Operation(op) => Placed::Operation(op),
            Placed::Later(input, output) => Placed::Later(inputs.get(input.0).clone(), outputs.get(output.0).clone()),
        };
        Orders {
            linearization: orders.linearization.into_iter().map(placed).collect(),
            run: orders.run,
            classes: orders.classes,
            results: orders.results.into_iter().map(|(op, output)| (op, outputs.get(output.0).clone())).collect(),
        }
    }
}

impl<S: Elements> Spec for Numbered<'_, S> {
    type State = State;
    type Input = Input;
    type Output = Output;

    fn initial(&self) -> State {
        self.state(self.spec.initial())
    }

    fn apply(&self, state: &State, input: &Input, out: &mut Vec<(Output, State)>) {
        let mut all = Vec::new();
        self.spec.apply(self.states.borrow().get(state.0), self.inputs.borrow().get(input.0), &mut all);
        out.extend(all.into_iter().map(|(output, after)| (self.output(output), self.state(after))));
    }

    fn step(&self, state: &State, input: &Input, output: Option<&Output>, next: &mut Vec<State>) {
        let mut after = Vec::new();
        {
            let (states, inputs, outputs) = (self.states.borrow(), self.inputs.borrow(), self.outputs.borrow());
            let output = output.map(|output| outputs.get(output.0));
            self.spec.step(states.get(state.0), inputs.get(input.0), output, &mut after);
        }
        next.extend(after.into_iter().map(|state| self.state(state)));
    }

    fn answers(&self, state: &State, input: &Input, answers: &mut Vec<Output>) {
        let mut all = Vec::new();
        self.spec.answers(self.states.borrow().get(state.0), self.inputs.borrow().get(input.0), &mut all);
        answers.extend(all.into_iter().map(|output| self.output(output)));
    }
}

impl<S: Elements> Elements for Numbered<'_, S> {
    type Element = Element;

    fn brings(&self, input: &Input, output: Option<&Output>) -> Option<Element> {
        let outputs = self.outputs.borrow();
        let output = output.map(|output| outputs.get(output.0));
        self.spec.brings(self.inputs.borrow().get(input.0), output).map(|element| self.element(element))
    }

    fn takes(&self, input: &Input, output: &Output) -> Option<Element> {
        let taken = self.spec.takes(self.inputs.borrow().get(input.0), self.outputs.borrow().get(output.0));
        taken.map(|element| self.element(element))
    }

    fn sees(&self, input: &Input, output: &Output) -> Option<Element> {
        let seen = self.spec.sees(self.inputs.borrow().get(input.0), self.outputs.borrow().get(output.0));
        seen.map(|element| self.element(element))
    }

    fn finds_nothing(&self, input: &Input, output: &Output) -> bool {
        self.spec.finds_nothing(self.inputs.borrow().get(input.0), self.outputs.borrow().get(output.0))
    }

    fn calls(&self) -> Vec<Input> {
        self.spec.calls().into_iter().map(|input| self.input(input)).collect()
    }

    fn method_name(&self, input: &Input) -> String {
        self.spec.method_name(self.inputs.borrow().get(input.0))
    }

    fn insertion(&self, element: &Element) -> Option<Input> {
        let call = self.spec.insertion(self.elements.borrow().get(element.0));
        call.map(|input| self.input(input))
    }

    fn ahead(&self, state: &State, element: &Element) -> usize {
        self.spec.ahead(self.states.borrow().get(state.0), self.elements.borrow().get(element.0))
    }

    fn is_first_in_first_out(&self) -> bool {
        self.spec.is_first_in_first_out()
    }
}
