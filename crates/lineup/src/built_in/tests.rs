//! Histories at random, against trying every order of a queue written for this alone.

use std::collections::VecDeque;

use selvedge_explore::Rng;

use super::*;
use crate::calls::{CallId, Declared, IGNORED};
use crate::matrix::Matrix;
use crate::observation::Observation;
use crate::recorded::{Operation, Recorded};
use crate::results::Results;

const NAMES: [&str; 4] = ["enq(1)", "enq(2)", "enq(3)", "deq()"];
const RESULTS: [&str; 4] = ["1", "2", "3", "empty"];

fn calls() -> Calls {
    Calls::new(NAMES.iter().map(|name| name.to_string()).collect()).unwrap()
}

/// A history of 2 or 3 threads whose removals answer anything, mostly what was inserted; the last operations may never return.
fn draw(rng: &mut Rng, results: &mut Results) -> (Matrix, Recorded) {
    let threads = 2 + rng.below(2) as usize;
    let mut columns: Vec<Vec<CallId>> = vec![Vec::new(); threads];
    for column in &mut columns {
        column.extend((0..1 + rng.below(3)).map(|_| CallId(rng.below(4).max(rng.below(4)) as u16)));
    }
    let mut history = Recorded { columns: vec![Vec::new(); threads + 1], ending: Ending::Full };
    let mut open = vec![false; threads];
    let mut returned = vec![0u8; threads + 1];
    let hang = rng.below(6) == 0;
    loop {
        let busy = |t: &usize| open[*t] || history.columns[t + 1].len() < columns[*t].len();
        let able: Vec<usize> = (0..threads).filter(busy).collect();
        if able.is_empty() {
            break;
        }
        let thread = able[rng.below(able.len() as u64) as usize];
        let done = &mut history.columns[thread + 1];
        if !open[thread] {
            done.push(Operation { result: None, before: returned.clone() });
            open[thread] = true;
            continue;
        }
        if hang && rng.below(4) == 0 {
            history.ending = Ending::Stuck;
            return (Matrix::new(columns), history);
        }
        let removes = columns[thread][done.len() - 1] == CallId(3);
        let result = if removes { results.intern(RESULTS[rng.below(4) as usize]) } else { Results::VOID };
        done.last_mut().expect("it is open").result = Some(result);
        (open[thread], returned[thread + 1]) = (false, returned[thread + 1] + 1);
    }
    (Matrix::new(columns), history)
}

/// Whether some order of what returned, and of some of what did not, is that of a queue.
fn explained(
    matrix: &Matrix,
    history: &Recorded,
    results: &Results,
    done: &mut Vec<usize>,
    queue: &VecDeque<u16>,
) -> bool {
    let left = |column: usize, done: &[usize]| history.columns[column].get(done[column]).cloned();
    if (0..done.len()).all(|column| left(column, done).is_none_or(|operation| operation.result.is_none())) {
        return true;
    }
    (1..done.len()).any(|column| {
        let Some(operation) = left(column, done) else { return false };
        let ready = operation.before.iter().zip(&*done).all(|(&before, &done)| usize::from(before) <= done);
        let CallId(call) = matrix.column(column).nth(done[column]).expect("it was called");
        let mut after = queue.clone();
        let fits = match (call, operation.result) {
            (3, result) => {
                let found = after.pop_front().map_or("empty".to_owned(), |value| value.to_string());
                result.is_none_or(|result| results.text(result) == found)
            }
            (value, _) => {
                after.push_back(value + 1);
                true
            }
        };
        done[column] += 1;
        let good = ready && fits && explained(matrix, history, results, done, &after);
        done[column] -= 1;
        good
    })
}

fn judge(built_in: &str, k: Option<usize>, calls: &Calls, case: (&Matrix, &Recorded, &Results)) -> (Judgement, Tally) {
    let mut criterion = Specified::new(BuiltIn::new(built_in, k, calls).unwrap());
    let (matrix, history, results) = case;
    let observation = Observation::new();
    let judgement = criterion.judge(&Case { matrix, calls, results, observation: &observation, history });
    assert_eq!(criterion.refusal.is_some(), matches!(judgement, Judgement::Refused(_)));
    (judgement, criterion.take_tally())
}

#[test]
fn what_is_refused_has_no_order() {
    let (calls, mut rng) = (calls(), Rng::for_run(1, 0));
    let (mut wrong, mut seen, mut stuck) = (0, 0, 0);
    for round in 0..700 {
        let mut results = Results::default();
        let (matrix, history) = draw(&mut rng, &mut results);
        let case = (&matrix, &history, &results);
        let right = explained(&matrix, &history, &results, &mut vec![0; history.columns.len()], &VecDeque::new());
        let (searched, _) = judge("queue", None, &calls, case);
        let (counted, tally) = judge("queue", Some(round % 5), &calls, case);
        if history.ending == Ending::Stuck {
            // No operation of a queue waits.
            assert!(matches!(searched, Judgement::Refused(Unexplained::Stuck { .. })), "{history:?}");
            assert_eq!(searched, counted);
            stuck += 1;
            continue;
        }
        assert_eq!(searched == Judgement::Allowed, right, "{matrix:?} {history:?}");
        match counted {
            Judgement::Allowed => assert_eq!(tally.counted, 1),
            Judgement::Refused(_) => assert!(!right && tally.counted == 0, "k={}: {matrix:?} {history:?}", round % 5),
            other => panic!("{other:?}"),
        }
        wrong += u64::from(!right);
        seen += u64::from(counted != Judgement::Allowed);
    }
    assert!(wrong > 150 && 2 * seen > wrong && seen < wrong && stuck > 10, "{seen} of {wrong}, {stuck} stuck");
}

