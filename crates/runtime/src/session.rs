//! The search: run after run of each test, until the strategy has seen enough.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use selvedge_explore::{Bounded, Classes, Coverage, Dfs, Dpor, End, Pct, Random, Replay, Strategy};
use selvedge_protocol::channel::{Begun, DIRECTORY_VARIABLE, SETTINGS_VARIABLE};
use selvedge_protocol::{
    Cause, CoverageRecord, Finding, FindingKind, ObjectReport, Report, Search, SearchTrouble, Settings, TestReport,
    schedule_from_text, wire, words,
};

use crate::abi::frameworks;
use crate::arch::{kernel, left_over, patched, switch};
use crate::arguments::Arguments;
use crate::control::{self, Body, Control, Left, with};
use crate::fiber::{self, Fiber};
use crate::finding::Failure;
use crate::journal::Journal;
use crate::lineup;
use crate::memory::reset::Snapshot;
use crate::memory::{self, arena};
use crate::posix::process;
use crate::run::{renew, run_and_look, run_of_class, run_once};
use crate::worker::{Line, say};
use crate::{apart, exchange, finding, journal, plain_steps, shadow, share, sys, watchdog};

/// A test.
#[derive(Clone)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub body: Body,
    /// With what.
    pub argument: *mut c_void,
}

/// What the program registered, its `main`, and what that gets.
#[derive(Default)]
struct Registry {
    tests: Vec<Test>,
    main: usize,
    arguments: Arguments,
}

struct Cell(UnsafeCell<Option<Registry>>);

// SAFETY: written before `main` and by the thread that runs the tests only.
unsafe impl Sync for Cell {}

static REGISTRY: Cell = Cell(UnsafeCell::new(None));

fn registry() -> &'static mut Registry {
    // SAFETY: before `main` there is one thread, and then only the one that runs the tests calls; no borrow outlives a call.
    unsafe { (*REGISTRY.0.get()).get_or_insert_with(Registry::default) }
}

/// What `SELVEDGE_TEST` makes. Part of the C ABI in `selvedge.h`.
#[repr(C)]
pub struct Registration {
    name: *const c_char,
    body: unsafe extern "C" fn(),
}

/// Adds a test; called before `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_register(registration: *const Registration) {
    // SAFETY: a static object of the program with a static name.
    let (name, body) =
        unsafe { (CStr::from_ptr((*registration).name).to_string_lossy().into_owned(), (*registration).body) };
    registry().tests.push(Test { name, body: run_registered, argument: body as *mut c_void });
}

unsafe extern "C" fn run_registered(body: *mut c_void) -> *mut c_void {
    // SAFETY: what `selvedge_register` stored.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(body)() };
    std::ptr::null_mut()
}

static RUNS_MAIN: AtomicBool = AtomicBool::new(false);

/// Whether the test is the program's own `main`.
pub fn runs_main() -> bool {
    RUNS_MAIN.load(Ordering::Relaxed)
}

/// Runs the program's own `main` as a test.
unsafe extern "C" fn run_main(_: *mut c_void) -> *mut c_void {
    RUNS_MAIN.store(true, Ordering::Relaxed);
    let main = registry().main;
    let (count, arguments) = registry().arguments.renew();
    // SAFETY: the program's `main`; what it gets lasts, and ends as the language says.
    let code = unsafe {
        let main = std::mem::transmute::<usize, unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int>(main);
        main(count, arguments)
    };
    if code != 0 {
        fiber::fail(Cause::MainReturned(code), 0);
    }
    std::ptr::null_mut()
}

/// What the driver asks for; the defaults when it says nothing.
pub fn settings() -> Settings {
    let Ok(text) = std::env::var(SETTINGS_VARIABLE) else { return Settings::default() };
    match wire::decode(&text) {
        Ok(settings) => settings,
        Err(error) => sys::give_up(&words::Complaint::Settings(&error), 2),
    }
}

/// Where searches are reported to, if anybody wants to know.
pub fn reports() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY_VARIABLE).map(PathBuf::from)
}

