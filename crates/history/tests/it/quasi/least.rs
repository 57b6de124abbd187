//! The least factor that passes, against the definition tried factor by factor.

use selvedge_history::quasi::{Causality, Order, Reading, Relaxation, Rules, least_factor};
use selvedge_history::{Budget, Verdict};

use super::certificates::{kind, log};
use super::small::{self, Relaxed, SHAPES};
use super::{brute, is_full};
use crate::random::Rng;

const MOST: u32 = 2;

/// The classes as text without factors, and with one as the definition has them.
type Classes = (&'static str, fn(u32) -> Relaxed);

const EACH: [Classes; 3] = [
    ("*", Relaxed::All),
    ("remove", |k| Relaxed::PutTake(0, k)),
    ("remove,remove:empty=0,add", |k| Relaxed::Each(k, k, 0)),
];

#[test]
fn the_least_factor_is_the_least() {
    let (histories, ops_max) = if is_full() { (1_000, 5) } else { (60, 4) };
    let mut found = [0; MOST as usize + 2];
    for (i, shape) in SHAPES.into_iter().enumerate() {
        let mut rng = Rng::new(500 + i as u64);
        for _ in 0..histories {
            let mut ops = small::random(&mut rng, ops_max, 2, 1);
            if rng.percent(50) {
                small::spoil(&mut rng, &mut ops);
            }
            let log = log(&ops);
            let reading = if rng.percent(50) { Reading::Prefix } else { Reading::Closed };
            let order = if rng.percent(50) { Order::Distance } else { Order::Strict };
            let rules = Rules { factors: Vec::new(), reading, causality: Causality::Causal, order };
            for (classes, relaxed) in EACH {
                let expected = (0..=MOST).find(|&k| brute::holds(shape, &ops, relaxed(k), &rules));
                let relaxation = Relaxation::parse(classes).expect("classes");
                let (least, answer) =
                    least_factor(&log, kind(shape), None, &relaxation, &rules, MOST, &Budget::new()).expect("a log");
                assert_eq!(least, expected, "{shape:?} {classes} {rules:?}: {ops:?}");
                assert_eq!(matches!(answer.verdict, Verdict::Pass(_)), least.is_some());
                found[least.unwrap_or(MOST + 1) as usize] += 1;
            }
        }
    }
    println!("least factors 0 to {MOST}, and none: {found:?}");
    assert!(found.iter().all(|&times| times > 0), "{found:?}");
}
