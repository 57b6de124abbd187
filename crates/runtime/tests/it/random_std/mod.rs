//! Random programs in C++ and in Rust, with what their standard libraries have, against the interpreter that knows those in C.
//!
//! `SELVEDGE_CAMPAIGN=N` compares N files instead of one; `SELVEDGE_FIRST` says which is the first.

mod adapt;
mod cpp;
mod rust;

use std::path::{Path, PathBuf};

use selvedge_needs::{Need, has, has_cpp};
use selvedge_protocol::{CoverageRecord, Search, TestReport};

use crate::build::{build_with, campaign, compilers, compilers_with_clang, root, scratch, session};
use crate::random_c::program::{Library, Program};
use crate::random_c::twin::{Possible, possible};
use crate::random_c::{Asked, PLAIN, Tally, disagreement, maker};
use crate::rust::{cargo_test, is_possible, read_reports};

/// So many programs are compiled at once in a campaign, and in every test.
const A_FILE: u64 = 40;
const A_FEW: u64 = 16;
const SEED: u64 = 29;

const ASKED: [Asked; 5] = [
    Asked { search: Search::Dpor, ..PLAIN },
    Asked { search: Search::Portfolio, keep_going: false, ..PLAIN },
    PLAIN,
    Asked { search: Search::Random, ..PLAIN },
    Asked { search: Search::Pct, ..PLAIN },
];

/// Programs that can be said in that language, with their numbers and what each may do.
struct Programs {
    all: Vec<(u64, Program)>,
    possible: Vec<Possible>,
}

/// Whether a file is compiled as for use: every second four are.
fn optimised(file: u64) -> bool {
    file % 8 >= 4
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

impl Programs {
    fn of(file: u64, library: Library, tally: &mut Tally) -> Self {
        let mut programs = Programs { all: Vec::new(), possible: Vec::new() };
        let wanted = if campaign() { A_FILE } else { A_FEW };
        for number in 2 * file * A_FILE..2 * (file + 1) * A_FILE {
            if programs.all.len() as u64 == wanted {
                break;
            }
            let (program, themes) = maker::program(SEED, number, file % 2 == 1);
            // What the compiler takes out is not seen: a plain read of what the thread has just read or written.
            if optimised(file) && themes.contains(&maker::Theme::Plain) {
                continue;
            }
            let Some(program) = adapt::adapt(&program, &themes, library) else { continue };
            let Some(possible) = possible(&program) else { continue };
            themes.iter().for_each(|theme| *tally.themes.entry(*theme).or_default() += 1);
            possible.kinds.iter().for_each(|kind| *tally.kinds.entry(kind).or_default() += 1);
            tally.programs += 1;
            programs.all.push((number, program));
            programs.possible.push(possible);
        }
        programs
    }

    fn compare(&self, asked: Asked, tests: &[TestReport], tally: &mut Tally) {
        assert_eq!(tests.len(), self.all.len());
        for ((test, (number, program)), possible) in tests.iter().zip(&self.all).zip(&self.possible) {
            assert_eq!(test.test, format!("random_{number}"));
            if test.coverage == CoverageRecord::Exhaustive {
                *tally.compared.entry(format!("{:?}", asked.search)).or_default() += 1;
            }
            if let Some(why) = disagreement(asked, test, possible) {
                tally.disagree(*number, program, asked, &why);
            }
        }
    }
}

fn compare_cpp(file: u64, cc: &str, directory: &Path, tally: &mut Tally) {
    let programs = Programs::of(file, Library::Cpp, tally);
    let source = directory.join(format!("random_{file}.cc"));
    std::fs::write(&source, cpp::file(&programs.all)).expect("a file");
    let flags = if optimised(file) { &["-std=c++20", "-w", "-O2"][..] } else { &["-std=c++20", "-w"] };
    let built = build_with(cc, &source, flags, directory);
    for asked in ASKED {
        let tests = session(&built, &asked.settings(), directory).report.tests;
        programs.compare(asked, &tests, tally);
    }
}

/// The tests of a project with one file, as they are in it.
fn run_rust(project: &Path, asked: Asked, release: bool) -> Vec<TestReport> {
    let directory = scratch("rust-rust");
    let flags: &[&str] = if release { &["--release"] } else { &[] };
    let (reports, printed) = cargo_test(project, "random", &directory, &asked.settings(), flags, &[]);
    let told = read_reports(&reports);
    let read = |(name, line): (String, usize)| {
        let place = format!("tests/random.rs:{line}");
        let test = told.iter().flat_map(|report| &report.tests).find(|test| test.test == place);
        let test = test.unwrap_or_else(|| panic!("{name} has no report\n{printed}"));
        TestReport { test: name, ..test.clone() }
    };
    let all =
        crate::rust::tests(&project.join("tests/random.rs"), "selvedge::explore(").into_iter().map(read).collect();
    std::fs::remove_dir_all(&reports).expect("the reports are there");
    all
}

fn compare_rust(file: u64, project: &Path, tally: &mut Tally) {
    let programs = Programs::of(file, Library::Rust, tally);
    std::fs::write(project.join("tests/random.rs"), rust::file(&programs.all)).expect("a file");
    // Locks that look a hundred times before they sleep have too many schedules for plain search.
    for asked in ASKED.into_iter().filter(|asked| asked.search != Search::Dfs) {
        programs.compare(asked, &run_rust(project, asked, optimised(file)), tally);
    }
}

/// A project like that of the corpus, in another place.
fn project() -> PathBuf {
    let (project, like) = (scratch("random-rust"), root().join("corpus/rust"));
    for directory in ["src", "tests"] {
        std::fs::create_dir_all(project.join(directory)).expect("a directory");
    }
    for name in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        let text = std::fs::read_to_string(like.join(name)).expect("a file of the corpus");
        let text = text.replace("../../crates", &root().join("crates").display().to_string());
        std::fs::write(project.join(name), text).expect("a file");
    }
    project
}

fn judge(mut tally: Tally) {
    let wrong = std::mem::take(&mut tally.wrong);
    println!("{tally:#?}");
    wrong.iter().for_each(|wrong| println!("{wrong}"));
    assert!(wrong.is_empty(), "{} disagreements, printed above", wrong.len());
    let exhausted = tally.compared.get("Dpor").copied().unwrap_or_default();
    assert!(exhausted > tally.programs / 2, "{exhausted} searches of {} programs ended", tally.programs);
    assert!(tally.kinds.len() >= 2 && tally.themes.len() >= 10, "{:?} {:?}", tally.kinds, tally.themes);
}

#[test]
fn what_the_rules_allow_in_cpp() {
    if !has(has_cpp(), Need::Cpp, "random programs in C++") {
        return;
    }
    let (files, first) = (number("SELVEDGE_CAMPAIGN").unwrap_or(1), number("SELVEDGE_FIRST").unwrap_or(0));
    let (directory, compilers) = (scratch("random-cpp"), if files > 2 { compilers_with_clang() } else { compilers() });
    let mut tally = Tally::default();
    for file in first..first + files {
        let cc = &compilers[(file / 2 % 2) as usize % compilers.len()];
        compare_cpp(file, cc, &directory, &mut tally);
    }
    judge(tally);
}

#[test]
fn what_the_rules_allow_in_rust() {
    if !is_possible() {
        return;
    }
    let (files, first) = (number("SELVEDGE_CAMPAIGN").unwrap_or(1), number("SELVEDGE_FIRST").unwrap_or(0));
    let project = project();
    let mut tally = Tally::default();
    for file in first..first + files {
        compare_rust(file, &project, &mut tally);
    }
    judge(tally);
}