/// Whether the tests are in C or C++, and run in the place of `main`.
static TAKES_OVER: AtomicBool = AtomicBool::new(false);

/// What libc is to start: the tests when the driver asks for them, else what the program has.
pub fn take_over(main: *mut c_void) -> *mut c_void {
    registry().main = main as usize;
    // The environment is not set up yet for `std::env`; libc's `environ` is, by the linker.
    // SAFETY: the variables' names end with a zero byte.
    let set = |name: &CStr| unsafe { !libc::getenv(name.as_ptr()).is_null() };
    let (takes_over, hosted) = (set(c"SELVEDGE_TAKE_OVER"), set(c"SELVEDGE_REPORT_DIRECTORY"));
    if takes_over || hosted {
        fix_addresses();
        process::claim_faults();
    }
    TAKES_OVER.store(takes_over, Ordering::Relaxed);
    if takes_over { run_tests as *mut c_void } else { main }
}

/// Starts the program over at addresses that are the same every time, unless it is at such addresses already, or the
/// system does not allow it (findings then hold addresses that differ from run to run of the tool).
fn fix_addresses() {
    const QUERY: usize = 0xffff_ffff;
    // SAFETY: asks for and sets a flag of this process; `exec` with the arguments that it was started with.
    unsafe {
        let flags = sys::call(libc::SYS_personality, [QUERY, 0, 0, 0, 0, 0]);
        let fixed = libc::ADDR_NO_RANDOMIZE as usize;
        if flags < 0 || flags as usize & fixed != 0 {
            return;
        }
        sys::call(libc::SYS_personality, [flags as usize | fixed, 0, 0, 0, 0, 0]);
        if sys::call(libc::SYS_personality, [QUERY, 0, 0, 0, 0, 0]) as usize & fixed == 0 {
            return;
        }
        let Ok(line) = std::fs::read("/proc/self/cmdline") else { return };
        let mut words: Vec<*const u8> = line.split_inclusive(|&byte| byte == 0).map(|word| word.as_ptr()).collect();
        words.push(std::ptr::null());
        let path = c"/proc/self/exe".as_ptr() as usize;
        sys::call(libc::SYS_execve, [path, words.as_ptr() as usize, environ as usize, 0, 0, 0]);
    }
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

extern "C" fn run_tests() -> c_int {
    let Some(directory) = reports() else { return 2 };
    let settings = settings();
    let begun = Begun::new(&directory, settings.test.as_deref().unwrap_or("tests"));
    let mut tests = registry().tests.clone();
    let mut objects = lineup::registered();
    let mut report = Report::default();
    if tests.is_empty() && objects.is_empty() && !process::is_own_main(registry().main as *mut c_void) {
        registry().arguments = Arguments::new(&settings.arguments);
        tests.push(Test { name: "main".into(), body: run_main, argument: std::ptr::null_mut() });
    } else if !settings.arguments.is_empty() {
        report.error = Some(SearchTrouble::ArgumentsOfTests);
    }
    if let Some(wanted) = &settings.test {
        tests.retain(|test| test.name == *wanted);
        objects.retain(|object| object == wanted);
    }
    if !registry().tests.is_empty() || !lineup::registered().is_empty() {
        frameworks::prepare();
    }
    match prepare(&settings) {
        _ if report.error.is_some() => {}
        Err(error) => report.error = Some(error),
        Ok(()) => {
            report.tests.extend(tests.iter().map(|test| explore(test, &settings)));
            report.objects.extend(objects.iter().map(|name| check_object(name, &settings)));
        }
    }
    if tests.is_empty() && objects.is_empty() {
        report.error = Some(SearchTrouble::NoTest);
    }
    if let Err(error) = begun.report(&report) {
        sys::give_up(&words::Complaint::Report(&error), 2);
    }
    // Destructors of the program expect a `main` that ran.
    flush();
    sys::exit(0)
}

fn check_object(name: &str, settings: &Settings) -> ObjectReport {
    apart::check(name, settings, || lineup::check_registered(name, settings))
}

/// The guess at the length of a run that `pct` draws its moments from.
pub const PCT_STEPS: u64 = 200;

/// Writes out what the program has printed so far.
pub fn flush() {
    // SAFETY: a stream of libc.
    unsafe { libc::fflush(stdout) };
}

/// Threads that exist before the first run.
const FIBERS: usize = 8;

/// Gives libc's streams buffers that outlive the runs; it would else take them from the heap of the first run that prints.
fn buffer_streams() {
    const SIZE: usize = 4096;
    // SAFETY: buffers that are never given back, set before anything under control prints.
    unsafe {
        let input: &'static mut [u8] = vec![0; SIZE].leak();
        let output: &'static mut [u8] = vec![0; SIZE].leak();
        libc::fflush(stdout);
        libc::setvbuf(stdin, input.as_mut_ptr().cast(), libc::_IOFBF, SIZE);
        libc::setvbuf(stdout, output.as_mut_ptr().cast(), libc::_IOLBF, SIZE);
    }
}

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
}

