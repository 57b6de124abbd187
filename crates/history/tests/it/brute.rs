//! Linearizability by trying every order, exactly as defined.
//!
//! Plain recursion without memory over the models of `models`, which know the whole log: nothing is split by key and
//! nothing is skipped. Exponential; for at most 8 operations.

use selvedge_history::object::Kind;
use selvedge_history::{End, Log, Value};

use crate::models::{self, Model};
use crate::notation::Called;

/// An operation in plain words.
#[derive(Clone, Debug)]
pub struct Op {
    pub called: Called,
    /// The place of the call among the events.
    pub call: usize,
    /// The place of the return, and the result.
    pub ret: Option<(usize, Value)>,
}

/// Whether the log is linearizable, or, where it is stuck, whether each pending operation had a reason to block.
pub fn linearizable(log: &Log, kind: Kind) -> bool {
    let ops: Vec<Op> = log
        .history
        .operations()
        .iter()
        .map(|op| Op {
            called: Called {
                object: log.name(op.input.object).to_owned(),
                key: op.input.key.clone(),
                method: log.name(op.input.method).to_owned(),
                argument: op.input.argument.clone(),
            },
            call: op.call as usize,
            ret: op.ret.as_ref().map(|ret| (ret.at as usize, ret.output.clone())),
        })
        .collect();
    assert!(ops.len() <= 8, "too long for trying every order");
    let stuck = log.history.end() == End::Stuck;
    models::with_model(kind, log.initial.clone(), Question { ops, stuck })
}

struct Question {
    ops: Vec<Op>,
    stuck: bool,
}

impl models::Visitor for Question {
    type Answer = bool;

    fn visit<M: Model>(self, model: M) -> bool {
        if !self.stuck {
            return explained(&model, &self.ops, &self.ops, &|_| true);
        }
        let complete: Vec<Op> = self.ops.iter().filter(|op| op.ret.is_some()).cloned().collect();
        let mut pending = self.ops.iter().filter(|op| op.ret.is_none());
        pending.all(|e| explained(&model, &self.ops, &complete, &|state| model.outcomes(state, &e.called).is_empty()))
    }
}

/// Whether some order of all complete operations among `ops` and some pending ones ends in a state that is `good`.
fn explained<M: Model>(model: &M, all: &[Op], ops: &[Op], good: &dyn Fn(&M::State) -> bool) -> bool {
    let calls: Vec<_> = all.iter().map(|op| (&op.called, op.ret.as_ref().map(|ret| &ret.1))).collect();
    model.starts(&calls).iter().any(|start| place(model, ops, &mut vec![false; ops.len()], start, good))
}

fn place<M: Model>(
    model: &M,
    ops: &[Op],
    done: &mut Vec<bool>,
    state: &M::State,
    good: &dyn Fn(&M::State) -> bool,
) -> bool {
    let all_complete_done = ops.iter().zip(&*done).all(|(op, done)| *done || op.ret.is_none());
    if all_complete_done && good(state) {
        return true;
    }
    for i in 0..ops.len() {
        let must_wait = (0..ops.len()).any(|j| !done[j] && ops[j].ret.as_ref().is_some_and(|ret| ret.0 < ops[i].call));
        if done[i] || must_wait {
            continue;
        }
        done[i] = true;
        for (result, after) in model.outcomes(state, &ops[i].called) {
            let recorded = ops[i].ret.as_ref().map(|ret| &ret.1);
            if recorded.is_none_or(|recorded| *recorded == result) && place(model, ops, done, &after, good) {
                return true;
            }
        }
        done[i] = false;
    }
    false
}
