//! Random programs in C, through the compiler, the runtime and every strategy: what comes out is what an interpreter of the same programs, written
//! from the rules of POSIX and C11 alone, says.
//!
//! Even files have short programs, which plain search exhausts; odd ones longer ones, for the reduction alone. `SELVEDGE_CAMPAIGN=N` compares N files
//! instead of two, half of them with clang if there is one; `SELVEDGE_FIRST` says which is the first.

pub mod code;
pub mod kernel;
pub mod maker;
pub mod program;
pub mod state;
pub mod text;
pub mod twin;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selvedge_needs::{Need, skip};
use selvedge_protocol::{CoverageRecord, Reuse, Search, Settings, TestReport};

use crate::build::{build_with, compilers, compilers_with_clang, scratch, session};
use program::{Library, Mode, Order, Program, Statement};
use twin::Possible;

/// So many programs are compiled at once.
const A_FILE: u64 = 40;
/// Plain search is given up after so many runs.
const RUNS_MAX: u64 = 1_500;
/// No run of these programs is longer, unless it does not end.
const STEPS_MAX: u64 = 400;
const SEED: u64 = 23;

/// What is asked of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub search: Search,
    pub retries: bool,
    pub jobs: u32,
    pub reuse: Reuse,
    pub keep_going: bool,
}

pub const PLAIN: Asked =
    Asked { search: Search::Dfs, retries: true, jobs: 1, reuse: Reuse::Quarantine, keep_going: true };

const ASKED: [Asked; 6] = [
    Asked { search: Search::Dpor, ..PLAIN },
    Asked { search: Search::Dpor, retries: false, ..PLAIN },
    Asked { search: Search::Portfolio, keep_going: false, ..PLAIN },
    PLAIN,
    Asked { search: Search::Bounded, ..PLAIN },
    Asked { keep_going: false, jobs: 2, ..PLAIN },
];

impl Asked {
    pub fn settings(self) -> Settings {
        let Asked { search, retries, jobs, reuse, keep_going } = self;
        // A bound that no schedule of these programs reaches.
        let preemptions = if search == Search::Bounded { 20 } else { Settings::default().preemptions };
        Settings {
            search,
            retries,
            jobs,
            reuse,
            keep_going,
            preemptions,
            runs_max: RUNS_MAX,
            steps_max: STEPS_MAX,
            histories: true,
            time_max: Some(60.0),
            // The interpreter knows no waits that end without a reason; crates/explore has a machine that does.
            spurious: false,
            ..Settings::default()
        }
    }
}

/// What a search saw, in the words of the twin.
struct Saw {
    outcomes: BTreeSet<Vec<u64>>,
    kinds: BTreeSet<&'static str>,
}

impl Saw {
    fn of(test: &TestReport) -> Self {
        let number = |rest: &str| rest.split(')').next()?.parse::<i64>().ok().map(|number| number as u64);
        let numbers = |text: &String| text.split("o(").skip(1).filter_map(number).collect();
        let kinds = test.findings.iter().map(|finding| match finding.kind.name() {
            "deadlock" | "lost-wakeup" | "livelock" => "stuck",
            name => name,
        });
        Saw { outcomes: test.history_texts.iter().map(numbers).collect(), kinds: kinds.collect() }
    }
}

/// What was compared, and what did not agree.
#[derive(Default, Debug)]
pub struct Tally {
    pub programs: u64,
    pub compared: BTreeMap<String, u64>,
    pub kinds: BTreeMap<&'static str, u64>,
    pub themes: BTreeMap<maker::Theme, u64>,
    pub redundant: u64,
    pub wrong: Vec<String>,
}

impl Tally {
    pub fn disagree(&mut self, number: u64, program: &Program, asked: Asked, why: &str) {
        self.wrong.push(format!("random_{number}: {why}\n  {asked:?}\n  {program:?}"));
    }
}

