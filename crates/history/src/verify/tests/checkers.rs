//! What the checkers claim, verified; and what they answer, compared with brute force.

use super::super::simulate::Kind;
use super::attack::{Shape, random_log};
use super::*;
use crate::check;
use crate::generate::Random;

/// Checks a log and verifies the certificate; answers whether it is linearizable.
#[track_caller]
fn certified(log: &Log, name: &str) -> bool {
    let kind = crate::object::Kind::from_name(name).expect("an object");
    let answer = check::check(log, kind, None, &Budget::new()).unwrap_or_else(|unfit| panic!("{name}: {unfit}"));
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => pass(linearizations),
        Verdict::Fail(failure) => Claim::Fail { failure },
        Verdict::Unknown(limit) => panic!("{limit}"),
    };
    let linearizable = matches!(claim, Claim::Pass { .. });
    let certificate = certificate(name, log, claim);
    if let Verdict::Fail(refusal) = verify(log, &certificate, &Budget::new()) {
        panic!("{name}: {refusal}\n{:?}\n{certificate:?}", log.history.operations());
    }
    linearizable
}

#[test]
fn every_certificate_of_the_checkers_verifies() {
    for (i, (name, kind)) in Kind::ALL.into_iter().enumerate() {
        let mut random = Random::new(300 + i as u64);
        let mut failed = 0;
        for case in 0..cases(100) {
            let shape = Shape {
                operations: 7,
                pending: 25 * (case % 2),
                stuck: case % 3 == 2,
                distinct: case % 4 < 2,
                keys: 1 + u64::from(case % 5 == 4),
            };
            let log = random_log(&mut random, kind, shape);
            let linearizable = certified(&log, name);
            assert_eq!(linearizable, brute::linearizable(&log, kind, None), "{name}: {:?}", log.history.operations());
            failed += u64::from(!linearizable);
        }
        assert!(failed > 5, "{name}: {failed}");
    }
}
