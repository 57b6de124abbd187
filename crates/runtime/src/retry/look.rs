//! Looks in vain: a loop whose round is one access to what it waits for.
//!
//! `while (!load(&flag));`, `while (exchange(&lock, 1));`: a thread that is about to look, and would find a value that leads it back to the same look in the same state
//! having changed nothing, does not look. It waits until the value is another. A run without such a look is legal, every other step does the same in it, and it ends in the same state; so nothing is
//! lost, and no run differs from another in how often a thread looked. Only the single access decides: a round with more than one of them is none of these loops, because it may be left through
//! a mix of old and new values.
//!
//! That a value leads back is found out by running the code from there ([`super::excursion`]), up to the next access, with that value for an answer. The state is everything that the thread
//! is: registers that calls preserve, and the stack, but for words of it that are written before they are read again ([`dead`]). Which code to run at all is read from the
//! instructions: where no path leads from the access back to it past all others, there is no such loop.
//!
//! **Data races.** A look that is not made would still have been one. So whoever waits is looked at as if he had made the access, each time that somebody has touched the location: if that
//! is a data race, he looks, and the race is found.
//!
//! Invariant: whether a value is in vain depends on nothing but the value and what the thread is, so it is the same in every run.

use std::collections::HashMap;
use std::hash::BuildHasher;

use selvedge_explore::{Access, Condition, Kind, Thread, Vain};

use super::call::{Call, Function};
use super::excursion::{Lane, Overlay, State, Stop};
use super::{lane, value_at, values};
use crate::abi::atomic::Operation;
use crate::arch::site::Preserved;
use crate::arch::{dead, step};
use crate::control::Control;
use crate::fiber::Wants;
use crate::memory::arena;
use crate::race::Touch;

/// A round that makes more calls of the runtime, about its own stack or to give way, is not followed.
const CALLS_MAX: usize = 64;
/// After so many states and values at a place none of which was in vain no more are tried.
const TRIES_MAX: u32 = 64;
/// The same after a thread has been there so often: to know who is there takes longer than all the rest of a step.
const VISITS_MAX: u32 = 500;
/// What is known is forgotten once it is more.
const KNOWN_MAX: usize = 20_000;
/// Places that are known to be in no loop, as they are found most quickly.
const QUIET: usize = 1024;

/// What an access does, as far as it may find that there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// A load.
    Load,
    /// A compare and exchange that answers what it found: what it expects, and what it would store.
    Compare(u64, u64),
    /// One that stores what it found: where, what it expects, and what it would store.
    CompareStored(u64, u64, u64),
    /// An update with this operand, which may store what it found.
    Update(Operation, u64),
}

impl Question {
    /// Whether an access that finds this value changes nothing.
    fn fails(self, found: u64, bits: u64) -> bool {
        match self {
            Question::Load => true,
            Question::Compare(expected, _) | Question::CompareStored(_, expected, _) => found != expected,
            Question::Update(operation, operand) => operation.apply(found, operand) & bits == found,
        }
    }

    fn writes(self) -> bool {
        self != Question::Load
    }

    /// What it does where it finds nothing to do.
    fn idles(self) -> Kind {
        if let Question::Update(..) = self { Kind::Update } else { Kind::Read }
    }

    /// Whether a call asks the same of the same location.
    fn is_asked_by(self, call: &Call, state: &State, cell: u64, size: u8) -> bool {
        let [first, second, third, ..] = call.arguments;
        let bits = bits(size);
        first == cell
            && match (self, call.function) {
                (Question::Load, Function::Load(other)) => other == size,
                (Question::Compare(expected, wanted), Function::ExchangeValue(other)) => {
                    other == size && (second & bits, third & bits) == (expected, wanted)
                }
                (Question::CompareStored(place, expected, wanted), Function::Exchange(other)) => {
                    let mut found = [0; 8];
                    let stored = place.checked_sub(state.sp).and_then(|at| state.stack.get(at as usize..));
                    let stored = stored.and_then(|stored| stored.get(..usize::from(size)));
                    stored.is_some_and(|stored| {
                        found[..usize::from(size)].copy_from_slice(stored);
                        other == size
                            && second == place
                            && (u64::from_le_bytes(found), third & bits) == (expected, wanted)
                    })
                }
                (Question::Update(operation, operand), Function::Update(other, code)) => {
                    (other, code) == (size, operation) && second & bits == operand
                }
                _ => false,
            }
    }
}

