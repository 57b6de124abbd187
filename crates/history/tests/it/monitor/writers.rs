//! Events of several writers that arrive in any order: writers that are silent for long, that come late, whose lines wait in buffers. What is handed out as certain may raise an alarm only where
//! trying every order finds none that is right; and where nothing came too late, what is found is what is found in the events as they happened.

use std::collections::HashMap;

use selvedge_history::Value;
use selvedge_history::monitor::{Called, Merge, Missed, Monitor, Next, Pushed, Settings};
use selvedge_history::object::Kind;

use super::histories;
use crate::notation::{Draft, Event, What};
use crate::random::Rng;
use crate::{brute, random};

const WINDOW: i64 = 25;

/// An event of an operation, and when it was.
#[derive(Clone, Debug)]
struct Line {
    time: i64,
    operation: i64,
    event: Event,
}

/// The lines of each writer, in the order in which it sends them: of its threads one after the other within the window.
fn sent(draft: &Draft, writers: usize, rng: &mut Rng) -> Vec<Vec<Line>> {
    let mut lines = vec![Vec::new(); writers];
    let mut open = HashMap::new();
    for (at, event) in (1..).zip(&draft.events) {
        let operation = match event.what {
            What::Call(_) => {
                open.insert(event.thread, at);
                at
            }
            What::End(_) => open[&event.thread],
        };
        lines[event.thread % writers].push(Line { time: 10 * at, operation, event: event.clone() });
    }
    for lines in &mut lines {
        let mut delay = |line: &Line| line.time + rng.below(WINDOW as usize) as i64;
        // A thread sends its own lines in their order.
        let mut sent: HashMap<usize, i64> = HashMap::new();
        let mut delayed: Vec<(i64, Line)> = Vec::new();
        for line in lines.drain(..) {
            let last = sent.entry(line.event.thread).or_insert(0);
            *last = delay(&line).max(*last);
            delayed.push((*last, line));
        }
        delayed.sort_by_key(|(sent, _)| *sent);
        lines.extend(delayed.into_iter().map(|(_, line)| line));
    }
    lines
}

struct Watched {
    monitor: Monitor,
    certain: usize,
    uncertain: usize,
    /// Something went out before its turn, or came after it.
    late: bool,
}

impl Watched {
    fn take(&mut self, next: Next<Line>) {
        let Line { operation, event, .. } = next.event;
        // Each operation is a thread of its own, as where operations of one thread seem to overlap.
        let thread = Value::Int(operation);
        let _ = match event.what {
            What::Call(called) => {
                let (method, object) = (&*called.method, &*called.object);
                self.monitor.call(&thread, Called { method, object, key: called.key, argument: called.argument })
            }
            What::End(outcome) => self.monitor.outcome(&thread, outcome),
        };
        let found = self.monitor.found().count();
        *if next.certain { &mut self.certain } else { &mut self.uncertain } += found;
        self.late |= !next.certain;
    }
}

/// Lets the lines arrive in random order, some writers long after others, and some only when others are gone.
fn arrive(kind: Kind, draft: &Draft, lines: &[Vec<Line>], held_max: usize, rng: &mut Rng) -> Watched {
    let settings = Settings { initial: draft.initial.clone(), ..Settings::default() };
    let monitor = Monitor::new(kind, settings).expect("the initial value fits");
    let mut watched = Watched { monitor, certain: 0, uncertain: 0, late: false };
    let mut merge = Merge::new(WINDOW, 0, held_max);
    (0..lines.len()).for_each(|writer| merge.open(writer as u64));
    let mut next = vec![0; lines.len()];
    while let Some(writer) = {
        let open: Vec<usize> = (0..lines.len()).filter(|writer| next[*writer] <= lines[*writer].len()).collect();
        (!open.is_empty()).then(|| open[rng.below(open.len())])
    } {
        let burst = [1, 3, 100][rng.below(3)];
        for _ in 0..burst {
            let Some(line) = lines[writer].get(next[writer]).cloned() else {
                next[writer] = usize::MAX;
                merge.close(writer as u64);
                break;
            };
            next[writer] += 1;
            let is_return = matches!(line.event.what, What::End(_));
            match merge.push(writer as u64, line.time, is_return, line) {
                Pushed::Held => {}
                Pushed::Longer => watched.late = true,
                Pushed::Late(event) => {
                    watched.take(Next { event, certain: false });
                    watched.monitor.start_over(Missed::Some(0));
                }
            }
        }
        while let Some(next) = merge.ready() {
            watched.take(next);
        }
    }
    assert_eq!(merge.held(), 0, "everybody is gone");
    watched
}

#[test]
fn what_is_certain_is_no_false_alarm() {
    for kind in Kind::ALL {
        let (mut right, mut wrong, mut seen, mut late) = (0, 0, 0, 0);
        for seed in 0..histories(400) {
            let mut draft = random::draft(kind, 6_000_000 + seed);
            draft.stuck = false;
            let mut rng = Rng::new(seed);
            let is_right = brute::linearizable(&draft.log(), kind);
            for held_max in [usize::MAX, 2] {
                let lines = sent(&draft, 1 + rng.below(4), &mut rng);
                let watched = arrive(kind, &draft, &lines, held_max, &mut rng);
                assert!(watched.certain == 0 || !is_right, "{kind} seed {seed}: a false alarm in\n  {draft}");
                assert!(held_max < usize::MAX || !watched.late, "{kind} seed {seed}: out of order in\n  {draft}");
                if !watched.late && watched.monitor.doubts().is_empty() {
                    assert_eq!(watched.certain == 0, is_right, "{kind} seed {seed}: missed in\n  {draft}");
                }
                late += u64::from(watched.late);
                seen += u64::from(watched.certain > 0);
            }
            *if is_right { &mut right } else { &mut wrong } += 1;
        }
        println!("{kind}: {right} right, {wrong} wrong; of two runs each {seen} reported, {late} not in order");
        assert!(seen > wrong / 2 && late > 0, "{kind}: {seen} of {wrong}, {late} late");
    }
}
