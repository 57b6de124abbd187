//! Schedules as text: `0*5 1 p1 0` is five steps of thread 0, one of thread 1 that picks result 1, one of thread 0.

use std::fmt;

use selvedge_explore::{Choice, Thread};

/// Why a text is not a schedule.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// This word is neither a thread, `thread*times`, nor `p` and a number.
    Word(String),
    /// More steps than any run has.
    TooLong,
}

/// A schedule read from a file may not ask for more.
const STEPS_MAX: usize = 1 << 26;

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::Word(word) => {
                write!(
                    f,
                    "expected a thread number, `thread*times` or `p` and a number in the schedule, found `{word}`"
                )
            }
            ScheduleError::TooLong => write!(f, "expected a schedule of at most {STEPS_MAX} steps"),
        }
    }
}

impl std::error::Error for ScheduleError {}

/// Writes a schedule.
pub fn schedule_to_text(schedule: &[Choice]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < schedule.len() {
        let same = schedule[at..].iter().take_while(|&&choice| choice == schedule[at]).count();
        if !text.is_empty() {
            text.push(' ');
        }
        match schedule[at] {
            Choice::Run(thread) if same > 1 => {
                text.push_str(&format!("{}*{same}", thread.0));
                at += same;
            }
            Choice::Run(thread) => {
                text.push_str(&thread.0.to_string());
                at += 1;
            }
            Choice::Pick(chosen) => {
                text.push_str(&format!("p{chosen}"));
                at += 1;
            }
        }
    }
    text
}

/// Reads a schedule.
pub fn schedule_from_text(text: &str) -> Result<Vec<Choice>, ScheduleError> {
    let mut schedule = Vec::new();
    for word in text.split_whitespace() {
        let wrong = || ScheduleError::Word(word.chars().take(40).collect());
        if let Some(chosen) = word.strip_prefix('p') {
            schedule.push(Choice::Pick(chosen.parse().map_err(|_| wrong())?));
            continue;
        }
        let (thread, times) = word.split_once('*').unwrap_or((word, "1"));
        let thread: u16 = thread.parse().map_err(|_| wrong())?;
        let times: usize = times.parse().map_err(|_| wrong())?;
        if usize::from(thread) >= Thread::MAX {
            return Err(wrong());
        }
        if times > STEPS_MAX - schedule.len().min(STEPS_MAX) {
            return Err(ScheduleError::TooLong);
        }
        schedule.extend(std::iter::repeat_n(Choice::Run(Thread(thread)), times));
    }
    Ok(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let schedule = schedule_from_text("0*5 1 p1 0 p2 p2 3*2").unwrap();
        assert_eq!(schedule.len(), 12);
        assert_eq!(schedule_to_text(&schedule), "0*5 1 p1 0 p2 p2 3*2");
        assert_eq!(schedule_from_text(""), Ok(vec![]));
    }

    #[test]
    fn wrong_words() {
        for wrong in ["x", "512", "1*", "*2", "p", "p-1", "1*x", "70000", "é*2"] {
            assert_eq!(schedule_from_text(wrong), Err(ScheduleError::Word(wrong.into())), "{wrong}");
        }
        assert_eq!(schedule_from_text("0*99999999999"), Err(ScheduleError::TooLong));
        assert_eq!(schedule_from_text("0*67108864 0*2"), Err(ScheduleError::TooLong));
    }
}