fn bits(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size))
}

/// A thread that is about to look, and what it is.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    state: State,
    cell: u64,
    size: u8,
    question: Question,
}

/// What is known of such a thread.
#[derive(Debug)]
struct Known {
    asked: Asked,
    /// By value, whether it is in vain.
    answers: Vec<(u64, bool)>,
}

/// A place in the code, and how deep in the stack.
type Place = (u64, u64);

/// What is known of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    /// Whether the access may come after itself.
    may: bool,
    tries: u32,
    visits: u32,
    vain: bool,
}

/// What is known of all looks.
pub struct Looks {
    /// Whether they are recognised.
    pub on: bool,
    /// Whether code may be run in order to know.
    steps: bool,
    /// Whether somebody wants to know on what it depends that a thread looks.
    turns_races: bool,
    quiet: [Place; QUIET],
    places: HashMap<Place, Tried, foldhash::fast::FixedState>,
    known: Vec<Known>,
    by_hash: HashMap<u64, Vec<usize>, foldhash::fast::FixedState>,
    sets: HashMap<(Vec<u64>, bool), Vain, foldhash::fast::FixedState>,
}

impl Default for Looks {
    fn default() -> Self {
        Looks {
            on: false,
            steps: false,
            turns_races: false,
            quiet: [(0, 0); QUIET],
            places: HashMap::default(),
            known: Vec::new(),
            by_hash: HashMap::default(),
            sets: HashMap::default(),
        }
    }
}

/// The look that a thread is about to take.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pc: u64,
    cell: u64,
    size: u8,
    question: Question,
    place: Place,
    /// Who it is, where that is known.
    known: Option<usize>,
    /// The value that was there when it was last looked at, and whether it is in vain.
    found: Option<u64>,
    /// Whether the thread waits.
    pub vain: bool,
}

impl Looks {
    /// Whether they are recognised in the next run, and, where it does not repeat a schedule, whether a strategy turns races in it. In a debugger no code is run on the way.
    pub fn enable(&mut self, on: bool, is_debugged: bool, turns_races: Option<bool>) {
        self.steps = !is_debugged;
        self.on = on && (is_debugged || step::prepare());
        self.turns_races = turns_races.unwrap_or(self.turns_races);
    }

    /// No run is under way: what is too much is forgotten.
    pub fn prune(&mut self) {
        if self.known.len() > KNOWN_MAX {
            self.known.clear();
            self.by_hash.clear();
        }
    }

    fn slot((pc, depth): Place) -> usize {
        (pc ^ depth.rotate_left(4)) as usize % QUIET
    }

    /// Whether the access at a place, so deep in the stack, is known to be in no loop.
    #[inline(always)]
    pub fn is_quiet(&self, place: Place) -> bool {
        !self.on || self.quiet[Self::slot(place)] == place
    }

    fn silence(&mut self, place: Place) {
        self.quiet[Self::slot(place)] = place;
    }

    /// A thread is at an access there once more; whether nothing was ever in vain there, although there was time for it.
    fn gives_up(&mut self, place: Place) -> bool {
        let Some(tried) = self.places.get_mut(&place) else { return false };
        tried.visits += 1;
        tried.may &= tried.vain || tried.visits <= VISITS_MAX;
        let may = tried.may;
        if !may {
            self.silence(place);
        }
        !may
    }

    /// The thread by number, new or known.
    fn number(&mut self, asked: Asked) -> usize {
        let hash = foldhash::fast::FixedState::default().hash_one(&asked);
        let numbers = self.by_hash.entry(hash).or_default();
        if let Some(&number) = numbers.iter().find(|&&number| self.known[number].asked == asked) {
            return number;
        }
        numbers.push(self.known.len());
        self.known.push(Known { asked, answers: Vec::new() });
        self.known.len() - 1
    }

