//! What happens after an attempt that fails, for every value that the code may find then; each excursion is made once.
//!
//! Two copies of a thread go side by side: one as it would be after the failure (*late*), one as it was before the attempt
//! (*fresh*). They read the same values. When they are the same in every register and every byte of their stacks, the failure
//! has left nothing behind. When one does something that the other does not, or one does more than read before that, it has.
//!
//! Invariant: states are compared by content, a hash only finds candidates.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::call::{Call, Function};
use super::excursion::{Lane, Overlay, State, Stop};
use super::{Failure, readable, value_at};
use crate::arch::dead::is_dead;
use crate::arch::step::advance;

/// So many reads after a failure, and no more.
const DEPTH_MAX: u32 = 24;

/// So many states are kept, of about a kilobyte each.
const NODES_MAX: usize = 20_000;

/// So many announced accesses to the thread's own stack between two others.
const STACK_ACCESSES_MAX: u32 = 100;

/// No variable that others may change.
const NOTHING: (u64, u64) = (0, 0);

/// An atomic load, or an announced plain read, with what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// Where it was called from; 0 for a plain read.
    pub pc: u64,
    /// The first byte.
    pub address: u64,
    /// How many.
    pub size: u8,
    /// What was there.
    pub bytes: [u8; 16],
}

impl Found {
    fn word(&self) -> u64 {
        u64::from_le_bytes(self.bytes[..8].try_into().expect("eight bytes"))
    }
}

/// An attempt: from the load that it began with to the access that fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// At the load that it began with.
    pub head: State,
    /// What that load and the reads after it found.
    pub reads: Vec<Found>,
    /// At the access that fails.
    pub at: State,
    /// How it tells that it failed.
    pub failure: Failure,
    /// What it accesses.
    pub cell: u64,
    /// How many bytes.
    pub size: u8,
    /// What it expects there.
    pub expected: u64,
    /// Whether the failure leads back to the load, as opposed to telling what the load would have told.
    pub back: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    /// The two copies are the same; or, for one alone, it does more than read.
    Good,
    Bad,
    Node(usize),
}

/// A call that one or two copies are about to make.
struct Node {
    fresh: State,
    late: Option<State>,
    call: Call,
    depth: u32,
    /// The variable that the failure wrote to: address and size.
    variable: Option<(u64, u8)>,
    children: Vec<(u128, Child)>,
}

struct Root {
    attempt: Attempt,
    is_replayable: bool,
    children: Vec<(u128, Child)>,
    /// The fresh copy alone.
    alone: usize,
}

/// All excursions so far.
#[derive(Default)]
pub struct Forest {
    nodes: Vec<Node>,
    roots: Vec<Root>,
    by_hash: HashMap<u64, Vec<usize>>,
}

/// What an attempt depends on: locations whose values were looked at.
#[derive(Default)]
pub struct Looked {
    /// Atomic ones: address and size.
    pub atomic: Vec<(u64, u8)>,
    /// Plain ones, with what was there.
    pub plain: Vec<(u64, u8, u128)>,
}

impl Looked {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.atomic.clear();
        self.plain.clear();
    }
}

/// The values that a location has had in the run; `None` when that cannot be told.
pub type Values<'a> = &'a dyn Fn(u64, u8) -> Option<Vec<u64>>;

/// What is in memory, at a place that may not exist.
pub fn plain_value(address: u64, size: u8) -> Option<u128> {
    let mut bytes = [0; 16];
    if size > 16 || !readable(address, u64::from(size)) {
        return None;
    }
    // SAFETY: memory of the code under test that is mapped.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), usize::from(size)) };
    Some(u128::from_le_bytes(bytes))
}

impl Forest {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets everything once it has become too much. Numbers of attempts are then no longer good.
    pub fn prune(&mut self) {
        if self.nodes.len() > NODES_MAX {
            self.clear();
        }
    }

    /// The number of an attempt, new or known.
    pub fn root(&mut self, lane: &Lane, attempt: Attempt) -> usize {
        let hash = foldhash::fast::FixedState::default().hash_one(&attempt);
        let known = self.by_hash.entry(hash).or_default();
        if let Some(&root) = known.iter().find(|&&root| self.roots[root].attempt == attempt) {
            return root;
        }
        known.push(self.roots.len());
        let is_replayable = replays(lane, &attempt);
        let first = attempt.reads[0];
        let call = Call::new(Function::Load(first.size), [first.address, 0, 0, 0, 0, 0, 0]);
        let alone = self.add(attempt.head.clone(), None, call, 0, None);
        self.roots.push(Root { attempt, is_replayable, children: Vec::new(), alone });
        self.roots.len() - 1
    }

    fn add(&mut self, fresh: State, late: Option<State>, call: Call, depth: u32, variable: Option<(u64, u8)>) -> usize {
        self.nodes.push(Node { fresh, late, call, depth, variable, children: Vec::new() });
        self.nodes.len() - 1
    }

