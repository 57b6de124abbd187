//! Histories by hand: numbering, what is no history, and what precedes what.

use super::*;

const A: ThreadId = ThreadId(0);
const B: ThreadId = ThreadId(1);

fn call(thread: ThreadId, input: char) -> Event<char, u8> {
    Event::Call { thread, input }
}

fn ret(thread: ThreadId, output: u8) -> Event<char, u8> {
    Event::Return { thread, output }
}

/// The positions of calls and returns, "a0-3" for input a, call at 0, return at 3.
fn shape(history: &History<char, u8>) -> String {
    let shown: Vec<String> = history
        .operations()
        .iter()
        .map(|op| match &op.ret {
            Some(ret) => format!("{}{}-{}", op.input, op.call, ret.at),
            None => format!("{}{}-", op.input, op.call),
        })
        .collect();
    shown.join(" ")
}

#[test]
fn numbers_operations_in_the_order_of_calls() {
    let events = [call(A, 'a'), call(B, 'b'), ret(B, 1), ret(A, 2), call(B, 'c')];
    let history = History::new(events, End::Truncated).unwrap();
    assert_eq!(shape(&history), "a0-3 b1-2 c4-");
    assert_eq!(history.pending(), 1);
}

#[test]
fn refuses_what_is_not_a_history() {
    let check = |events: &[Event<char, u8>], end, expect| {
        assert_eq!(History::new(events.to_vec(), end), Err(expect));
    };
    check(&[call(A, 'a'), call(A, 'b')], End::Truncated, IllFormed::CallWhileOpen(A, OpId(0)));
    check(&[ret(B, 0)], End::Complete, IllFormed::ReturnWithoutCall(B));
    check(&[call(A, 'a')], End::Complete, IllFormed::NotComplete(OpId(0)));
    check(&[call(A, 'a'), ret(A, 0)], End::Stuck, IllFormed::NothingPending);
}

#[test]
fn failed_operations_leave_no_trace_and_crashed_ones_stay_pending() {
    let mut recorder = Recorder::new();
    recorder.call(A, 'a').unwrap();
    recorder.call(B, 'b').unwrap();
    recorder.fail(A).unwrap();
    recorder.call(A, 'c').unwrap();
    recorder.crash(B).unwrap();
    recorder.call(B, 'd').unwrap();
    recorder.ret(B, 1).unwrap();
    recorder.ret(A, 1).unwrap();
    let history = recorder.finish(None).unwrap();
    assert_eq!(shape(&history), "b0- c1-4 d2-3");
    assert_eq!(history.end(), End::Truncated);
}

#[test]
fn times_that_touch_overlap_or_precede() {
    let interval = |input, start, end| Interval { input, thread: A, start, end: Some((end, 0)) };
    for scale in [1, 1_000_000] {
        let intervals = vec![interval('b', 5 * scale, 9 * scale), interval('a', scale, 5 * scale)];
        for (touching, expected) in [(Touching::Overlap, "a0-2 b1-3"), (Touching::Precede, "a0-1 b2-3")] {
            let (history, origin) = History::from_intervals(intervals.clone(), touching).unwrap();
            assert_eq!(shape(&history), expected);
            assert_eq!(origin, [1, 0]);
        }
    }
    for touching in [Touching::Overlap, Touching::Precede] {
        let backwards = History::from_intervals(vec![interval('a', 3, 2)], touching);
        assert_eq!(backwards, Err(IllFormed::EndsBeforeStart));
    }
}

/// Against the definition, pair by pair.
#[test]
fn precedence_of_times_is_what_touching_says() {
    let mut random = crate::generate::Random::new(7);
    for _ in 0..2_000 {
        let intervals: Vec<Interval<usize, i64>> = (0..5)
            .map(|input| {
                let start = random.below(6) as i64;
                let end = (start + random.below(3) as i64, 0);
                Interval { input, thread: A, start, end: Some(end) }
            })
            .collect();
        for touching in [Touching::Overlap, Touching::Precede] {
            let (history, origin) = History::from_intervals(intervals.clone(), touching).unwrap();
            for (i, first) in history.operations().iter().enumerate() {
                for (j, second) in history.operations().iter().enumerate().filter(|&(j, _)| j != i) {
                    let (x, y) = (&intervals[origin[i] as usize], &intervals[origin[j] as usize]);
                    let end = |interval: &Interval<usize, i64>| interval.end.unwrap().0;
                    let precedes = match touching {
                        Touching::Overlap => end(x) < y.start,
                        Touching::Precede => end(x) <= y.start && end(y) > x.start,
                    };
                    assert_eq!(first.end() < second.call, precedes, "{touching:?}: {x:?}, {y:?}");
                }
            }
        }
    }
}

#[test]
fn prefix_and_projection_number_afresh() {
    let events = [call(A, 'a'), call(B, 'b'), ret(B, 1), call(B, 'c'), ret(A, 2), ret(B, 3)];
    let history = History::new(events, End::Complete).unwrap();
    assert_eq!(shape(&history.prefix(4)), "a0- b1-2 c3-");
    let part = history.project(&[OpId(0), OpId(2)], End::Complete, |_, op| (op.input, op.output().copied()));
    assert_eq!(shape(&part), "a0-2 c1-3");
}
