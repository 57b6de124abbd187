//! The bytes of a file, handed out line by line or as a growing window, from one buffer.
//!
//! Invariant: `buffer[start..end]` is what was read and not yet handed out, `line` is the number of the line that
//! `start` stands in, and `column` counts the characters of its line that stood before the buffer. The buffer holds at most [`LINE_MAX`] bytes and one chunk.

use std::io::{BufRead, ErrorKind};

use super::{ReadError, Reason};
use crate::Budget;

/// The longest line (in EDN: the longest operation) that is read; a longer one is an error.
pub const LINE_MAX: usize = 16 << 20;

/// How much is read at a time, and so how often the budget is asked.
const CHUNK: usize = 128 << 10;

/// How much of a file decides about its format.
const BEGINNING: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub(super) struct Source<'a> {
    input: &'a mut dyn BufRead,
    budget: &'a Budget,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    line: u32,
    column: u32,
}

/// One line of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub number: u32,
    /// Without the line break.
    pub text: &'a str,
    /// Whether a line break follows; only the last line may lack it.
    pub terminated: bool,
}

impl<'a> Source<'a> {
    /// Reads the beginning.
    pub fn new(input: &'a mut dyn BufRead, budget: &'a Budget) -> Result<Self, ReadError> {
        let mut source =
            Source { input, budget, buffer: Vec::new(), start: 0, end: 0, ended: false, line: 1, column: 0 };
        source.fill()?;
        if source.window().starts_with(BYTE_ORDER_MARK) {
            // It is no character of the first line.
            source.buffer.drain(..BYTE_ORDER_MARK.len());
            source.end -= BYTE_ORDER_MARK.len();
        }
        Ok(source)
    }

    /// What decides about the format.
    pub fn beginning(&self) -> &[u8] {
        let window = self.window();
        &window[..window.len().min(BEGINNING)]
    }

    /// What was read and not handed out.
    pub fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether nothing follows the window.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The number of the line that the window begins in.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Hands out the first `length` bytes of the window.
    pub fn advance(&mut self, length: usize) {
        let lines = memchr::memchr_iter(b'\n', &self.window()[..length]).count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.start += length;
    }

    /// The line and column of an offset into the window.
    pub fn position(&self, at: usize) -> (u32, u32) {
        let lines = memchr::memchr_iter(b'\n', &self.window()[..at]).count();
        let line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        let before = &self.buffer[..self.start + at];
        let column = match memchr::memrchr(b'\n', before) {
            Some(last) => column(&before[last + 1..], before.len()),
            None => self.column.saturating_add(column(before, before.len())),
        };
        (line, column)
    }

    /// Lets the window grow to at least twice its length, unless the file ends.
    pub fn fill(&mut self) -> Result<(), ReadError> {
        self.column = self.position(0).1 - 1;
        let length = self.window().len();
        let target = length + length.clamp(CHUNK, LINE_MAX);
        if self.buffer.len() < target {
            // Zeroed memory comes from the system for nothing; zeroing it by hand does not.
            let mut larger = vec![0; target];
            larger[..length].copy_from_slice(self.window());
            self.buffer = larger;
        } else {
            self.buffer.copy_within(self.start..self.end, 0);
        }
        (self.start, self.end) = (0, length);
        while self.end < target && !self.ended {
            self.budget.check().map_err(ReadError::Limit)?;
            match self.input.read(&mut self.buffer[self.end..target]) {
                Ok(0) => self.ended = true,
                Ok(length) => self.end += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
        Ok(())
    }

    /// The next line, unless the file ended.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let length = loop {
            match memchr::memchr(b'\n', self.window()) {
                Some(length) => break Some(length),
                None if self.ended => break None,
                None if self.window().len() > LINE_MAX => break Some(self.window().len()),
                None => self.fill()?,
            }
        };
        let number = self.line;
        let (from, terminated) = (self.start, length.is_some());
        let to = length.map_or(self.end, |length| from + length);
        if to - from > LINE_MAX {
            return Err(ReadError::new(number, None, Reason::LineTooLong));
        }
        if from == to && !terminated {
            return Ok(None);
        }
        self.start = to + usize::from(terminated);
        self.line = self.line.saturating_add(u32::from(terminated));
        let bytes = &self.buffer[from..to];
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = text(bytes).map_err(|(at, reason)| ReadError::new(number, Some(column(bytes, at)), reason))?;
        Ok(Some(Line { number, text, terminated }))
    }
}

