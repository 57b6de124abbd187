//! The library's specifications, run by the plainest search there is.

use std::collections::BTreeMap;
use std::fmt::Debug;

use selvedge_history::object::{Kind, Object, ObjectVisitor};
use selvedge_history::{Call, End, Log, Operation, Spec, Value};

use crate::notation::{Event, What};
use crate::random::{self, Rng};

/// Whether a search places an operation that changes nothing as soon as it fits and never looks back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pure {
    Eager,
    Ignored,
}

/// Whether the log is linearizable by the library's specification, part by part.
pub fn linearizable(log: &Log, kind: Kind, pure: Pure) -> bool {
    let mut parts: BTreeMap<(u32, Value), Vec<&Operation<Call, Value>>> = BTreeMap::new();
    for op in log.history.operations() {
        parts.entry((op.input.object.0, kind.part_key(&op.input))).or_default().push(op);
    }
    let fits = |ops: Vec<&Operation<Call, Value>>| {
        kind.with_object(log.initial.as_ref(), Search { log, kind, ops, pure }).expect("the initial value fits")
    };
    parts.into_values().all(fits)
}

struct Search<'a> {
    log: &'a Log,
    kind: Kind,
    ops: Vec<&'a Operation<Call, Value>>,
    pure: Pure,
}

impl ObjectVisitor for Search<'_> {
    type Answer = bool;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> bool {
        let read = |op: &Operation<Call, Value>| {
            let method = self.log.name(op.input.method);
            let input = object.input(method, &self.kind.argument(&op.input)).expect("a call that fits");
            if let Some(output) = op.output() {
                object.admits(&input, output).unwrap_or_else(|misuse| panic!("{method} -> {output}: {misuse}"));
            }
            Operation { input, thread: op.thread, call: op.call, ret: op.ret.clone() }
        };
        let ops: Vec<_> = self.ops.iter().map(|op| read(op)).collect();
        let (complete, pending): (Vec<_>, Vec<_>) = ops.iter().partition(|op| op.ret.is_some());
        let explained = |ops: &[&Operation<O::Input, Value>], good: &dyn Fn(&O::State) -> bool| {
            wing_gong(&object, ops, 0, &object.initial(), self.pure, good)
        };
        if self.log.history.end() != End::Stuck {
            return explained(&ops.iter().collect::<Vec<_>>(), &|_| true);
        }
        let blocks = |input: &O::Input, state: &O::State| {
            let mut next = Vec::new();
            object.step(state, input, None, &mut next);
            next.is_empty()
        };
        explained(&complete, &|_| true)
            && pending.iter().all(|e| explained(&complete, &|state| blocks(&e.input, state)))
    }
}

/// Places one operation after the other (Wing and Gong 1993); `done` is a set of bits.
fn wing_gong<S: Spec>(
    spec: &S,
    ops: &[&Operation<S::Input, S::Output>],
    done: u32,
    state: &S::State,
    pure: Pure,
    good: &dyn Fn(&S::State) -> bool,
) -> bool {
    let left = || (0..ops.len()).filter(|i| done >> i & 1 == 0);
    if left().all(|i| ops[i].ret.is_none()) && good(state) {
        return true;
    }
    let minimal = |i: &usize| !left().any(|j| ops[j].precedes(ops[*i]));
    let after = |i: usize| {
        let mut next = Vec::new();
        spec.step(state, &ops[i].input, ops[i].output(), &mut next);
        next
    };
    let on = |i: usize| after(i).iter().any(|after| wing_gong(spec, ops, done | 1 << i, after, pure, good));
    let is_pure = |i: &usize| ops[*i].output().is_some_and(|output| spec.is_pure(&ops[*i].input, output));
    let eager = left().filter(minimal).filter(is_pure).find(|i| !after(*i).is_empty());
    match eager {
        Some(i) if pure == Pure::Eager => on(i),
        _ => left().filter(minimal).any(on),
    }
}

/// Takes an object through random calls, each time with one of the answers it gives.
struct Walk {
    kind: Kind,
    seed: u64,
}

