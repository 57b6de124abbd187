//! Refinement: every visible behaviour of an implementation is one of the specification (Quasi-PAT algorithm 1).
//!
//! What is explored are pairs of an implementation state and the *set* of states that the specification may be in; following
//! single states, as the paper prints it, raises false alarms as soon as the specification is nondeterministic. Of several sets at
//! one implementation state only the smallest are followed (antichain): what a larger set forbids, a smaller one forbids too.
//! Labels of the two systems are compared by number.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::answer::{Answer, Reason, Statistics, Trouble, Verdict};
use crate::explore::{statistics, trace_of};
use crate::graph::Graph;
use crate::limits::{Reductions, Settings};
use crate::minimise::fewest_switches;
use crate::normal::{EMPTY, Normal, Offers};
use crate::reduce::Ample;
use crate::search::{End, Space, Steps, search};
use crate::store::{Map, Set};
use crate::system::{Action, Fault, Label, TransitionSystem};

/// Which behaviour is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Sequences of visible labels.
    Traces,
    /// These, and what a state that does nothing internally may refuse.
    Failures,
    /// These, and where internal steps can go on for ever; after that the specification allows everything.
    FailuresDivergences,
}

#[derive(Clone, Copy)]
enum Wrong {
    NotAllowed { set: u32 },
    Refuses { set: u32 },
    Diverges,
}

/// Pairs of an implementation state and a set of specification states.
struct Pairs<'a, A: TransitionSystem, B: TransitionSystem> {
    implementation: &'a A,
    normal: Normal<'a, B>,
    model: Model,
    antichain: bool,
    partial_order: bool,
    /// Whether somebody ever went alone.
    went_alone: AtomicBool,
    /// Packed implementation states on cycles of internal steps.
    diverging: Set<Vec<u8>>,
    offers: Mutex<Map<u32, Offers>>,
}

struct Scratch<T> {
    initial: Vec<T>,
    next: Vec<(Action, T)>,
    ample: Ample,
    moves: Map<(u32, Label), u32>,
}

impl<A: TransitionSystem, B: TransitionSystem> Pairs<'_, A, B> {
    fn offers(&self, set: u32) -> Result<Offers, Fault> {
        let mut known = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offers) = known.get(&set) {
            return Ok(offers.clone());
        }
        let offers = self.normal.offers(set)?;
        known.insert(set, offers.clone());
        Ok(offers)
    }

    /// Checks what traces do not show; false when the specification allows everything from here on.
    fn look(&self, state: &[u8], set: u32, next: &[(Action, A::State)], out: &mut Steps<Wrong>) -> Result<bool, Fault> {
        if self.model == Model::Traces {
            return Ok(true);
        }
        let offers = self.offers(set)?;
        if self.model == Model::FailuresDivergences {
            if offers.diverges {
                return Ok(false);
            }
            if self.diverging.contains(state) {
                out.wrong_node(Wrong::Diverges);
            }
        }
        let stable = next.iter().all(|(action, _)| action.label != Label::TAU);
        let offered = |label: &Label| next.iter().any(|(action, _)| action.label == *label);
        if stable && !offers.least.iter().any(|least| least.iter().all(offered)) {
            out.wrong_node(Wrong::Refuses { set });
        }
        Ok(true)
    }
}

impl<A: TransitionSystem, B: TransitionSystem> Space for Pairs<'_, A, B> {
    type Scratch = Scratch<A::State>;
    type Reason = Wrong;
    const TAGGED: bool = true;

    fn mixed(&self) -> bool {
        self.model != Model::Traces
    }

    fn scratch(&self) -> Self::Scratch {
        Scratch { initial: Vec::new(), next: Vec::new(), ample: Ample::default(), moves: Map::default() }
    }

    fn roots(&self, scratch: &mut Self::Scratch, out: &mut Steps<Wrong>) -> Result<(), Fault> {
        let set = self.normal.initial()?;
        scratch.initial.clear();
        self.implementation.initial(&mut scratch.initial)?;
        for state in &scratch.initial {
            let begin = Action { label: Label::TAU, actor: 0 };
            out.push(begin, 0, set, |bytes| self.implementation.pack(state, bytes));
        }
        Ok(())
    }

    fn expand(&self, scratch: &mut Self::Scratch, state: &[u8], set: u32, out: &mut Steps<Wrong>) -> Result<(), Fault> {
        let system = self.implementation;
        let unpacked = system.unpack(state);
        scratch.next.clear();
        system.successors(&unpacked, &mut scratch.next)?;
        if !self.look(state, set, &scratch.next, out)? {
            return Ok(());
        }
        let only = if self.partial_order { scratch.ample.of(system, &unpacked, state, &scratch.next) } else { None };
        if only.is_some() {
            self.went_alone.store(true, Ordering::Relaxed);
        }
        for (action, next) in &scratch.next {
            if only.is_some_and(|actor| actor != action.actor) {
                continue;
            }
            let after = match action.label {
                Label::TAU => set,
                label => match scratch.moves.get(&(set, label)) {
                    Some(&known) => known,
                    None => {
                        let after = self.normal.after(set, label)?;
                        scratch.moves.insert((set, label), after);
                        after
                    }
                },
            };
            let step = out.push(*action, action.actor, after, |bytes| system.pack(next, bytes));
            if after == EMPTY {
                out.wrong_step(step, Wrong::NotAllowed { set });
            }
        }
        Ok(())
    }

    fn covers(&self, small: u32, large: u32) -> bool {
        if self.antichain { self.normal.is_subset(small, large) } else { small == large }
    }

    fn bytes(&self) -> u64 {
        self.normal.bytes()
    }
}

