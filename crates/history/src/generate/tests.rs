//! What is generated, checked by brute force; its shape, its speed and its stability.

use super::*;
use crate::Verdict;
use crate::verify::simulate;
use crate::verify::tests::brute;

fn settings(object: Kind) -> Settings {
    Settings { object, operations: 10, processes: 3, seed: 1, violation: false }
}

/// Brute force over the simulators.
fn linearizable(log: &Log, object: Kind) -> bool {
    let kind = simulate::Kind::named(object.name()).expect("an object");
    brute::linearizable(log, kind, log.initial.as_ref())
}

fn text(settings: &Settings) -> String {
    let mut out = Vec::new();
    write(settings, &mut out).expect("settings for which there is a history");
    String::from_utf8(out).expect("JSON")
}

#[test]
fn every_history_is_linearizable() {
    for object in Kind::ALL {
        for seed in 0..60 {
            let settings =
                Settings { seed, operations: 1 + seed % 9, processes: 1 + seed as u32 % 4, ..settings(object) };
            let log = log(&settings).expect("a history");
            assert_eq!(log.history.len() as u64, settings.operations, "{settings:?}");
            assert_eq!(log.history.pending(), 0, "{settings:?}");
            assert!(linearizable(&log, object), "{settings:?}");
        }
    }
}

#[test]
fn every_violation_is_one() {
    for object in Kind::ALL {
        for seed in 0..60 {
            let operations = violation::length(object) + seed % 5;
            let processes = 1 + seed as u32 % 4;
            let settings = Settings { seed, operations, processes, violation: true, ..settings(object) };
            let log = log(&settings).expect("a history");
            assert_eq!(log.history.len() as u64, operations, "{settings:?}");
            assert!(!linearizable(&log, object), "{settings:?}");
        }
    }
}

/// Long histories, by the checkers.
#[test]
fn the_checkers_agree() {
    for object in Kind::ALL {
        for violation in [false, true] {
            let settings = Settings { operations: 2_000, violation, ..settings(object) };
            let log = log(&settings).expect("a history");
            let answer = crate::check::check(&log, object, None, &crate::Budget::new()).expect("calls that fit");
            assert_eq!(matches!(answer.verdict, Verdict::Fail(_)), violation, "{settings:?}: {:?}", answer.verdict);
            assert_eq!(matches!(answer.verdict, Verdict::Pass(_)), !violation, "{settings:?}");
        }
    }
}

#[test]
fn the_violation_comes_after_nine_tenths() {
    for object in Kind::ALL {
        let good = Settings { operations: 1_000, ..settings(object) };
        let (good, bad) = (text(&good), text(&Settings { violation: true, ..good }));
        assert_eq!(good.lines().count(), bad.lines().count(), "{object}");
        let same = good.lines().zip(bad.lines()).take_while(|(good, bad)| good == bad).count();
        assert!((1_780..1_850).contains(&same), "{object}: {same} of 2001 lines");
    }
}

#[test]
fn reading_gives_back_what_was_written() {
    for object in Kind::ALL {
        let settings = Settings { operations: 300, violation: true, ..settings(object) };
        let text = text(&settings);
        let (_, read) = crate::format::read(&mut text.as_bytes(), None, &crate::Budget::new()).expect("a history");
        let log = log(&settings).expect("a history");
        assert_eq!(read.history.marks(), log.history.marks(), "{object}");
        assert_eq!(read.declared, log.declared);
        assert_eq!(read.initial, log.initial);
        for (read, made) in read.history.operations().iter().zip(log.history.operations()) {
            assert_eq!(
                (&read.ret, &read.input.key, &read.input.argument),
                (&made.ret, &made.input.key, &made.input.argument)
            );
        }
        assert_eq!(read.call_line(crate::OpId(7)), log.call_line(crate::OpId(7)));
        assert_eq!(Kind::infer(&read), Ok(object));
    }
}

#[test]
fn the_history_of_a_seed_never_changes() {
    let expected = "\
{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\"}
{\"call\":\"deq\",\"thread\":1}
{\"call\":\"enq\",\"thread\":0,\"value\":1}
{\"return\":null,\"thread\":1}
{\"call\":\"enq\",\"thread\":1,\"value\":2}
{\"return\":null,\"thread\":0}
{\"return\":null,\"thread\":1}
{\"call\":\"enq\",\"thread\":0,\"value\":3}
{\"return\":null,\"thread\":0}
";
    assert_eq!(text(&Settings { operations: 4, processes: 2, ..settings(Kind::Queue) }), expected);
    let other = Settings { operations: 4, processes: 2, seed: 2, ..settings(Kind::Queue) };
    assert_ne!(text(&other), expected);
    let sums = Kind::ALL.map(|object| {
        let text = text(&Settings { operations: 2_000, violation: true, ..settings(object) });
        text.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
    });
    let pinned = [
        131723503, 3311550362, 3016641564, 4220568837, 533489384, 3893305579, 2677899204, 1101061794, 2739757875,
        4210213929, 1771402879, 3316848724, 894396632, 234952583, 3044361871,
    ];
    assert_eq!(sums, pinned);
}

#[test]
fn settings_for_which_there_is_no_history() {
    let check = |settings: Settings, message: &str| {
        assert_eq!(settings.check().expect_err("invalid").to_string(), message);
        let error = write(&settings, &mut Vec::new()).expect_err("invalid");
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::InvalidInput, message));
        assert!(log(&settings).is_err());
    };
    check(Settings { processes: 0, ..settings(Kind::Queue) }, "there must be at least one process");
    let long = Settings { operations: u64::MAX, ..settings(Kind::Queue) };
    check(long, "a history has at most 2147483647 operations");
    let short = Settings { operations: 3, violation: true, ..settings(Kind::Stack) };
    check(short, "a violation of a stack takes at least 4 operations");
    assert_eq!(text(&Settings { operations: 0, ..settings(Kind::Queue) }).lines().count(), 1);
}

/// Collections are neither always empty nor ever growing.
#[test]
fn collections_are_filled_and_drained() {
    for object in [Kind::Queue, Kind::Stack, Kind::Deque, Kind::PriorityQueue, Kind::PriorityQueueMin, Kind::Bag] {
        let settings = Settings { operations: 50_000, processes: 8, ..settings(object) };
        let log = log(&settings).expect("a history");
        let (mut size, mut largest, mut empty) = (0i64, 0, 0);
        for mark in log.history.marks().iter().filter(|mark| mark.is_return()) {
            let operation = log.history.operation(mark.op());
            match (operation.input.argument.is_nil(), operation.output().is_some_and(Value::is_nil)) {
                (false, _) => size += 1,
                (true, true) => empty += 1,
                (true, false) => size -= 1,
            }
            largest = largest.max(size);
        }
        let expected = if object == Kind::Deque { 8..30 } else { 200..1_000 };
        assert!(expected.contains(&largest) && (100..10_000).contains(&empty), "{object}: {largest} {empty}");
    }
}