impl ObjectVisitor for Walk {
    type Answer = usize;

    fn visit<O: Object + Sync + 'static>(self, object: O) -> usize
    where
        O::State: Debug,
        O::Input: Debug,
    {
        let mut rng = Rng::new(self.seed);
        let mut state = object.initial();
        let mut steps = 0;
        for seed in 0..20 {
            for Event { what, .. } in random::draft(self.kind, self.seed * 1_000 + seed).events {
                let What::Call(called) = what else { continue };
                let (object_name, method) = (selvedge_history::Symbol(0), selvedge_history::Symbol(0));
                let call = Call { object: object_name, method, key: called.key, argument: called.argument };
                let input = object.input(&called.method, &self.kind.argument(&call)).expect("a call that fits");
                let next = check_answers(&object, &state, &input);
                if !next.is_empty() {
                    state = rng.pick(&next).clone();
                    steps += 1;
                }
            }
        }
        steps
    }
}

/// Every answer leads on, all of them together lead where no answer given leads, and pure answers lead nowhere else.
fn check_answers<O: Object>(object: &O, state: &O::State, input: &O::Input) -> Vec<O::State>
where
    O::State: Debug,
    O::Input: Debug,
{
    let (mut pairs, mut answers, mut all, mut union) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    object.apply(state, input, &mut pairs);
    object.answers(state, input, &mut answers);
    object.step(state, input, None, &mut all);
    assert!((0..pairs.len()).all(|i| !pairs[..i].contains(&pairs[i])), "{input:?} in {state:?}: a pair twice");
    assert!(pairs.iter().all(|(answer, _)| answers.contains(answer)), "{input:?} in {state:?}: {answers:?}");
    for answer in &answers {
        assert_eq!(object.admits(input, answer), Ok(()), "{input:?}");
        let before = union.len();
        object.step(state, input, Some(answer), &mut union);
        assert!(union.len() > before, "{input:?} cannot answer {answer} in {state:?}");
        let led = &union[before..];
        let applied: Vec<_> = pairs.iter().filter(|pair| pair.0 == *answer).map(|pair| &pair.1).collect();
        let same = applied.len() == led.len() && led.iter().all(|after| applied.contains(&after));
        assert!(same, "{input:?} -> {answer} in {state:?} leads to {led:?}, applied to {applied:?}");
    }
    assert!(all.iter().all(|after| union.contains(after)), "{input:?} in {state:?}: {all:?} is more than {union:?}");
    assert!(union.iter().all(|after| all.contains(after)), "{input:?} in {state:?}: {union:?} is more than {all:?}");
    let twice = (0..all.len()).any(|i| all[..i].contains(&all[i]));
    assert!(!twice, "{input:?} in {state:?}: the same state twice in {all:?}");
    let seen: Vec<Value> = (-3..9).map(Value::Int).chain([Value::Nil, true.into(), false.into(), "".into()]).collect();
    for output in answers.iter().chain(&seen).filter(|output| object.admits(input, output).is_ok()) {
        let mut next = Vec::new();
        object.step(state, input, Some(output), &mut next);
        assert!(next.iter().all(|after| all.contains(after)), "{input:?} -> {output} in {state:?} leads elsewhere");
        let stays = next.iter().all(|after| after == state);
        assert!(stays || !object.is_pure(input, output), "{input:?} -> {output} changes {state:?}");
    }
    all
}

#[test]
fn answers_are_what_a_step_without_result_allows() {
    for kind in Kind::ALL {
        for seed in 0..20 {
            let initials: &[Option<Value>] = match kind {
                Kind::Register | Kind::CasRegister | Kind::MultiRegister | Kind::Counter | Kind::Semaphore => {
                    &[None, Some(Value::Int(2))]
                }
                Kind::Map => &[None, Some(Value::Bool(false))],
                _ => &[None],
            };
            for initial in initials {
                let steps = kind.with_object(initial.as_ref(), Walk { kind, seed }).expect("the initial value fits");
                assert!(steps > 20, "{kind} blocks too soon");
            }
        }
    }
}