/// Whether `implementation` refines `specification` in `model`. The counterexample is a run of the implementation.
pub fn refines<A: TransitionSystem, B: TransitionSystem>(
    implementation: &A,
    specification: &B,
    model: Model,
    settings: &Settings,
) -> Result<Answer, Trouble> {
    let watch = settings.watch();
    let mut diverging = Set::default();
    if model == Model::FailuresDivergences {
        match Graph::build(implementation, settings, watch)? {
            Ok(graph) => diverging = graph.internal_cycles(),
            Err((limit, statistics)) => {
                return Ok(Answer { verdict: Verdict::Unknown(limit), reason: None, trace: None, statistics });
            }
        }
    }
    // An internal step put off may hide that a state is not stable, so only traces are compared with fewer steps.
    let partial_order = settings.reductions.partial_order && model == Model::Traces;
    let antichain = settings.reductions.antichain;
    let normal = Normal::new(specification);
    let (went_alone, offers) = (AtomicBool::new(false), Mutex::default());
    let mut space = Pairs { implementation, normal, model, antichain, partial_order, went_alone, diverging, offers };
    let outcome = search(&space, settings, watch, None);
    let went_alone = space.went_alone.load(Ordering::Relaxed);
    let reduced = Reductions { antichain, partial_order: went_alone, ..Reductions::NONE };
    let specification_sets = space.normal.count();
    let statistics = Statistics { specification_sets, reduced, ..statistics(&outcome, watch, false) };
    let answer = |verdict| Ok(Answer { verdict, reason: None, trace: None, statistics });
    let (mut path, mut wrong) = match outcome.end {
        End::Exhausted => return answer(Verdict::Pass),
        End::Limit(limit) => return answer(Verdict::Unknown(limit)),
        End::Fault(path, fault) => return Err(Trouble::Fault { fault, trace: trace_of(implementation, path) }),
        End::Found(path, wrong) => (path, wrong),
    };
    drop(outcome.shards);
    let mut shortest = !partial_order;
    if partial_order {
        // The reduction may have gone a longer way round: look again at everything no further away.
        space.partial_order = false;
        let again = search(&space, settings, watch, Some(path.steps.len() as u32));
        if let End::Found(found, reason) = again.end {
            (path, wrong, shortest) = (found, reason, true);
        }
    }
    let mut fewest = false;
    if settings.minimise
        && shortest
        && let Some((better, reason)) = fewest_switches(&space, path.steps.len(), outcome.states, watch)
    {
        (path, wrong, fewest) = (better, reason, true);
    }
    let reason = space.reason(&path.end_state(), wrong);
    let mut trace = trace_of(implementation, path);
    (trace.shortest, trace.fewest_switches) = (shortest, fewest);
    Ok(Answer { verdict: Verdict::Fail, reason, trace: Some(trace), statistics })
}

impl<A: TransitionSystem, B: TransitionSystem> Pairs<'_, A, B> {
    /// What is wrong, in names.
    fn reason(&self, state: &[u8], wrong: Wrong) -> Option<Reason> {
        let names = |labels: &[Label]| -> Vec<String> {
            labels.iter().map(|&label| self.implementation.label_name(label)).collect()
        };
        match wrong {
            Wrong::Diverges => Some(Reason::Diverges),
            Wrong::NotAllowed { set } => {
                let offers = self.offers(set).ok()?;
                Some(Reason::NotAllowed { allowed: names(&offers.all) })
            }
            Wrong::Refuses { set } => {
                let offers = self.offers(set).ok()?;
                let mut next = Vec::new();
                self.implementation.successors(&self.implementation.unpack(state), &mut next).ok()?;
                let mut labels: Vec<Label> = next.iter().map(|(action, _)| action.label).collect();
                labels.sort_unstable();
                labels.dedup();
                let demands = offers.least.iter().map(|least| names(least)).collect();
                Some(Reason::Refuses { offers: names(&labels), demands })
            }
        }
    }
}