    /// Whether it would find this value in vain.
    fn answer(&mut self, lane: &Lane, look: &Look, value: u64) -> bool {
        let Some(known) = look.known.and_then(|number| self.known.get_mut(number)) else { return false };
        if let Some(&(_, vain)) = known.answers.iter().find(|(other, _)| *other == value) {
            return vain;
        }
        let asked = &known.asked;
        let vain = asked.question.fails(value, bits(asked.size)) && comes_back(lane, asked, value);
        known.answers.push((value, vain));
        let tried = self.places.entry(look.place).or_default();
        tried.tries += 1;
        tried.vain |= vain;
        if tried.tries > TRIES_MAX && !tried.vain {
            tried.may = false;
        }
        vain
    }

    fn set(&mut self, mut values: Vec<u64>, writes: bool) -> Vain {
        values.sort_unstable();
        *self.sets.entry((values, writes)).or_insert_with_key(|(values, writes)| Vain::new(values, *writes))
    }
}

/// Whether a thread that finds this value, and changes nothing, comes back to the same look as the same thread.
fn comes_back(lane: &Lane, asked: &Asked, value: u64) -> bool {
    const NOTHING: (u64, u64) = (0, 0);
    let mut start = None;
    let mut answer = value;
    if let Question::CompareStored(place, ..) = asked.question {
        let mut stored = asked.state.clone();
        let size = usize::from(asked.size);
        match stored.bytes(place, size) {
            Some(bytes) => bytes.copy_from_slice(&value.to_le_bytes()[..size]),
            None => return false,
        }
        (start, answer) = (Some(stored), 0);
    }
    // Compilers leave a load behind beside the call that announces it, which finds the same.
    let announced = (asked.cell, asked.cell + u64::from(asked.size));
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    let found: Overlay = (asked.cell, asked.size, bytes);
    let mut stop = step::advance(lane, start.as_ref().unwrap_or(&asked.state), answer, &[found], announced);
    for _ in 0..CALLS_MAX {
        let Stop::At(call, state) = &stop else { return false };
        let own = (lane.bottom..lane.top).contains(&call.arguments[0]);
        match call.function {
            Function::Yields => {}
            Function::Read(_) | Function::Write(_) if own => {}
            _ => {
                return asked.question.is_asked_by(call, state, asked.cell, asked.size)
                    && is_same(lane, call, &asked.state, state);
            }
        }
        stop = step::advance(lane, state, 0, &[], NOTHING);
    }
    false
}

/// Whether what differs between two states at the same call is never read.
fn is_same(lane: &Lane, call: &Call, one: &State, other: &State) -> bool {
    if (one.pc, one.sp, one.registers, one.stack.len()) != (other.pc, other.sp, other.registers, other.stack.len()) {
        return false;
    }
    let words = one.stack.chunks(4).zip(other.stack.chunks(4)).enumerate();
    words.filter(|(_, (one, other))| one != other).all(|(at, (then, now))| {
        // No more than what differs: a variable may be smaller than a word.
        let differs = |at: &usize| then[*at] != now[*at];
        let (first, last) = ((0..now.len()).find(differs), (0..now.len()).rfind(differs));
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        dead::is_dead(lane, call, other, other.sp + (4 * at + first) as u64, (last - first + 1) as u8)
    })
}

/// The current thread is at an access; what it needs to make it.
pub fn arrive(
    control: &mut Control,
    pc: u64,
    (sp, registers): (u64, Preserved),
    (cell, size): (u64, u32),
    question: Question,
) -> Wants {
    let current = control.run.current;
    let place = (pc, control.process.fibers[current].top.wrapping_sub(sp));
    if size > 8 || control.search.looks.is_quiet(place) {
        return Wants::Nothing;
    }
    if control.search.looks.gives_up(place) {
        return Wants::Nothing;
    }
    let mut state = State::default();
    let lane = lane(control, current);
    let looks = &mut control.search.looks;
    let captured = state.capture(pc, (sp, registers), lane.top);
    let tried = looks.places.entry(place).or_insert_with(|| {
        let may = captured && dead::may_come_back(&lane, &state);
        Tried { may, ..Tried::default() }
    });
    if !captured || !tried.may {
        looks.silence(place);
        return Wants::Nothing;
    }
    let size = size as u8;
    let known = looks.steps.then(|| looks.number(Asked { state, cell, size, question }));
    let fiber = &mut control.process.fibers[current];
    fiber.look = Some(Look { pc, cell, size, question, place, known, found: None, vain: known.is_none() });
    control.run.attempts.looking.insert(current);
    Wants::Look(cell as usize)
}