/// Sets everything up for searches by the calling thread.
pub fn prepare(settings: &Settings) -> Result<(), SearchTrouble> {
    watchdog::watch();
    exchange::open();
    process::install_handlers();
    if control::is_installed() {
        return Ok(());
    }
    match Journal::new() {
        Some(journal) => journal.keep(),
        None => sys::give_up(&words::Complaint::NoMemory, 2),
    }
    switch::probe();
    let trap = if settings.replay.is_some() { kernel::TRAP_OF_DEBUGGED } else { kernel::TRAP };
    left_over::prepare(trap);
    // What rustc links has precompiled code with locks of its own, which nobody could tell from what its users wrote.
    patched::prepare(trap, TAKES_OVER.load(Ordering::Relaxed));
    buffer_streams();
    if !arena::map() {
        return Err(SearchTrouble::HeapTaken);
    }
    let mut fibers: Vec<Fiber> = Vec::new();
    if !fiber::provide(&mut fibers, FIBERS) {
        return Err(SearchTrouble::NoThreads);
    }
    control::install(Control::new(fibers, settings.clone()));
    Ok(())
}

/// The strategies that a search goes through, one after the other.
pub fn strategies(settings: &Settings) -> Result<Vec<Box<dyn Strategy>>, SearchTrouble> {
    if let Some(text) = &settings.replay {
        let schedule = schedule_from_text(text).map_err(|error| SearchTrouble::Schedule(error.to_string()))?;
        return Ok(vec![Box::new(Replay::new(schedule))]);
    }
    let (seed, runs, depth) = (settings.seed, settings.runs_max, settings.depth);
    Ok(match settings.search {
        Search::Dfs => vec![Box::new(Dfs::new())],
        Search::Dpor => vec![Box::new(Dpor::new())],
        Search::Bounded => vec![Box::new(Bounded::new(settings.preemptions))],
        Search::Random => vec![Box::new(Random::new(seed, 0, runs))],
        Search::Pct => vec![Box::new(Pct::new(seed, 0, runs, depth, PCT_STEPS))],
        Search::Portfolio => vec![Box::new(Bounded::new(settings.preemptions)), Box::new(Dpor::new())],
    })
}

/// Searches the schedules of a test.
pub fn explore(test: &Test, settings: &Settings) -> TestReport {
    apart::explore(test, settings).limited()
}

/// What a search of a test is told.
pub fn arrange(settings: &Settings) {
    // Who searches is no part of what was found.
    let alone = Settings { jobs: 1, slice: Settings::default().slice, memory_max: None, ..settings.clone() };
    memory::kernel::allow(settings.memory_max);
    with(|control| {
        control.search.leaks = settings.leaks();
        control.search.settings = alone;
    });
}