/// What is wrong with what a search saw, if something is.
pub fn disagreement(asked: Asked, test: &TestReport, possible: &Possible) -> Option<String> {
    let saw = Saw::of(test);
    if let Some(kind) = saw.kinds.difference(&possible.kinds).next() {
        return Some(format!("{kind} cannot be: {}", test.findings[0].cause));
    }
    if let Some(outcome) = saw.outcomes.difference(&possible.outcomes).next() {
        return Some(format!("{outcome:?} cannot be"));
    }
    if test.coverage != CoverageRecord::Exhaustive {
        let failed = !asked.keep_going && !saw.kinds.is_empty();
        let gave_up = !failed && test.coverage == CoverageRecord::Partial && test.runs < RUNS_MAX;
        return gave_up.then(|| format!("gave up after {} runs, {} unfair", test.runs, test.unfair));
    }
    if saw.kinds.is_empty() != possible.kinds.is_empty() {
        return Some(format!("{:?} not found", possible.kinds));
    }
    let worse = |kind: &&&str| !matches!(**kind, "leaked-thread" | "stuck");
    if possible.kinds.iter().any(|kind| worse(&kind)) && saw.kinds.iter().all(|kind| *kind == "leaked-thread") {
        return Some(format!("a thread that was left over hides {:?}", possible.kinds));
    }
    if asked.keep_going && possible.kinds.len() == 1 && saw.kinds != possible.kinds {
        return Some(format!("{:?} in place of {:?}", saw.kinds, possible.kinds));
    }
    // A failure ends a run: only plain search then sees every other outcome.
    let all = possible.kinds.is_empty() || asked.search == Search::Dfs && asked.keep_going;
    let missed = possible.outcomes.difference(&saw.outcomes).next()?;
    all.then(|| format!("{missed:?} not seen, of {} outcomes", possible.outcomes.len()))
}

/// A file of programs, and what each of them may do.
struct File {
    programs: Vec<(u64, Program)>,
    possible: Vec<Possible>,
    longer: bool,
    built: selvedge_driver::Program,
    directory: PathBuf,
}

impl File {
    fn new(file: u64, cc: &str, directory: &Path, tally: &mut Tally) -> Self {
        File::of(file, cc, directory, tally, maker::program)
    }

    /// A file of programs that are made so.
    fn of(
        file: u64,
        cc: &str,
        directory: &Path,
        tally: &mut Tally,
        make: fn(u64, u64, bool) -> (Program, Vec<maker::Theme>),
    ) -> Self {
        let longer = file % 2 == 1;
        let (mut programs, mut expected) = (Vec::new(), Vec::new());
        for number in file * A_FILE..(file + 1) * A_FILE {
            let (program, themes) = make(SEED, number, longer);
            tally.programs += 1;
            let Some(possible) = twin::possible(&program) else { continue };
            themes.iter().for_each(|theme| *tally.themes.entry(*theme).or_default() += 1);
            possible.kinds.iter().for_each(|kind| *tally.kinds.entry(kind).or_default() += 1);
            programs.push((number, program));
            expected.push(possible);
        }
        let source = directory.join(format!("random_{file}.c"));
        std::fs::write(&source, text::file(&programs)).expect("a file");
        let built = build_with(cc, &source, &["-w"], directory);
        File { programs, possible: expected, longer, built, directory: directory.into() }
    }

    fn tests(&self, asked: Asked) -> Vec<TestReport> {
        let tests = session(&self.built, &asked.settings(), &self.directory).report.tests;
        assert_eq!(tests.len(), self.programs.len());
        tests
    }

    fn compare_with_twin(&self, tally: &mut Tally) {
        for asked in ASKED.into_iter().take(if self.longer { 3 } else { ASKED.len() }) {
            for ((test, (number, program)), possible) in
                self.tests(asked).iter().zip(&self.programs).zip(&self.possible)
            {
                assert_eq!(test.test, format!("random_{number}"));
                if test.coverage == CoverageRecord::Exhaustive {
                    *tally.compared.entry(format!("{:?}", asked.search)).or_default() += 1;
                }
                if asked.search == Search::Dpor && possible.kinds.is_empty() {
                    tally.redundant += test.redundant;
                }
                // Of a thread that is stuck in `poll` the reduction is shown a part, and says so.
                let partly = asked.search == Search::Dpor && kernel::polls(program) && possible.kinds.contains("stuck");
                if let Some(why) =
                    disagreement(asked, test, possible).filter(|why| !(partly && why.starts_with("gave up")))
                {
                    tally.disagree(*number, program, asked, &why);
                }
            }
        }
    }