    /// Whether an attempt that fails leaves nothing behind, whatever is found.
    pub fn leaves_nothing(&mut self, lane: &Lane, root: usize, values: Values<'_>, looked: &mut Looked) -> bool {
        let Root { attempt, is_replayable, .. } = &self.roots[root];
        let (cell, size, expected) = (attempt.cell, attempt.size, attempt.expected);
        if !is_replayable {
            return false;
        }
        looked.atomic.push((cell, size));
        let Some(found) = values(cell, size) else { return false };
        found.into_iter().filter(|&value| value != expected).all(|value| {
            let known = self.roots[root].children.iter().find(|(other, _)| *other == u128::from(value));
            let child = match known {
                Some(&(_, child)) => child,
                None => {
                    let child = self.fail(lane, root, value);
                    self.roots[root].children.push((value.into(), child));
                    child
                }
            };
            self.descend(lane, child, values, looked)
        })
    }

    /// What comes of a failure that finds a value.
    fn fail(&mut self, lane: &Lane, root: usize, value: u64) -> Child {
        let attempt = &self.roots[root].attempt;
        let late = after_failure(lane, attempt, value);
        let first = attempt.reads[0];
        let load = Call::new(Function::Load(first.size), [first.address, 0, 0, 0, 0, 0, 0]);
        let fresh = if attempt.back {
            Stop::At(load, attempt.head.clone())
        } else {
            go(lane, &attempt.head, value, &[], NOTHING)
        };
        let variable = variable(&attempt.failure, attempt.size);
        self.meet(lane, fresh, Some(late), 1, variable)
    }

    /// Where the copies are now.
    fn meet(&mut self, lane: &Lane, fresh: Stop, late: Option<Stop>, depth: u32, variable: Option<(u64, u8)>) -> Child {
        let Stop::At(call, fresh) = fresh else { return Child::Bad };
        let alone = late.is_none();
        let late = match late {
            None => None,
            Some(Stop::At(other, late)) if other == call => Some(late),
            Some(_) => return Child::Bad,
        };
        if late.as_ref() == Some(&fresh) {
            return Child::Good;
        }
        if let (Some(late), Some((address, size))) = (&late, variable)
            && differ_at_most(&fresh, late, address, size)
            && is_dead(lane, &call, &fresh, address, size)
        {
            return Child::Good;
        }
        match call.function {
            _ if depth > DEPTH_MAX => Child::Bad,
            Function::Load(_) | Function::Read(_) => Child::Node(self.add(fresh, late, call, depth, variable)),
            Function::Exchange(_) | Function::ExchangeValue(_) if alone => {
                Child::Node(self.add(fresh, late, call, depth, None))
            }
            _ if alone => Child::Good,
            _ => Child::Bad,
        }
    }

    /// The copies go on after their call found a value.
    fn child(&mut self, lane: &Lane, node: usize, value: u128) -> Child {
        let known = self.nodes[node].children.iter().find(|(other, _)| *other == value);
        if let Some(&(_, child)) = known {
            return child;
        }
        let Node { fresh, late, call, depth, variable, .. } = &self.nodes[node];
        let answer = if matches!(call.function, Function::Load(_)) { value as u64 } else { 0 };
        let (depth, variable) = (depth + 1, *variable);
        let announced = announced(call);
        let fresh = go(lane, fresh, answer, &[], announced);
        let late = late.as_ref().map(|late| go(lane, late, answer, &[], announced));
        let child = self.meet(lane, fresh, late, depth, variable);
        self.nodes[node].children.push((value, child));
        child
    }

    fn descend(&mut self, lane: &Lane, child: Child, values: Values<'_>, looked: &mut Looked) -> bool {
        let node = match child {
            Child::Good => return true,
            Child::Bad => return false,
            Child::Node(node) => node,
        };
        let Call { function, arguments } = self.nodes[node].call;
        match function {
            Function::Load(size) => {
                looked.atomic.push((arguments[0], size));
                let Some(found) = values(arguments[0], size) else { return false };
                found.into_iter().all(|value| {
                    let child = self.child(lane, node, value.into());
                    self.descend(lane, child, values, looked)
                })
            }
            _ => {
                let Some(value) = self.plain(node, looked) else { return false };
                let child = self.child(lane, node, value);
                self.descend(lane, child, values, looked)
            }
        }
    }

    /// What an announced plain read will find.
    fn plain(&self, node: usize, looked: &mut Looked) -> Option<u128> {
        let Call { function, arguments } = self.nodes[node].call;
        let Function::Read(size) = function else { return None };
        let value = plain_value(arguments[0], size)?;
        looked.plain.push((arguments[0], size, value));
        Some(value)
    }

    /// Whether the attempt, made once more now, would do more than read.
    pub fn goes_on(&mut self, lane: &Lane, root: usize) -> bool {
        let (head, mut node) = (self.roots[root].attempt.head.pc, self.roots[root].alone);
        loop {
            let Call { function, arguments } = self.nodes[node].call;
            let child = match function {
                Function::Load(size) if readable(arguments[0], size.into()) => {
                    // SAFETY: it was found readable.
                    let value = unsafe { value_at(arguments[0], size) };
                    self.child(lane, node, value.into())
                }
                Function::Exchange(size) | Function::ExchangeValue(size) => {
                    let expected = self.expected(node);
                    return expected.is_some_and(|expected| {
                        // SAFETY: only where it was found readable.
                        readable(arguments[0], size.into()) && unsafe { value_at(arguments[0], size) } == expected
                    });
                }
                Function::Read(_) => match self.plain(node, &mut Looked::default()) {
                    Some(value) => self.child(lane, node, value),
                    None => return false,
                },
                _ => return false,
            };
            match child {
                Child::Good => return true,
                Child::Bad => return false,
                Child::Node(next) => node = next,
            }
            let again =
                self.nodes[node].fresh.pc == head && matches!(self.nodes[node].call.function, Function::Load(_));
            if again {
                return false;
            }
        }
    }