/// Search after search, until one has seen no plain access that should have been a step and was none.
pub fn search_all(test: &Test, settings: &Settings) -> TestReport {
    let globals = &Snapshot::new(settings.stop_at_failure);
    let (began, cpu) = (sys::now(), sys::cpu());
    let until = settings.time_max.map_or(f64::INFINITY, |limit| began + limit);
    journal::expect_end(until);
    arrange(settings);
    plain_steps::begin(&settings.plain_steps);
    let mut runs_before = 0;
    loop {
        with(|control| control.search.histories.forget());
        let mut report = search_once(test, settings, globals, until);
        let asked: Vec<Finding> =
            report.unknowns.iter().filter(|_| report.findings.iter().all(Finding::is_last_resort)).cloned().collect();
        if !plain_steps::grow(asked.iter().map(|found| &found.cause)) || exchange::stopped() || sys::now() > until {
            report.plain_steps = plain_steps::record(runs_before);
            report.cpu_seconds = report.cpu_seconds.max(sys::cpu() - cpu);
            return report;
        }
        runs_before += report.runs;
    }
}

fn search_once(test: &Test, settings: &Settings, globals: &Snapshot, until: f64) -> TestReport {
    let mut report = TestReport::new(&test.name);
    let (began, cpu) = (sys::now(), sys::cpu());
    let Ok(phases) = strategies(settings) else { return report };
    let search_for = Allowed {
        runs_max: settings.runs_max,
        until,
        share_at: if settings.jobs > 1 { began + share::ALONE * settings.slice } else { f64::INFINITY },
        looks_first: settings.search == Search::Portfolio && settings.replay.is_none(),
    };
    for strategy in phases {
        with(|control| {
            control.search.retries.enable(settings.retries && strategy.turns_races());
            control.search.strategy = strategy;
        });
        let mut coverage = search(test, settings, globals, &search_for, &mut report);
        let goes_on = |report: &TestReport| settings.keep_going || !report.ends_search();
        if coverage.is_none() && report.runs == 1 && goes_on(&report) && has_many_threads(&search_for) {
            look_in_order(test, settings, globals, &search_for, &mut report);
            if goes_on(&report) {
                coverage = search(test, settings, globals, &search_for, &mut report);
            }
        }
        let shared = coverage.is_none() && !report.ends_search() && sys::now() > search_for.share_at;
        if shared && let Some(rest) = with(|control| control.search.strategy.rest()).filter(|rest| !rest.is_empty()) {
            report.cpu_seconds = sys::cpu() - cpu;
            let report = share::explore(test, settings, globals, search_for.until, report, rest);
            renew(globals);
            return report;
        }
        report.redundant += with(|control| control.search.strategy.redundant());
        report.unfair += with(|control| control.search.strategy.unfair());
        let reached = coverage.or_else(|| with(|control| control.search.strategy.so_far()));
        report.coverage = reached.map_or(CoverageRecord::Partial, CoverageRecord::from);
        if let Some(Coverage::Preemptions(bound)) = reached {
            report.bound = Some(bound);
        }
        if !matches!(coverage, Some(Coverage::Preemptions(_))) || report.ends_search() {
            break;
        }
    }
    if settings.search == Search::Portfolio
        && report.coverage == CoverageRecord::Partial
        && let Some(bound) = report.bound
    {
        report.coverage = CoverageRecord::Preemptions(bound);
    }
    report.cpu_seconds = sys::cpu() - cpu;
    with(|control| {
        report.histories = control.search.histories.seen().len() as u64;
        if settings.histories {
            report.history_texts = control.search.histories.seen().iter().cloned().collect();
        }
    });
    renew(globals);
    report
}

/// With more threads than that already the schedules without a preemption are too many to get through: whenever a thread ends any other may go on, and 11! is forty million.
const MANY: usize = 10;
/// So many runs of such a test are made first, at most, in which threads go in the order of their creation, but for one decision.
const IN_ORDER: u64 = 50_000;

/// Whether the test under way has so many threads that errors which need a preemption would not be met.
fn has_many_threads(allowed: &Allowed) -> bool {
    allowed.looks_first && with(|control| control.run.created) > MANY
}

/// Looks at schedules that are nearly in order, in the middle of another search, which goes on afterwards. They claim nothing.
fn look_in_order(test: &Test, settings: &Settings, globals: &Snapshot, allowed: &Allowed, report: &mut TestReport) {
    let in_order: Box<dyn Strategy> = Box::new(Bounded::of_turns(1));
    let bounded = with(|control| std::mem::replace(&mut control.search.strategy, in_order));
    let runs_max = allowed.runs_max.min(report.runs + IN_ORDER);
    let alone = Allowed { runs_max, share_at: f64::INFINITY, looks_first: false, ..*allowed };
    search(test, settings, globals, &alone, report);
    with(|control| control.search.strategy = bounded);
}