/// What is too large for the search is counted, and that is said.
#[test]
fn counting_takes_the_place_of_a_search_that_is_given_up() {
    let mut results = Results::default();
    let calls = Calls::new(["write(1)", "write(2)", "read()"].map(String::from).to_vec()).unwrap();
    // Twelve writes that overlap, then two reads that cannot see different values: it takes all orders of the writes to see that.
    let mut history = |second: &str| {
        let write = Operation { result: Some(Results::VOID), before: vec![0; 13] };
        let before = |at: usize| [vec![at as u8], vec![1; 12]].concat();
        let reads = ["1", second].into_iter().enumerate();
        let reads =
            reads.map(|(at, text)| Operation { result: Some(results.intern(text)), before: before(at) }).collect();
        Recorded { columns: [vec![reads], vec![vec![write]; 12]].concat(), ending: Ending::Full }
    };
    let (changed, out_of_nowhere) = (history("2"), history("3"));
    let columns = (0..12).map(|column| vec![CallId(column % 2)]).collect();
    let matrix = Matrix { last: vec![CallId(2); 2], ..Matrix::new(columns) };
    let observation = Observation::new();
    for (history, states_max, counted) in
        [(&changed, 256, true), (&changed, u64::MAX, false), (&out_of_nowhere, 256, true)]
    {
        let mut criterion = Specified::new(BuiltIn::new("register=0", None, &calls).unwrap());
        criterion.states_max = states_max;
        let case = Case { matrix: &matrix, calls: &calls, results: &results, observation: &observation, history };
        let refused = matches!(criterion.judge(&case), Judgement::Refused(Unexplained::Full));
        let by_counting = matches!(criterion.refusal, Some(Refusal { why: RefusalWhy::Counted { k: 2, .. }, .. }));
        assert_eq!((refused && by_counting) || criterion.tally.counted == 1, counted, "{:?}", criterion.refusal);
        assert_eq!(refused, !(counted && criterion.tally.counted == 1));
    }
}

#[test]
fn what_cannot_be_asked() {
    for (text, k, expect) in [
        ("kettle", None, "there is no built-in object `kettle`: expected one of queue, stack"),
        ("stack", None, "`enq(1)`: the object has no such method"),
        ("queue=3", None, "initial value"),
        ("deque", Some(2), "there is no counting formula for a deque: expected one of queue, stack"),
    ] {
        let error = BuiltIn::new(text, k, &calls()).unwrap_err().to_string();
        assert!(error.contains(expect), "{text}: {error}");
    }
    let register = Calls::new(vec!["read()".into(), "write(1)".into()]).unwrap();
    assert_eq!(BuiltIn::new("register=0", Some(2), &register).unwrap().initial, Some(Value::Int(0)));
}

/// Results that are not compared may have been any; results that were declared came without effect.
#[test]
fn declared_and_ignored_results() {
    let op = |result, before: &[u8]| Operation { result: Some(result), before: before.to_vec() };
    let mut results = Results::default();
    let (empty, unseen) = (results.intern("empty"), results.intern(IGNORED));
    let matrix = Matrix::new(vec![vec![CallId(0), CallId(3)]]);
    let history = |removed| Recorded {
        columns: vec![vec![], vec![op(Results::VOID, &[0, 0]), op(removed, &[0, 1])]],
        ending: Ending::Full,
    };
    let mut calls = calls();
    let judged = |calls: &Calls, history: &Recorded| judge("queue", Some(2), calls, (&matrix, history, &results)).0;
    assert_eq!(judged(&calls, &history(empty)), Judgement::Refused(Unexplained::Full));
    assert_eq!(judged(&calls, &history(unseen)), Judgement::Allowed);
    calls.declared.push(Declared { call: CallId(3), result: "empty".into() });
    assert_eq!(judged(&calls, &history(empty)), Judgement::Allowed);
}

/// A result that the object cannot have is wrong input, and a panic is a violation.
#[test]
fn results_that_do_not_fit() {
    let mut results = Results::default();
    let (full, panicked) = (results.intern("Err(1)"), results.intern("panicked: oh"));
    let matrix = Matrix::new(vec![vec![CallId(0)]]);
    let history = |result| Recorded {
        columns: vec![vec![], vec![Operation { result: Some(result), before: vec![0, 0] }]],
        ending: Ending::Full,
    };
    let judged = |result| judge("queue", None, &calls(), (&matrix, &history(result), &results)).0;
    assert!(matches!(judged(full), Judgement::Wrong(why) if why.contains("`enq(1)` returned `Err(1)`")));
    assert_eq!(judged(panicked), Judgement::Refused(Unexplained::Full));
}
