//! Random programs whose plain accesses race, with races allowed: what comes out is what an interpreter says in which every access is one step of one order, and
//! which knows nothing of the runtime. They are compiled without optimisation, so that their accesses are those that they are written with.

use std::collections::BTreeSet;
use std::fmt::Write;

use selvedge_protocol::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build_with, compilers_with_clang, scratch, session};

const VARIABLES: [&str; 4] = ["int a", "short b", "long c", "unsigned char d"];
const REGISTERS: usize = 2;
const A_FILE: u64 = 60;

/// A statement of a thread.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load { register: usize, variable: usize },
    Store { variable: usize, value: i64 },
    Add { variable: usize, value: i64 },
    Copy { to: usize, from: usize },
    If { variable: usize, value: i64, then: usize },
    Lock,
    Unlock,
}

/// One step of the interpreter. What was loaded last is in hand.
#[derive(Clone, Copy)]
enum Step {
    Load(usize),
    Keep(usize),
    Store(usize),
    Put(i64),
    Plus(i64),
    SkipUnless(i64, usize),
    Lock,
    Unlock,
}

type Thread = Vec<Statement>;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

fn program(number: u64) -> Vec<Thread> {
    let mut random = Random((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (0..2 + usize::from(random.below(4) == 0)).map(|_| thread(&mut random)).collect()
}

fn thread(random: &mut Random) -> Thread {
    let mut thread = Vec::new();
    let mut locked = false;
    for _ in 0..2 + random.below(2) {
        let (variable, other) = (random.below(4) as usize, random.below(4) as usize);
        let (register, value) = (random.below(2) as usize, 1 + random.below(3) as i64);
        thread.push(match random.below(12) {
            0..3 => Statement::Load { register, variable },
            3..6 => Statement::Store { variable, value },
            6..8 => Statement::Add { variable, value },
            8 => Statement::Copy { to: other, from: variable },
            9 => Statement::If { variable, value, then: other },
            _ if locked => Statement::Unlock,
            _ => Statement::Lock,
        });
        locked = match thread.last() {
            Some(Statement::Lock) => true,
            Some(Statement::Unlock) => false,
            _ => locked,
        };
    }
    if locked {
        thread.push(Statement::Unlock);
    }
    thread
}

fn steps(thread: &Thread) -> Vec<Step> {
    let of = |statement: &Statement| match *statement {
        Statement::Load { register, variable } => vec![Step::Load(variable), Step::Keep(register)],
        Statement::Store { variable, value } => vec![Step::Put(value), Step::Store(variable)],
        Statement::Add { variable, value } => vec![Step::Load(variable), Step::Plus(value), Step::Store(variable)],
        Statement::Copy { to, from } => vec![Step::Load(from), Step::Store(to)],
        Statement::If { variable, value, then } => {
            vec![Step::Load(variable), Step::SkipUnless(value, 2), Step::Put(value + 3), Step::Store(then)]
        }
        Statement::Lock => vec![Step::Lock],
        Statement::Unlock => vec![Step::Unlock],
    };
    thread.iter().flat_map(of).collect()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<usize>,
    hand: Vec<i64>,
    registers: Vec<[i64; REGISTERS]>,
    variables: [i64; 4],
    owner: Option<usize>,
}

impl State {
    /// What it is after a step of a thread; `None` if it cannot go.
    fn step(&self, steps: &[Vec<Step>], thread: usize) -> Option<State> {
        let mut next = self.clone();
        next.at[thread] += 1;
        match *steps[thread].get(self.at[thread])? {
            Step::Load(variable) => next.hand[thread] = self.variables[variable],
            Step::Keep(register) => next.registers[thread][register] = self.hand[thread],
            Step::Store(variable) => next.variables[variable] = self.hand[thread],
            Step::Put(value) => next.hand[thread] = value,
            Step::Plus(value) => next.hand[thread] += value,
            Step::SkipUnless(value, count) if self.hand[thread] != value => next.at[thread] += count,
            Step::SkipUnless(..) => {}
            Step::Lock if self.owner.is_some() => return None,
            Step::Lock => next.owner = Some(thread),
            Step::Unlock => next.owner = None,
        }
        Some(next)
    }
}

/// Everything that may come out: all registers, then all variables.
fn possible(program: &[Thread]) -> BTreeSet<Vec<i64>> {
    let steps: Vec<Vec<Step>> = program.iter().map(steps).collect();
    let count = program.len();
    let first = State {
        at: vec![0; count],
        hand: vec![0; count],
        registers: vec![[0; REGISTERS]; count],
        variables: [0; 4],
        owner: None,
    };
    let (mut seen, mut open, mut outcomes) = (BTreeSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(state) = open.pop() {
        let next: Vec<State> = (0..count).filter_map(|thread| state.step(&steps, thread)).collect();
        if next.is_empty() {
            outcomes.insert(state.registers.iter().flatten().chain(&state.variables).copied().collect());
        }
        open.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
    }
    outcomes
}

fn text(number: u64, program: &[Thread]) -> String {
    let variable = |at: usize| format!("s{number}.{}", VARIABLES[at].rsplit(' ').next().unwrap_or_default());
    let mut text = format!("static struct {{ {}; }} s{number};\n", VARIABLES.join("; "));
    let count = program.len();
    let _ = writeln!(
        text,
        "static long out{number}[{count}][{REGISTERS}];\nstatic pthread_mutex_t m{number} = PTHREAD_MUTEX_INITIALIZER;"
    );
    for (at, thread) in program.iter().enumerate() {
        let _ = writeln!(text, "static void *work_{number}_{at}(void *p) {{ long r[{REGISTERS}] = {{0}};");
        for statement in thread {
            let line = match *statement {
                Statement::Load { register, variable: from } => format!("r[{register}] = {};", variable(from)),
                Statement::Store { variable: to, value } => format!("{} = {value};", variable(to)),
                Statement::Add { variable: to, value } => format!("{} += {value};", variable(to)),
                Statement::Copy { to, from } => format!("{} = {};", variable(to), variable(from)),
                Statement::If { variable: from, value, then } => {
                    format!("if ({} == {value}) {} = {};", variable(from), variable(then), value + 3)
                }
                Statement::Lock => format!("pthread_mutex_lock(&m{number});"),
                Statement::Unlock => format!("pthread_mutex_unlock(&m{number});"),
            };
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "  for (int i = 0; i < {REGISTERS}; i++) out{number}[{at}][i] = r[i];\n  return p; }}");
    }
    let _ = writeln!(text, "SELVEDGE_TEST(racing_{number}) {{ pthread_t t[{count}];");
    for at in 0..count {
        let _ = writeln!(text, "  pthread_create(&t[{at}], 0, work_{number}_{at}, 0);");
    }
    let _ = writeln!(text, "  for (int i = 0; i < {count}; i++) pthread_join(t[i], 0);");
    let told = |value: String| format!("  selvedge_call(\"o\", {value}); selvedge_return(0);\n");
    for at in 0..count {
        (0..REGISTERS).for_each(|register| text += &told(format!("out{number}[{at}][{register}]")));
    }
    (0..4).for_each(|at| text += &told(variable(at)));
    text + "}\n"
}

fn outcomes(test: &TestReport) -> BTreeSet<Vec<i64>> {
    let numbers = |text: &String| {
        text.split("o(").skip(1).filter_map(|rest| rest.split(')').next()?.parse().ok()).collect::<Vec<i64>>()
    };
    test.history_texts.iter().map(numbers).collect()
}

#[test]
fn racing_accesses_come_in_every_order_and_in_no_other_way() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (files, first) = (number("SELVEDGE_CAMPAIGN").unwrap_or(2), number("SELVEDGE_FIRST").unwrap_or(0));
    let (directory, compilers) = (scratch("allowed-races"), compilers_with_clang());
    let (mut compared, mut raced, mut wrong) = (0, 0, Vec::new());
    for file in first..first + files {
        let programs: Vec<(u64, Vec<Thread>)> =
            (file * A_FILE..(file + 1) * A_FILE).map(|number| (number, program(number))).collect();
        let source = directory.join(format!("racing_{file}.c"));
        let head = "#include <pthread.h>\n#include <selvedge.h>\n".to_owned();
        let all = programs.iter().fold(head, |all, (number, program)| all + &text(*number, program));
        std::fs::write(&source, all).expect("a file");
        let cc = &compilers[file as usize % compilers.len()];
        let built = build_with(cc, &source, &["-w", "-O0"], &directory);
        for search in [Search::Dpor, Search::Bounded, Search::Portfolio] {
            let preemptions = if search == Search::Bounded { 20 } else { 2 };
            let asked = Settings {
                races: false,
                histories: true,
                time_max: Some(20.0),
                search,
                preemptions,
                runs_max: 20_000,
                ..Settings::default()
            };
            let tests = session(&built, &asked, &directory).report.tests;
            for (test, (number, program)) in tests.iter().zip(&programs) {
                assert_eq!(test.test, format!("racing_{number}"));
                let (saw, may) = (outcomes(test), possible(program));
                raced += u64::from(!test.plain_steps.is_empty());
                let complete = test.coverage == CoverageRecord::Exhaustive;
                compared += u64::from(complete);
                let found = test.findings.iter().chain(&test.unknowns).next();
                if found.is_some() || !saw.is_subset(&may) || complete && saw != may {
                    let kind = found.map(|found| found.kind.name());
                    let missed: Vec<_> = may.difference(&saw).take(2).collect();
                    let more: Vec<_> = saw.difference(&may).take(2).collect();
                    wrong.push(format!("{cc} {search:?} racing_{number}: {kind:?}, not seen {missed:?}, cannot be {more:?}\n{program:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} disagreements\n{}", wrong.len(), wrong.join("\n"));
    let searches = files * A_FILE * 3;
    assert!(compared > searches * 3 / 4 && raced > searches / 2, "{compared} and {raced} of {searches}");
}