    /// What is handed out again decides what a program sees; the reduction sees it, too.
    fn compare_reuse(&self, tally: &mut Tally) {
        for reuse in [Reuse::Fifo, Reuse::Lifo, Reuse::Branch] {
            let asked = Asked { reuse, ..PLAIN };
            let (all, reduced) = (self.tests(asked), self.tests(Asked { search: Search::Dpor, ..asked }));
            for ((all, reduced), (number, program)) in all.iter().zip(&reduced).zip(&self.programs) {
                let complete = |test: &TestReport| test.coverage == CoverageRecord::Exhaustive;
                if !complete(all) || !complete(reduced) || !program.has(Statement::allocates) {
                    continue;
                }
                *tally.compared.entry(format!("{reuse:?}")).or_default() += 1;
                let (all, reduced) = (Saw::of(all), Saw::of(reduced));
                // One kind of failure may end every run in which another would have come.
                let found = match all.kinds.len() {
                    0 | 1 => all.kinds == reduced.kinds,
                    _ => !reduced.kinds.is_empty() && reduced.kinds.is_subset(&all.kinds),
                };
                let seen = match all.kinds.len() {
                    0 => all.outcomes == reduced.outcomes,
                    _ => reduced.outcomes.is_subset(&all.outcomes),
                };
                if !found || !seen {
                    let why = format!("plain search sees {:?}, the reduction {:?}", all.kinds, reduced.kinds);
                    tally.disagree(*number, program, asked, &why);
                }
            }
        }
    }
}

#[test]
fn what_the_rules_allow_and_nothing_else() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (files, first) = (number("SELVEDGE_CAMPAIGN").unwrap_or(2), number("SELVEDGE_FIRST").unwrap_or(0));
    let (directory, compilers) = (scratch("random-c"), if files > 2 { compilers_with_clang() } else { compilers() });
    let mut tally = Tally::default();
    for file in first..first + files {
        let cc = &compilers[(file / 2 % 2) as usize % compilers.len()];
        let file = File::new(file, cc, &directory, &mut tally);
        file.compare_with_twin(&mut tally);
        if !file.longer {
            file.compare_reuse(&mut tally);
        }
    }
    println!("{tally:#?}");
    assert!(tally.wrong.is_empty(), "{} disagreements, printed above", tally.wrong.len());
    let exhausted = tally.compared.get("Dpor").copied().unwrap_or_default();
    assert!(exhausted > 3 * tally.programs / 2, "{exhausted} searches of {} programs ended", tally.programs);
    assert!(tally.kinds.len() >= 4 && tally.themes.len() >= 14, "{:?} {:?}", tally.kinds, tally.themes);
}

/// The same for pipes, sockets, `eventfd`, `poll` and `epoll`.
#[test]
fn what_the_rules_allow_of_descriptors() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (files, first) = (number("SELVEDGE_CAMPAIGN").unwrap_or(2), number("SELVEDGE_FIRST").unwrap_or(0));
    let (directory, compilers) = (scratch("random-kernel"), compilers());
    let mut tally = Tally::default();
    for file in first..first + files {
        let cc = &compilers[(file / 2 % 2) as usize % compilers.len()];
        File::of(file, cc, &directory, &mut tally, maker::program_with_kernel).compare_with_twin(&mut tally);
    }
    println!("{tally:#?}");
    assert!(tally.wrong.is_empty(), "{} disagreements, printed above", tally.wrong.len());
    let exhausted = tally.compared.get("Dpor").copied().unwrap_or_default();
    assert!(exhausted > tally.programs, "{exhausted} searches of {} programs ended", tally.programs);
}