/// The finding with who called each step: the same schedule once more, with more to note. When something else comes out, the finding
/// stays as it was.
fn trace_back(test: &Test, globals: &Snapshot, found: Finding) -> Finding {
    let Ok(schedule) = schedule_from_text(&found.schedule) else { return found };
    if found.settings.replay.is_some() && found.settings.stop_at_failure || !found.kind.is_violation() {
        return found;
    }
    let (search, retries) = with(|control| {
        control.search.traces_back = true;
        let retries = std::mem::replace(&mut control.search.retries.on, false);
        (std::mem::replace(&mut control.search.strategy, Box::new(Replay::new(schedule))), retries)
    });
    let ended = match with(|control| control.search.strategy.start()) {
        ControlFlow::Continue(()) => run_once(test, globals),
        ControlFlow::Break(_) => End::Complete,
    };
    let again = with(|control| {
        let again = finding::of_run(control, ended, &found.test, found.run);
        control.search.traces_back = false;
        control.search.strategy = search;
        control.search.retries.on = retries;
        again
    });
    let plain = |finding: &Finding| {
        let mut finding = finding.clone();
        finding.frames.clear();
        finding.callers.clear();
        finding.other = None;
        finding.steps.iter_mut().for_each(|step| step.callers.clear());
        finding.threads.iter_mut().for_each(|thread| thread.callers.clear());
        finding
    };
    again.filter(|again| plain(again) == plain(&found)).unwrap_or(found)
}

/// How long a search may go on.
pub struct Allowed {
    /// So many runs.
    pub runs_max: u64,
    /// Until this moment.
    pub until: f64,
    /// From this moment on the rest is for others, if it can be taken apart.
    pub share_at: f64,
    /// Whether schedules that are nearly in order come after the first run, where it has many threads.
    pub looks_first: bool,
}

impl Allowed {
    fn is_over(&self, runs: u64) -> bool {
        let now = sys::now();
        // Not before something was done: else a part could be handed on for ever.
        let share = runs > 0 && now > self.share_at && with(|control| control.search.strategy.rest().is_some());
        now > self.until || share || exchange::stopped()
    }
}

/// So many runs are made between two looks at the clock.
const UNWATCHED: u64 = 16;

/// Whether the search may make many runs of one class. A strategy that turns races makes one run of each anyway; one that goes on after a race
/// must see where it ended the run, and so must a replay, whose schedule ends there.
fn repeats_classes(settings: &Settings) -> bool {
    let ends_at_races = settings.keep_going || settings.replay.is_some();
    with(|control| control.search.looks_for_races())
        && !settings.races_in_every_run
        && !ends_at_races
        && with(|control| !control.search.strategy.turns_races())
}

/// What a search notes of its runs.
struct Noted {
    /// Classes of runs, where several are of one.
    classes: Option<Classes>,
    /// Why it cannot be whole.
    unseen: Option<Finding>,
    /// Whether threads were stuck in a wait for any of several descriptors, and the strategy learns from what such threads would have done: it is shown one of the
    /// accesses, so that classes may be missing.
    partly: bool,
}

/// What keeps a search from being whole: assembly beside plain accesses, or in C and C++ threads of a run have met in code that was not instrumented. All that is not seen in Rust is inline assembly.
fn unseen_in(control: &Control, report: &TestReport) -> Option<Finding> {
    let objects = &control.run.objects;
    let met = objects.unseen_by_two != 0 && TAKES_OVER.load(Ordering::Relaxed);
    let unseen = met.then(|| (finding::uninstrumented(objects.unseen_by_two), objects.unseen_by_two));
    let (out, pc) = objects.doubt.clone().or(unseen)?;
    Some(finding::of_failure(control, Failure::new(Cause::Out(out), pc), &report.test, report.runs))
}