/// Whether a thread that is about to look may do so.
pub fn is_met(control: &Control, thread: usize) -> bool {
    let waits =
        control.process.fibers[thread].look.is_some_and(|look| look.vain && !arena::is_freed(look.cell as usize));
    // Who repeats a schedule knows better.
    !waits || control.search.strategy.insists(Thread(thread as u16))
}

/// Looks at the threads that are about to look; one that has to do so now, because it is a data race.
#[cold]
pub fn review(control: &mut Control) -> Option<usize> {
    let mut due = None;
    let mut rest = control.run.attempts.looking.clone();
    while let Some(thread) = rest.pop() {
        let Some(look) = control.process.fibers[thread].look else { continue };
        if look.known.is_none() || arena::is_freed(look.cell as usize) {
            continue;
        }
        // SAFETY: the thread is about to access it.
        let value = unsafe { value_at(look.cell, look.size) };
        let fresh = look.found != Some(value);
        let vain = if fresh {
            let lane = lane(control, thread);
            control.search.looks.answer(&lane, &look, value)
        } else {
            look.vain
        };
        control.process.fibers[thread].look = Some(Look { found: Some(value), vain, ..look });
        if vain && control.run.races.on && (fresh || is_touched(control, &look)) && races(control, thread, &look) {
            due = due.or(Some(thread));
        }
    }
    // Who repeats a schedule goes on with it.
    due.filter(|_| !control.search.strategy.replays())
}

/// Whether the last step touched the location.
fn is_touched(control: &Control, look: &Look) -> bool {
    let cell = Access::new(look.cell, look.size.into(), Kind::Read);
    let last = control.run.trace.len().checked_sub(1);
    last.is_some_and(|last| control.run.trace.accesses(last).iter().any(|access| access.overlaps(&cell)))
}

/// Notes the look that a thread does not take; whether it would be a data race.
fn races(control: &mut Control, thread: usize, look: &Look) -> bool {
    let touch = Touch::new(look.cell, look.size.into(), look.question.idles() != Kind::Read, true, look.pc);
    let (races, shadow) = (&control.run.races, &mut control.process.shadow);
    if races.conflicts(shadow, thread, touch) {
        return true;
    }
    races.touch(shadow, thread, touch);
    false
}

/// The current thread makes its access: it belongs to its step what it would have found in vain.
#[cold]
pub fn leave(control: &mut Control) {
    let current = control.run.current;
    control.run.attempts.looking.remove(current);
    let Some(look) = control.process.fibers[current].look.take() else { return };
    if let Some(condition) = condition(control, current, &look) {
        control.run.trace.waited(condition);
    }
}

/// On what it depends whether a thread looks, as far as a strategy wants to know that.
fn condition(control: &mut Control, thread: usize, look: &Look) -> Option<Condition> {
    if !control.search.looks.turns_races || look.known.is_none() {
        return None;
    }
    let Some(values) = values(control, thread, usize::MAX, look.cell, look.size) else {
        // What it was cannot be told where it was accessed in parts.
        control.search.looks.places.entry(look.place).or_default().may = false;
        control.run.attempts.starts_over = true;
        return None;
    };
    let lane = lane(control, thread);
    let vain: Vec<u64> = values.into_iter().filter(|&value| control.search.looks.answer(&lane, look, value)).collect();
    (!vain.is_empty()).then(|| Condition::Unless(control.search.looks.set(vain, look.question.writes())))
}

/// The run is over: what threads wait for that did not look any more.
pub fn settle(control: &mut Control) {
    let mut rest = control.run.attempts.looking.clone();
    while let Some(thread) = rest.pop() {
        let Some(look) = control.process.fibers[thread].look else { continue };
        if let (Some(condition), Some(slot)) = (condition(control, thread, &look), control.slot(thread)) {
            let access = &mut control.run.pending[slot].access;
            (access.waits, access.condition) = (true, condition);
        }
    }
}