/// What the twin says of programs that are known: so many outcomes, and these kinds of failures.
fn check(threads: [Vec<Statement>; 2], outcomes: usize, kinds: &[&str]) {
    let [one, other] = threads;
    let first = vec![Statement::Create(1), Statement::Create(2), Statement::Join(1), Statement::Join(2)];
    let threads = vec![first, one, other];
    let program = Program {
        library: Library::C,
        threads,
        widths: [32; 3],
        c11: false,
        barriers: [2; 2],
        units: [0; 2],
        early: [0; 2],
    };
    let possible = twin::possible(&program).expect("few states");
    assert_eq!(possible.outcomes.len(), outcomes, "{program:?}");
    assert_eq!(possible.kinds.iter().copied().collect::<Vec<_>>(), kinds, "{program:?}");
}

#[test]
fn the_twin_knows_what_is_known() {
    use Statement::{Fence, Load, Lock, LockShared, Read, Store, Take, Unlock, UnlockBoth, Wait, Write};
    let relaxed = Order::Relaxed;
    let buffering = |mine, other| vec![Store(mine, 1, relaxed), Load(other, relaxed)];
    check([buffering(0, 1), buffering(1, 0)], 3, &[]);
    let locks = |first, second| vec![Lock(first, Mode::Wait), Lock(second, Mode::Wait), Unlock(second), Unlock(first)];
    check([locks(0, 1), locks(0, 1)], 1, &[]);
    check([locks(0, 1), locks(1, 0)], 1, &["stuck"]);
    let publish = |order| vec![Write(2, 1), Store(0, 1, order)];
    let use_it = |order| vec![Load(0, order), Statement::IfLast(1, vec![Read(2)])];
    check([publish(Order::Release), use_it(Order::Acquire)], 2, &[]);
    check([publish(relaxed), use_it(Order::Acquire)], 1, &["data-race"]);
    let twice = vec![Write(2, 1), Store(0, 2, Order::Release), Store(0, 1, relaxed)];
    check([twice, use_it(Order::Acquire)], 3, &[]);
    check([publish(Order::Release), use_it(relaxed)], 1, &["data-race"]);
    check([vec![Write(2, 1), Fence(Order::Total)], vec![Fence(Order::Total), Write(2, 2)]], 0, &["data-race"]);
    let reader = || vec![LockShared(0, Mode::Wait), Write(2, 1), UnlockBoth(0)];
    check([reader(), reader()], 0, &["data-race"]);
    check([vec![Unlock(0)], vec![Unlock(3)]], 0, &["misuse"]);
    check([vec![Take(0, Mode::Wait)], vec![Take(0, Mode::Try)]], 0, &["stuck"]);
    let wait = vec![Lock(0, Mode::Wait), Wait { condition: 0, mutex: 0, timed: false }, Unlock(0)];
    check([wait, vec![Statement::Signal(0)]], 1, &["stuck"]);
}

/// What a thread's variables hold before they are set is part of the state by which its loops are known. It was what the run before had left on the stack, so that a loop was recognised
/// at another step of the same schedule, and the program was said not to repeat itself.
#[test]
fn what_an_earlier_run_left_on_a_stack_is_not_seen() {
    const FILE: u64 = 239;
    const PROGRAM: u64 = 9575;
    let Some(clang) = compilers().into_iter().find(|cc| cc == "clang-19") else {
        return skip(Need::Clang19, "it is the code of this version that left something on the stack");
    };
    let file = File::new(FILE, &clang, &scratch("random-c-stacks"), &mut Tally::default());
    let at = file.programs.iter().position(|(number, _)| *number == PROGRAM).expect("a program");
    for search in [Search::Portfolio, Search::Dfs, Search::Dpor] {
        let asked = Asked { search, keep_going: false, ..PLAIN };
        assert_eq!(Saw::of(&file.tests(asked)[at]).kinds.into_iter().collect::<Vec<_>>(), ["misuse"], "{search:?}");
    }
}
