//! Data races are looked for in one run of each class: the same findings, in the same runs, as when every run is looked at.

use std::fmt::Write;
use std::path::Path;

use selvedge_driver::Program;
use selvedge_explore::Rng;
use selvedge_protocol::{Search, Settings, TestReport};

use crate::build::{build, programs, scratch, session, test_of_threads};

/// Makes programs with and without data races, and uses of freed memory.
struct Maker {
    rng: Rng,
}

impl Maker {
    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.rng.below(all.len() as u64) as usize]
    }

    fn statement(&mut self) -> String {
        let (cell, plain) = (self.of(&["x", "y"]), self.of(&["a", "b"]));
        let load = self.of(&["relaxed", "acquire", "seq_cst"]);
        let store = self.of(&["relaxed", "release", "seq_cst"]);
        match self.rng.below(13) {
            0 => format!("{plain} = 1;"),
            1 => format!("r += {plain};"),
            2 => format!("r += atomic_load_explicit(&{cell}, memory_order_{load});"),
            3 => format!("atomic_store_explicit(&{cell}, 1, memory_order_{store});"),
            4 => format!("{plain}++; atomic_store_explicit(&{cell}, 1, memory_order_{store});"),
            5 => format!("if (atomic_load_explicit(&{cell}, memory_order_{load})) {plain}++;"),
            6 => format!("atomic_fetch_add_explicit(&{cell}, 1, memory_order_{store});"),
            7 => format!("pthread_mutex_lock(&m); {plain}++; pthread_mutex_unlock(&m);"),
            8 => "q = malloc(16); *q = 1; q = atomic_exchange(&p, q); free(q);".into(),
            9 => "q = atomic_load(&p); if (q) r += *q;".into(),
            10 => "q = atomic_exchange(&p, NULL); if (q) { r += *q; free(q); }".into(),
            11 => "free(malloc(16));".into(),
            _ => format!("atomic_thread_fence(memory_order_{});", self.of(&["acquire", "release", "seq_cst"])),
        }
    }

    fn test(&mut self, number: u64, text: &mut String) {
        let threads = 2 + self.rng.below(2);
        for thread in 0..threads {
            let _ = writeln!(text, "static void *work_{number}_{thread}(void *none) {{\nlong r = 0; long *q = NULL;");
            for _ in 0..2 + self.rng.below(3) {
                let _ = writeln!(text, "{}", self.statement());
            }
            let _ = writeln!(text, "(void)q;\nout[{thread}] = r;\nreturn none;\n}}");
        }
        text.push_str(&test_of_threads(number, threads as usize));
    }
}

fn random_file(number: u64) -> String {
    let mut text = "#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
        static atomic_long x, y;\nstatic long a, b, out[3];\nstatic long *_Atomic p;\n\
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
        .to_string();
    for test in 0..40 {
        Maker { rng: Rng::for_run(number, test) }.test(test, &mut text);
    }
    text
}

/// What both searches saw: how many runs, how many were not looked at, how many findings.
#[derive(Default)]
struct Seen {
    runs: u64,
    spared: u64,
    findings: usize,
}

/// Searches with and without looking at every run, and compares all that is reported.
fn compare(program: &Program, name: &Path, directory: &Path, runs_max: u64, seen: &mut Seen) {
    for search in [Search::Random, Search::Dfs, Search::Bounded, Search::Pct] {
        let settings = Settings { search, runs_max, time_max: Some(60.0), ..Settings::default() };
        let every = Settings { races_in_every_run: true, ..settings.clone() };
        let tests = |settings: &Settings| session(program, settings, directory).report.tests;
        for (mine, theirs) in tests(&settings).into_iter().zip(tests(&every)) {
            assert_eq!(theirs.spared, 0);
            seen.runs += mine.runs;
            seen.spared += mine.spared;
            seen.findings += mine.findings.len();
            let same = |mut report: TestReport| {
                (report.cpu_seconds, report.spared) = (0.0, 0);
                report.findings.iter_mut().for_each(|finding| finding.settings = Settings::default());
                report
            };
            assert_eq!(same(mine), same(theirs), "{} by {search:?}", name.display());
        }
    }
}

#[test]
fn the_same_findings_in_random_programs() {
    let files = std::env::var("SELVEDGE_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(1u64);
    let directory = scratch("random-races");
    let mut seen = Seen::default();
    for file in 0..files {
        let source = directory.join(format!("random_{file}.c"));
        std::fs::write(&source, random_file(file)).expect("a file");
        compare(&build(&source, &[], &directory), &source, &directory, 600, &mut seen);
    }
    let Seen { runs, spared, findings } = seen;
    println!("{runs} runs, {spared} spared, {findings} findings");
    assert!(spared * 2 > runs && findings as u64 > 30 * files, "{runs} {spared} {findings}");
}

#[test]
fn the_same_findings_on_the_corpus() {
    let mut seen = Seen::default();
    for (source, verdict) in programs() {
        if ["data-race", "use-after-free"].contains(&verdict.as_str()) {
            let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
            let directory = scratch(&format!("classes-{verdict}-{name}"));
            compare(&build(&source, &[], &directory), &source, &directory, 300, &mut seen);
        }
    }
    let Seen { runs, spared, findings } = seen;
    println!("{runs} runs, {spared} spared, {findings} findings");
    assert!(spared > 0 && findings > 0, "{runs} {spared} {findings}");
}
