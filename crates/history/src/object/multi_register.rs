//! Several registers, read and written together in transactions.
//!
//! Invariant: a state is sorted by key and has the keys whose value is known and is not the stated initial one, so
//! equal contents are equal states. Where no initial value is stated, a key without entry holds some value that nothing
//! has told yet: the first read that was recorded tells it, and reads whose results are not known leave it open.

use super::method::{self, Method};
use super::{Misuse, Object, applied};
use crate::{Spec, Value};

/// Registers by key. `txn` takes a list of `["read" key nil]` and `["write" key value]` (also `"r"` and `"w"`), done
/// together and in that order; it answers the list with the values read filled in, or nil where the log does not record
/// them.
#[derive(Clone, Debug, Default)]
pub struct MultiRegister {
    initial: Option<Value>,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Step {
    /// "read", "r", "write" or "w", as the log has it.
    word: Value,
    key: Value,
    /// `None` for a read.
    write: Option<Value>,
}

const METHODS: &[Method] = &[Method::new("txn", &["transaction"])];
const EXPECTED: &str = "a list of [\"read\" key nil] and [\"write\" key value]";

type State = Vec<(Value, Value)>;

impl MultiRegister {
    /// Registers that all hold `initial` at first, or each some value that the log does not state.
    pub fn new(initial: Option<Value>) -> Self {
        MultiRegister { initial }
    }

    /// The value of a key, as far as it is known.
    fn get<'a>(&'a self, state: &'a State, key: &Value) -> Option<&'a Value> {
        match state.binary_search_by(|(other, _)| other.cmp(key)) {
            Ok(place) => Some(&state[place].1),
            Err(_) => self.initial.as_ref(),
        }
    }

    fn set(&self, state: &mut State, key: &Value, value: Value) {
        let is_initial = self.initial.as_ref() == Some(&value);
        match state.binary_search_by(|(other, _)| other.cmp(key)) {
            Ok(place) if is_initial => {
                state.remove(place);
            }
            Ok(place) => state[place].1 = value,
            Err(_) if is_initial => {}
            Err(place) => state.insert(place, (key.clone(), value)),
        }
    }
}

fn step_of(item: &Value) -> Option<Step> {
    let (word, key, value) = match item.as_list()? {
        [word, key] => (word, key, &Value::Nil),
        [word, key, value] => (word, key, value),
        _ => return None,
    };
    let write = match word.as_text()? {
        "read" | "r" => None,
        "write" | "w" if !value.is_nil() => Some(value.clone()),
        _ => return None,
    };
    Some(Step { word: word.clone(), key: key.clone(), write })
}

/// The registers that a transaction names, step by step, each with whether it is written.
pub(crate) fn steps(argument: &Value) -> impl Iterator<Item = (&Value, bool)> {
    argument.as_list().unwrap_or_default().iter().filter_map(|item| {
        let register = item.as_list()?.get(1)?;
        Some((register, step_of(item)?.write.is_some()))
    })
}

/// What the result says that a step has read; nil where it says nothing more.
fn seen(results: &[Value], step: usize) -> &Value {
    results.get(step).and_then(Value::as_list).and_then(|result| result.get(2)).unwrap_or(&Value::Nil)
}

impl Spec for MultiRegister {
    type State = State;
    type Input = Input;
    type Output = Value;

    fn initial(&self) -> State {
        Vec::new()
    }

    fn apply(&self, state: &State, input: &Input, out: &mut Vec<(Value, State)>) {
        applied(self, state, input, out);
    }

    fn step(&self, state: &State, input: &Input, output: Option<&Value>, next: &mut Vec<State>) {
        let results = output.and_then(Value::as_list);
        let mut after = state.clone();
        for (i, Step { key, write, .. }) in input.steps.iter().enumerate() {
            match (write, results) {
                (Some(value), _) => self.set(&mut after, key, value.clone()),
                (None, None) => {}
                (None, Some(results)) => {
                    let seen = seen(results, i);
                    match self.get(&after, key) {
                        Some(value) if value != seen => return,
                        Some(_) => {}
                        None => self.set(&mut after, key, seen.clone()),
                    }
                }
            }
        }
        next.push(after);
    }

    fn answers(&self, state: &State, input: &Input, answers: &mut Vec<Value>) {
        let mut after = state.clone();
        let mut results = Vec::with_capacity(input.steps.len());
        for Step { word, key, write } in &input.steps {
            let value = match write {
                Some(value) => {
                    self.set(&mut after, key, value.clone());
                    value.clone()
                }
                None => match self.get(&after, key) {
                    Some(value) => value.clone(),
                    // Any value at all: there is no list of those, and leaving the result out says the same.
                    None => return answers.push(Value::Nil),
                },
            };
            results.push(Value::list([word.clone(), key.clone(), value]));
        }
        answers.push(Value::list(results));
    }

    // Where no initial value is stated, a read may be the one that tells it, and then it does change the state.
    fn is_pure(&self, input: &Input, output: &Value) -> bool {
        let reads_only = input.steps.iter().all(|step| step.write.is_none());
        reads_only && (self.initial.is_some() || output.is_nil() || input.steps.is_empty())
    }

    // A value that is known stays known.
    fn is_pure_from(&self, state: &State, input: &Input, _output: &Value) -> bool {
        input.steps.iter().all(|step| step.write.is_none() && self.get(state, &step.key).is_some())
    }
}

impl Object for MultiRegister {
    fn methods(&self) -> &'static [Method] {
        METHODS
    }

    fn input(&self, method: &str, argument: &Value) -> Result<Input, Misuse> {
        method::find(METHODS, method)?;
        let steps = argument.as_list().and_then(|items| items.iter().map(step_of).collect());
        match steps {
            Some(steps) => Ok(Input { steps }),
            None => Err(Misuse::Argument { expected: EXPECTED, found: argument.clone() }),
        }
    }

    fn admits(&self, input: &Input, output: &Value) -> Result<(), Misuse> {
        let expected = "the list of the call with the values read filled in, or nothing";
        let same = |(step, result): (&Step, &Value)| match result.as_list() {
            Some([word, key, value]) => {
                *word == step.word && *key == step.key && step.write.as_ref().is_none_or(|write| write == value)
            }
            _ => false,
        };
        match output {
            Value::Nil => Ok(()),
            Value::List(results)
                if results.len() == input.steps.len() && input.steps.iter().zip(&**results).all(same) =>
            {
                Ok(())
            }
            found => Err(Misuse::Result { expected, found: found.clone() }),
        }
    }

    fn is_told_by_results(&self) -> bool {
        self.initial.is_none()
    }
}