/// Whether the strategy learns from what threads that are stuck would have done, and is shown a part of that.
pub fn is_shown_in_part(control: &Control) -> bool {
    control.search.strategy.turns_races() && control.run.objects.descriptors.waits_for_several()
}

/// Runs until the strategy is done; `None` when something else ended it.
pub fn search(
    test: &Test,
    settings: &Settings,
    globals: &Snapshot,
    allowed: &Allowed,
    report: &mut TestReport,
) -> Option<Coverage> {
    let mut noted = Noted { classes: repeats_classes(settings).then(Classes::new), unseen: None, partly: false };
    with(|control| control.run.trace.sign(noted.classes.is_some().then(|| control.search.strategy.follows())));
    let coverage = search_classes(test, settings, globals, allowed, report, &mut noted);
    with(|control| control.run.trace.sign(None));
    if let Some(found) = noted.unseen.filter(|_| report.findings.is_empty()) {
        report.keep(found);
    }
    coverage.map(|coverage| if noted.partly { Coverage::Partial } else { coverage })
}

/// A run that came to its end with fewer decisions than it was to repeat.
fn early_end(control: &Control) -> Option<Failure> {
    let cause = || Cause::Diverged { step: control.run.trace.len() as u64, bystanders: finding::bystanders() };
    control.search.strategy.diverged().then(|| Failure::new(cause(), 0))
}

/// The same, where data races are looked for in one run of each class, or in every run.
fn search_classes(
    test: &Test,
    settings: &Settings,
    globals: &Snapshot,
    allowed: &Allowed,
    report: &mut TestReport,
    noted: &mut Noted,
) -> Option<Coverage> {
    loop {
        if let ControlFlow::Break(coverage) = with(|control| control.search.strategy.start()) {
            return Some(coverage);
        }
        if report.runs >= allowed.runs_max || report.runs.is_multiple_of(UNWATCHED) && allowed.is_over(report.runs) {
            return None;
        }
        let end = match &mut noted.classes {
            Some(classes) => run_of_class(test, globals, classes, &mut report.spared),
            None => run_and_look(test, globals),
        };
        exchange::count();
        report.runs += 1;
        journal::ran(report.runs, report.points);
        if let Some(Coverage::Preemptions(bound)) = with(|control| control.search.strategy.so_far()) {
            journal::reached(bound);
        }
        report.forgotten += u64::from(shadow::has_forgotten());
        report.blocked += u64::from(end == End::Stuck);
        report.excluded += u64::from(with(|control| control.run.left == Left::Blocked && control.run.excluded));
        report.truncated += u64::from(end == End::Truncated);
        if with(|control| control.run.left) == Left::Restart {
            with(|control| control.search.strategy = Box::new(Dpor::new()));
            continue;
        }
        let found = with(|control| {
            report.points += control.run.trace.len() as u64;
            if matches!(control.run.left, Left::Complete | Left::Stuck) {
                control.search.histories.keep(&mut control.run.operations);
            }
            let blocked = control.run.left == Left::Blocked;
            // Many runs leave threads over where one does, and one is told.
            let known = report.findings.iter().any(Finding::is_last_resort);
            let failure = finding::failure_of(control, end)
                .filter(|failure| !(blocked || known && failure.kind == FindingKind::LeakedThread));
            let found = failure.map(|failure| finding::of_failure(control, failure, &report.test, report.runs));
            noted.partly |= is_shown_in_part(control);
            if noted.unseen.is_none() && found.is_none() {
                noted.unseen = unseen_in(control, report);
            }
            control.tell_strategy(end);
            found.or_else(|| {
                early_end(control).map(|early| finding::of_failure(control, early, &report.test, report.runs))
            })
        });
        if let Some(found) = found {
            if !report.knows(&found) {
                let found = trace_back(test, globals, found);
                say(Line::Finding, &wire::encode(&found));
                report.keep(found);
            }
            let ends = report.ends_search() && !settings.keep_going || report.asks_for_steps();
            if ends || with(|control| control.search.strategy.diverged()) {
                return None;
            }
        }
        if report.runs == 1 && has_many_threads(allowed) {
            return None;
        }
    }
}