    /// What an exchange expects.
    fn expected(&mut self, node: usize) -> Option<u64> {
        let Node { fresh, call, .. } = &mut self.nodes[node];
        match call.function {
            Function::Exchange(size) => {
                let mut bytes = [0; 8];
                bytes[..usize::from(size)].copy_from_slice(fresh.bytes(call.arguments[1], size.into())?);
                Some(u64::from_le_bytes(bytes))
            }
            Function::ExchangeValue(_) => Some(call.arguments[1]),
            _ => None,
        }
    }
}

/// What a call announces that will be read.
fn announced(call: &Call) -> (u64, u64) {
    match call.function {
        Function::Read(size) => (call.arguments[0], call.arguments[0].saturating_add(size.into())),
        _ => NOTHING,
    }
}

/// The variable that a failure writes to.
fn variable(failure: &Failure, size: u8) -> Option<(u64, u8)> {
    match failure {
        Failure::Stored(address) => Some((*address, size)),
        Failure::Load | Failure::Answer => None,
    }
}

/// Whether two copies are the same but for a variable.
fn differ_at_most(one: &State, other: &State, address: u64, size: u8) -> bool {
    let from = address.wrapping_sub(one.sp);
    let inside = |at: usize| (at as u64).wrapping_sub(from) < u64::from(size);
    (one.pc, one.sp, one.registers) == (other.pc, other.sp, other.registers)
        && one.stack.len() == other.stack.len()
        && one.stack.iter().zip(&other.stack).enumerate().all(|(at, (a, b))| a == b || inside(at))
}

/// The next call of the runtime that is not about the thread's own stack.
fn go(lane: &Lane, start: &State, answer: u64, overlay: &[Overlay], announced: (u64, u64)) -> Stop {
    let mut stop = advance(lane, start, answer, overlay, announced);
    for _ in 0..STACK_ACCESSES_MAX {
        match &stop {
            Stop::At(Call { function: Function::Read(_) | Function::Write(_), arguments }, state)
                if (lane.bottom..lane.top).contains(&arguments[0]) =>
            {
                stop = advance(lane, state, 0, overlay, announced);
            }
            _ => return stop,
        }
    }
    Stop::Lost
}

/// Where the thread comes after its access found a value that makes it fail.
pub fn after_failure(lane: &Lane, attempt: &Attempt, value: u64) -> Stop {
    match attempt.failure {
        Failure::Load | Failure::Answer => go(lane, &attempt.at, value, &[], NOTHING),
        Failure::Stored(expected) => {
            let mut at = attempt.at.clone();
            let size = usize::from(attempt.size);
            match at.bytes(expected, size) {
                Some(bytes) => bytes.copy_from_slice(&value.to_le_bytes()[..size]),
                None => return Stop::Lost,
            }
            go(lane, &at, 0, &[], NOTHING)
        }
    }
}

/// Whether the attempt, as it was made, did nothing but read and write to its own stack: made again with the values that it found it
/// comes to the same place, through no call but reads.
fn replays(lane: &Lane, attempt: &Attempt) -> bool {
    let mut overlay: Vec<Overlay> = Vec::new();
    let mut reads = attempt.reads.iter();
    let Some(first) = reads.next() else { return false };
    let mut stop = go(lane, &attempt.head, first.word(), &overlay, NOTHING);
    for _ in 0..4 * DEPTH_MAX {
        let Stop::At(call, state) = stop else { return false };
        let here = (state.pc, state.sp, state.registers) == (attempt.at.pc, attempt.at.sp, attempt.at.registers);
        let wanted = match attempt.failure {
            Failure::Load => Function::Load(attempt.size),
            Failure::Answer => Function::ExchangeValue(attempt.size),
            Failure::Stored(_) => Function::Exchange(attempt.size),
        };
        if here && call.function == wanted && call.arguments[0] == attempt.cell && reads.len() == 0 {
            return true;
        }
        let answer = match call.function {
            Function::Load(size) => match reads.next() {
                Some(read) if read.pc == state.pc && (read.address, read.size) == (call.arguments[0], size) => {
                    read.word()
                }
                _ => return false,
            },
            Function::Read(size) => match reads.next() {
                Some(read) if read.pc == 0 && (read.address, read.size) == (call.arguments[0], size) => {
                    overlay.push((read.address, read.size, read.bytes));
                    0
                }
                _ => return false,
            },
            _ => return false,
        };
        stop = go(lane, &state, answer, &overlay, announced(&call));
    }
    false
}
