//! `selvedge model`: checks the assertions of a model written in CSP#.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use selvedge_history::{Budget, Limit};
use selvedge_model::language::Model;
use selvedge_model::{Drawn, draw_space, space_to_dot, trace_to_dot, trace_to_svg};

use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::Entry;
use crate::report::ci::OutputFlags;
use crate::report::model::{Checked, Outcome, Page};
use crate::report::print::{Printer, complain, keep_page};
use crate::source;
use crate::trouble::Trouble;
use crate::watch::{self, Ended};

/// How often a limit is looked for while a check runs.
const LOOK: Duration = Duration::from_millis(20);

/// Larger state spaces cannot be read.
const STATES_DRAWN: u64 = 500;
const STATES_IN_PAGE: u64 = 150;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = crate::exit::HELP)]
pub struct Flags {
    /// The model, in CSP#; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Check this assertion only, counted from 1; may be given several times
    #[arg(long, value_name = "N")]
    assert: Vec<usize>,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    output: OutputFlags,

    /// Write a graph here: the counterexample, or all states if there are few
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Write the report as a page for a browser here
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Say more about the search: rates, sizes, depth
    #[arg(long)]
    stats: bool,

    /// Give up after so many states
    #[arg(long, value_name = "N")]
    states_max: Option<u64>,

    /// How many threads search
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    #[command(flatten)]
    limits: LimitFlags,
}

/// The flags as resolved.
#[derive(Clone)]
pub struct Settings {
    file: PathBuf,
    assert: Vec<usize>,
    json: bool,
    output: OutputFlags,
    dot: Option<PathBuf>,
    html: Option<PathBuf>,
    stats: bool,
    states_max: Option<u64>,
    jobs: usize,
    limits: Limits,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self, started: Instant) -> Settings {
        Settings {
            file: self.file,
            assert: self.assert,
            json: self.json,
            output: self.output,
            dot: self.dot,
            html: self.html,
            stats: self.stats,
            states_max: self.states_max,
            jobs: usize::from(self.jobs),
            limits: self.limits.resolve(started),
        }
    }
}

/// Checks the model and reports.
pub fn run(settings: Settings) -> Exit {
    let file = settings.file.clone();
    let (limits, html) = (settings.limits.clone(), settings.html.clone());
    let progress = Arc::new(Progress::new(1));
    let mut unwritten = Exit::Pass;
    let mut printer = Printer::new(settings.json, settings.output.clone(), 1);
    progress.quiet(settings.output.quiet);
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Entry>| {
        progress.begin(1, &source::name(&settings.file));
        // The other end is gone only when the process is about to end.
        let _ = results.send(examine(&settings, budget, progress));
    };
    let ended = watch::run(&limits, &progress, worker, |mut entry: Entry| {
        unwritten = keep_page(html.as_deref(), &mut entry);
        printer.print(entry);
    });
    if printer.printed() == 0 {
        let name = source::name(&file);
        match ended {
            Ended::Done => unreachable!("one entry a file"),
            Ended::Cut(limit) => {
                let mut entry = crate::report::cut(&name, limit, &limits, &progress);
                unwritten = keep_page(html.as_deref(), &mut entry);
                printer.print(entry);
            }
            Ended::Panicked => printer.print(crate::report::bug(&name)),
        }
    }
    printer.finish().worst(unwritten)
}

