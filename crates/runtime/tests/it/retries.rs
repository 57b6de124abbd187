//! Loops that only try again: leaving their failed attempts out loses no history.
//!
//! `SELVEDGE_CAMPAIGN=n` compares n files of random loops instead of one, at several levels of optimisation.

use std::fmt::Write;
use std::path::Path;

use selvedge_explore::Rng;
use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build, root, scratch, session, settings, test_of_threads};

/// Compares the histories of every test in a file; how many were small enough, and how many runs ended waiting.
fn compare(source: &Path, flags: &[&str], directory: &Path, runs_max: u64) -> (u64, u64) {
    let program = build(source, flags, directory);
    let see = |search, retries| -> Vec<TestReport> {
        let runs_max = if search == Search::Dfs { runs_max } else { u64::MAX };
        let settings = Settings { histories: true, retries, runs_max, ..settings(search) };
        session(&program, &settings, directory).report.tests
    };
    let (all, reduced, fewer) = (see(Search::Dfs, true), see(Search::Dpor, false), see(Search::Dpor, true));
    let (mut compared, mut blocked) = (0, 0);
    for ((all, reduced), fewer) in all.iter().zip(&reduced).zip(&fewer) {
        let name = format!("{} of {} with {flags:?}", all.test, source.display());
        assert_eq!(fewer.findings, [], "{name}");
        assert_eq!(fewer.coverage, CoverageRecord::Exhaustive, "{name}");
        assert_eq!(reduced.history_texts, fewer.history_texts, "{name}");
        if all.coverage == CoverageRecord::Exhaustive {
            assert_eq!(all.history_texts, fewer.history_texts, "{name}");
            compared += 1;
        }
        blocked += fewer.blocked;
    }
    (compared, blocked)
}

#[test]
fn no_history_is_lost() {
    let directory = scratch("retries");
    let source = root().join("crates/runtime/tests/programs/retries.c");
    let (compared, blocked) = compare(&source, &[], &directory, 100_000);
    assert_eq!(compared, 10);
    assert!(blocked >= 20, "{blocked}");
}

struct Maker {
    rng: Rng,
}

impl Maker {
    fn one_in(&mut self, count: u64) -> bool {
        self.rng.below(count) == 0
    }

    fn cell(&mut self) -> &'static str {
        ["a", "b"][self.rng.below(2) as usize]
    }

    /// What is done after a failure, before the next attempt.
    fn aftermath(&mut self) -> &'static str {
        match self.rng.below(12) {
            0 => "tries++;",
            1 => "last = s;",
            2 => "last = e;",
            3 => "atomic_store(&c, 1);",
            4 => "turn ^= 1;",
            _ => "",
        }
    }

    fn answer(&mut self) -> String {
        let mut parts = vec!["0"];
        for part in ["s", "10 * t", "100 * tries", "1000 * last", "10000 * turn", "100000 * e"] {
            if self.one_in(2) {
                parts.push(part);
            }
        }
        parts.join(" + ")
    }

    /// An operation that tries until it succeeds.
    fn attempts(&mut self, text: &mut String) {
        let (one, two) = (self.cell(), self.cell());
        let mut body = format!("s = atomic_load(&{one});\n");
        if self.one_in(2) {
            let _ = writeln!(body, "t = atomic_load(&{two});");
        }
        if self.one_in(3) {
            let (value, answer) = (self.rng.below(4), self.answer());
            let _ = writeln!(body, "if (s == {value}) {{ r = {answer}; break; }}");
        }
        if self.one_in(3) {
            let aftermath = self.aftermath();
            let _ = writeln!(body, "if (s != atomic_load(&{one})) {{ {aftermath} continue; }}");
        }
        let cell = if self.one_in(4) { two } else { one };
        let change = ["s + 1", "s + t + 1", "s + 2", "t + 1", "3"][self.rng.below(5) as usize];
        let expected = if self.one_in(3) { "s" } else { "e" };
        let (answer, aftermath) = (self.answer(), self.aftermath());
        if !self.one_in(5) {
            let before = if cell == one { "s" } else { "t" };
            let _ = writeln!(
                body,
                "e = {before};\nif (atomic_compare_exchange_strong(&{cell}, &{expected}, {change})) {{ r = {answer}; break; }}\n{aftermath}"
            );
        } else {
            let _ = writeln!(body, "r = {answer}; break;");
        }
        let _ = writeln!(text, "for (int i = 0; i < 40; i++) {{\n{body}}}");
    }

    fn operation(&mut self, text: &mut String) {
        text.push_str("selvedge_call(\"f\", 0);\nr = -1;\n");
        match self.rng.below(6) {
            0 => {
                let _ = writeln!(text, "r = atomic_fetch_add(&{}, 1);", self.cell());
            }
            1 => {
                let _ = writeln!(text, "atomic_store(&{}, {});", self.cell(), self.rng.below(3));
            }
            2 => {
                let (cell, change) = (self.cell(), 1 + self.rng.below(2));
                let _ = writeln!(
                    text,
                    "s = atomic_load(&{cell});\nwhile (!atomic_compare_exchange_weak(&{cell}, &s, s + {change})) {{ {} }}\nr = s + 100 * tries;",
                    if self.one_in(3) { "tries++;" } else { "" }
                );
            }
            _ => self.attempts(text),
        }
        text.push_str("selvedge_return(r);\n");
    }

    fn test(&mut self, number: u64, text: &mut String) {
        let threads = 2 + usize::from(self.one_in(4));
        for thread in 0..threads {
            let _ = writeln!(
                text,
                "static void *work_{number}_{thread}(void *none) {{\nlong s = 0, t = 0, e = 0, r, tries = 0, last = 0, turn = 0;"
            );
            self.operation(text);
            if threads == 2 && self.one_in(2) {
                self.operation(text);
            }
            text.push_str("(void)s; (void)t; (void)e; (void)tries; (void)last; (void)turn;\nreturn none;\n}\n");
        }
        text.push_str(&test_of_threads(number, threads));
    }
}

fn random_file(number: u64) -> String {
    let mut text = "#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n#include <stddef.h>\n\
        static atomic_long a, b, c;\n"
        .to_string();
    for test in 0..25 {
        Maker { rng: Rng::for_run(number, test) }.test(test, &mut text);
    }
    text
}

#[test]
fn random_loops() {
    let files = std::env::var("SELVEDGE_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(1u64);
    let levels = [&[][..], &["-O2"], &["-O0"], &["-O3", "-fomit-frame-pointer"]];
    let directory = scratch("random-loops");
    let (mut compared, mut blocked) = (0, 0);
    for file in 0..files {
        let source = directory.join(format!("random_{file}.c"));
        std::fs::write(&source, random_file(file)).expect("a file");
        let (more, waiting) = compare(&source, levels[file as usize % levels.len()], &directory, 20_000);
        (compared, blocked) = (compared + more, blocked + waiting);
    }
    println!("{compared} tests compared, {blocked} runs ended waiting");
    assert!(compared >= 10 * files && blocked > files, "{compared} {blocked}");
}