/// The bytes as a text, or where and why they are none.
pub(super) fn text(bytes: &[u8]) -> Result<&str, (usize, Reason)> {
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err((at, Reason::Binary));
    }
    std::str::from_utf8(bytes).map_err(|error| (error.valid_up_to(), Reason::NotUtf8))
}

/// The column, in characters from 1, of the byte at an offset into a line.
pub(super) fn column(line: &[u8], at: usize) -> u32 {
    let before = &line[..at.min(line.len())];
    let characters = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    u32::try_from(characters).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The lines, "1:text" each, the unterminated one with a tilde.
    fn lines(bytes: &[u8], step: usize) -> Vec<String> {
        let budget = Budget::new();
        let mut input = BufReader::with_capacity(step, bytes);
        let mut source = Source::new(&mut input, &budget).unwrap();
        let mut lines = Vec::new();
        loop {
            match source.next_line() {
                Ok(Some(line)) => {
                    let tilde = if line.terminated { "" } else { "~" };
                    lines.push(format!("{}:{}{tilde}", line.number, line.text));
                }
                Ok(None) => return lines,
                Err(error) => {
                    lines.push(error.to_string());
                    return lines;
                }
            }
        }
    }

    #[test]
    fn hands_out_lines_whatever_the_size_of_reads() {
        for step in [1, 2, 3, 7, 100] {
            assert_eq!(lines(b"a\n\nb\r\nc", step), ["1:a", "2:", "3:b", "4:c~"]);
            assert_eq!(lines(b"\xEF\xBB\xBFa\n", step), ["1:a"]);
            assert_eq!(lines(b"", step), [""; 0]);
        }
    }

    #[test]
    fn refuses_what_is_not_text() {
        assert_eq!(lines(b"a\nb\0c\n", 9), ["1:a", "line 2, column 2: a NUL byte: the file is binary, expected text"]);
        let expect = "line 1, column 2: bytes that are not UTF-8, expected UTF-8 text";
        assert_eq!(
            lines("é\u{0}".as_bytes()[..1].iter().chain(b"x").copied().collect::<Vec<_>>().as_slice(), 9),
            [expect.replace("column 2", "column 1")]
        );
        assert_eq!(lines(b"\xC3\xA9\xC3(\n", 9), [expect]);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let mut bytes = vec![b'x'; LINE_MAX];
        bytes.extend(b"\nb\n");
        assert_eq!(lines(&bytes, 1 << 16).len(), 2);
        bytes.insert(0, b'x');
        assert_eq!(lines(&bytes, 1 << 16), ["line 1: a line longer than 16 MiB, expected one event a line"]);
    }

    #[test]
    fn a_huge_line_is_refused_in_little_memory() {
        struct Endless(usize);
        impl std::io::Read for Endless {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                into.fill(b'{');
                self.0 += into.len();
                assert!(self.0 < 4 * LINE_MAX, "read far past the limit");
                Ok(into.len())
            }
        }
        let budget = Budget::new();
        let mut input = BufReader::new(Endless(0));
        let mut source = Source::new(&mut input, &budget).unwrap();
        assert!(matches!(source.next_line(), Err(ReadError::At { line: 1, reason: Reason::LineTooLong, .. })));
        assert!(source.buffer.len() <= 3 * LINE_MAX);
    }

    #[test]
    fn a_spent_budget_ends_reading() {
        let budget = Budget::new();
        budget.spend(crate::Limit::Time);
        let mut input: &[u8] = b"a\n";
        assert!(matches!(Source::new(&mut input, &budget), Err(ReadError::Limit(crate::Limit::Time))));
    }
}