/// Reads, compiles, checks, reports.
fn examine(settings: &Settings, budget: &Budget, progress: &Progress) -> Entry {
    let begun = Instant::now();
    progress.enter(Phase::Proving);
    let file = source::name(&settings.file);
    let troubled = |trouble: &Trouble| crate::report::troubled(trouble, begun.elapsed().as_secs_f64());
    let text = match read(&settings.file) {
        Ok(text) => text,
        Err(error) => return troubled(&Trouble::io(&file, &error)),
    };
    let model = match Model::new(&text) {
        Ok(model) => model,
        Err(errors) => return crate::report::model::wrong(&file, &text, &errors, begun.elapsed().as_secs_f64()),
    };
    let count = model.assertions().len();
    if let Some(wrong) = settings.assert.iter().find(|&&number| number == 0 || number > count) {
        let trouble = Trouble::new(&file, format!("there is no assertion {wrong}"));
        return troubled(&trouble.advise(format!("the model has {count}, counted from 1")));
    }
    let chosen: Vec<usize> = match settings.assert.as_slice() {
        [] => (1..=count).collect(),
        chosen => chosen.to_vec(),
    };
    let mut page = Page {
        file: &file,
        text: &text,
        stats: settings.stats,
        states_max: settings.states_max,
        jobs: settings.jobs,
        limits: &settings.limits,
        checked: Vec::new(),
        seconds: 0.0,
        dot: None,
    };
    let claims = chosen.len();
    for (at, number) in chosen.into_iter().enumerate() {
        progress.proving(at + 1, claims);
        let checked = check(settings, &model, number, budget);
        page.checked.push(checked);
    }
    if let Some(path) = &settings.dot {
        page.dot = draw(path, &model, &page.checked);
    }
    page.seconds = begun.elapsed().as_secs_f64();
    let mut entry = page.entry();
    if settings.html.is_some() {
        let space = |checked: &Checked| draw_space(&model.subject(checked.number - 1), STATES_IN_PAGE).ok()?.ok();
        let spaces: Vec<Option<Drawn>> = page.checked.iter().map(space).collect();
        entry.html = Some(page.html(&entry.full, &spaces));
    }
    entry
}

fn read(path: &Path) -> std::io::Result<String> {
    let bytes = if source::is_stdin(path) {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
        bytes
    } else {
        std::fs::read(path)?
    };
    String::from_utf8(bytes).map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "this is not UTF-8 text"))
}

/// Checks one assertion, for as long as the budget lasts.
fn check(settings: &Settings, model: &Model, number: usize, budget: &Budget) -> Checked {
    let cancel = Arc::new(AtomicBool::new(budget.reached().is_some()));
    let done = AtomicBool::new(false);
    let search = selvedge_model::Settings {
        states_max: settings.states_max,
        memory_max: Some(settings.limits.memory_max),
        cancel: Some(Arc::clone(&cancel)),
        jobs: settings.jobs,
        ..selvedge_model::Settings::default()
    };
    let begun = Instant::now();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if budget.reached().is_some() {
                    cancel.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(LOOK);
            }
        });
        let outcome = model.check(number - 1, &search);
        done.store(true, Ordering::Relaxed);
        outcome
    });
    let outcome = match outcome {
        Ok(answer) => Outcome::Answer(answer, budget.reached().map(limit_name)),
        Err(trouble) => Outcome::Trouble(trouble),
    };
    let text = model.assertions()[number - 1].clone();
    Checked { number, text, outcome, seconds: begun.elapsed().as_secs_f64() }
}

fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "time",
        Limit::Memory => "memory",
        Limit::Interrupted => "interrupted",
    }
}

/// Writes the graph; answers a sentence about it.
fn draw(path: &Path, model: &Model, checked: &[Checked]) -> Option<String> {
    let name = source::name(path);
    let shown = checked.iter().find_map(|checked| Some((checked, checked.trace()?)));
    let svg = path.extension().is_some_and(|extension| extension == "svg");
    let (graph, what) = match (shown, checked.first()) {
        (Some((checked, trace)), _) => {
            let graph = if svg { trace_to_svg(trace) } else { trace_to_dot(trace) };
            (graph, format!("the run of assertion {}", checked.number))
        }
        (None, Some(_)) if svg => return Some(format!("{name} was not written: there is no run to draw")),
        (None, Some(first)) => match space_to_dot(&model.subject(first.number - 1), STATES_DRAWN) {
            Ok(Ok(graph)) => (graph, "all states".to_owned()),
            _ => return Some(format!("{name} was not written: there are more than {STATES_DRAWN} states")),
        },
        (None, None) => return None,
    };
    match std::fs::write(path, graph) {
        Ok(()) => Some(format!("{name} shows {what}")),
        Err(error) => {
            complain(&format!("{}\n", Trouble::new(&name, format!("cannot write the graph: {error}"))));
            None
        }
    }
}
