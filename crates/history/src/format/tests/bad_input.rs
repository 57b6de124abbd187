//! Bad input of the kinds that do not depend on the format, in every format.

use super::mutation::SEEDS;
use super::{Format, ReadError, Reason, read_text, refuses};
use crate::format::LINE_MAX;

/// A whole event of each format, on a thread of its own.
fn event(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "{\"call\":\"enq\",\"thread\":77,\"value\":1}",
        Format::JepsenLog => "INFO  jepsen.util - 77 :invoke :write 1",
        Format::Edn => "{:process 77, :type :invoke, :f :write, :value 1}",
        Format::Fastlin => "enq 77 1 2",
        Format::Limo => "[77] call enq(1)",
    }
}

#[test]
fn a_line_of_another_format() {
    for &file in Format::ALL {
        for &other in Format::ALL {
            if file == other {
                continue;
            }
            let text = format!("{}\n{}\n", event(file), event(other));
            match read_text(file, &text) {
                Err(ReadError::At { line: 2, reason: Reason::Mixed { file: began, line }, .. }) => {
                    assert_eq!((began, line), (file, other));
                }
                other => panic!("{text}: {:?}", other.map(|log| log.history)),
            }
            match read_text(file, event(other)) {
                Err(ReadError::At { line: 1, reason: Reason::OtherFormat { file: said, line }, .. }) => {
                    assert_eq!((said, line), (file, other));
                }
                other => panic!("{text}: {:?}", other.map(|log| log.history)),
            }
        }
    }
    refuses(
        Format::Limo,
        "[1] call enq(1)\n{\"call\":\"enq\",\"thread\":0}\n",
        "line 2: a line of the format jsonl in a file that began as limo; expected an event such as `[1] call enq(5)` or \
         `[1] return`",
    );
    refuses(
        Format::Jsonl,
        "[1] call enq(1)\n",
        "line 1: the file looks like limo, but is to be read as jsonl; expected an event such as \
         {\"call\":\"enq\",\"thread\":0,\"value\":5}",
    );
}

#[test]
fn binary_data() {
    for &format in Format::ALL {
        let check = |tail: &[u8], expect: Reason| {
            let mut bytes = event(format).as_bytes().to_vec();
            bytes.extend_from_slice(tail);
            match super::read(&mut bytes.as_slice(), Some(format), &crate::Budget::new()) {
                Err(ReadError::At { line: 2, column: Some(_), reason }) => assert_eq!(reason, expect, "{format}"),
                other => panic!("{format}: {:?}", other.map(|(_, log)| log.history)),
            }
        };
        check(b"\nab\0cd\n", Reason::Binary);
        check(b"\n\x80\x81\n", Reason::NotUtf8);
    }
}

#[test]
fn empty_files() {
    for &format in Format::ALL {
        refuses(format, "", "line 1: the file is empty, expected a history");
        for text in ["\n", "  \n\t\n"] {
            match read_text(format, text) {
                Err(ReadError::At { reason: Reason::Empty, .. }) => {}
                other => panic!("{format}: {:?}", other.map(|log| log.history)),
            }
        }
    }
    for text in ["# queue\n", "# @object atomic-queue\n", "; nothing\n", "{\"selvedge\":\"history\",\"version\":1}\n"] {
        match super::read(&mut text.as_bytes(), None, &crate::Budget::new()) {
            Err(ReadError::At { line: 1 | 2, reason: Reason::NoOperation(_), .. }) => {}
            other => panic!("{text}: {:?}", other.map(|(_, log)| log.history)),
        }
    }
}

#[test]
fn a_line_of_a_hundred_megabytes() {
    struct Long {
        start: &'static [u8],
        left: usize,
    }
    impl std::io::Read for Long {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if !self.start.is_empty() {
                let length = self.start.len().min(into.len());
                into[..length].copy_from_slice(&self.start[..length]);
                self.start = &self.start[length..];
                return Ok(length);
            }
            let length = self.left.min(into.len());
            into[..length].fill(b'1');
            self.left -= length;
            Ok(length)
        }
    }
    for start in
        ["{\"call\":\"enq\",\"thread\":", "{:process 0 :value ", "enq 1 2 3\nenq ", "[1] call enq(", "0 :invoke :w "]
    {
        let mut input = std::io::BufReader::new(Long { start: start.as_bytes(), left: 100 << 20 });
        match super::read(&mut input, None, &crate::Budget::new()) {
            Err(ReadError::At { reason: Reason::LineTooLong | Reason::FormTooLong, .. }) => {}
            other => panic!("{start}: {:?}", other.map(|(_, log)| log.history)),
        }
        assert!(input.get_ref().left > (100 << 20) - 4 * LINE_MAX, "stops soon after the limit");
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for (format, text) in SEEDS {
        let mut errors = 0;
        for end in 0..text.len() {
            let answer = super::read(&mut &text.as_bytes()[..end], Some(*format), &crate::Budget::new());
            errors += usize::from(answer.is_err());
        }
        assert!(errors > 0, "{format}");
    }
}
