//! Rounds of loops: what is done again and again is shown once, with how often it came again.
//!
//! Invariant: only rows that read the same are folded, and none that is a call or a return of an operation, which the page shows apart.

use super::Row;

/// The longest round that is looked for.
const ROUND_MAX: usize = 12;
/// So many rounds are folded; two may as well be read.
const ROUNDS_MIN: usize = 3;

/// The same rows, with one for all rounds but the first.
pub fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded = Vec::with_capacity(rows.len());
    let mut at = 0;
    while at < rows.len() {
        let found = (1..=ROUND_MAX).map(|length| (length, rounds(&rows[at..], length)));
        let found = found.filter(|&(length, rounds)| length > 1 && rounds >= ROUNDS_MIN);
        // Of rounds that are rounds of rounds the shortest.
        match found.reduce(|best, next| if next.0 * next.1 > best.0 * best.1 { next } else { best }) {
            Some((length, rounds)) => {
                let end = at + length * rounds;
                folded.extend_from_slice(&rows[at..at + length]);
                folded.push(again(&rows[at + length..end], rounds - 1));
                at = end;
            }
            None => {
                folded.push(rows[at].clone());
                at += 1;
            }
        }
    }
    folded
}

/// How often the first rows come one after the other.
fn rounds(rows: &[Row], length: usize) -> usize {
    let Some(first) = rows.get(..length).filter(|first| first.iter().all(|row| row.operated.is_none())) else {
        return 0;
    };
    let same =
        |round: &&[Row]| round.iter().zip(first).all(|(one, other)| one.is_like(other) && one.times == other.times);
    rows.chunks_exact(length).take_while(same).count()
}

/// The row for all of these.
fn again(rows: &[Row], rounds: usize) -> Row {
    let last = &rows[rows.len() - 1];
    let text = format!("({rounds} more rounds of the same)");
    let steps = rows.iter().map(|row| row.steps).sum();
    let stands_for = rows.iter().map(|row| row.stands_for).sum();
    Row { place: String::new(), text, times: 1, steps, stands_for, source: None, ..last.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::Site;
    use super::*;

    fn row(thread: u16, text: &str) -> Row {
        Row::new(&Site { line: "a.c:1".into(), ..Site::default() }, thread, text.into())
    }

    fn texts(rows: &str) -> Vec<String> {
        let rows: Vec<Row> = rows.split(' ').map(|text| row(text.len() as u16, text)).collect();
        let count: usize = rows.len();
        let folded = fold(rows);
        assert_eq!(folded.iter().map(|row| row.stands_for).sum::<usize>(), count);
        folded.into_iter().map(|row| row.text).collect()
    }

    #[test]
    fn rounds_are_shown_once() {
        assert_eq!(texts("a bb a bb a bb a bb end"), ["a", "bb", "(3 more rounds of the same)", "end"]);
        assert_eq!(texts("x a b c a b c a b c a"), ["x", "a", "b", "c", "(2 more rounds of the same)", "a"]);
    }

    #[test]
    fn what_is_no_round_stays() {
        for rows in ["a b a b", "a b c d e f", "a", "a b a c a d a e"] {
            assert_eq!(texts(rows), rows.split(' ').collect::<Vec<_>>());
        }
    }

    #[test]
    fn operations_stay() {
        let call = |name: &str| {
            let kind = selvedge_protocol::StepKind::Call { operation: Some(name.into()) };
            Row { operated: Some(kind), ..row(1, name) }
        };
        let rows: Vec<Row> = (0..5).flat_map(|_| [call("push"), call("pop")]).collect();
        assert_eq!(fold(rows.clone()), rows);
    }
}
