//! `selvedge model`: checks the assertions of a model written in CSP#.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use selvedge_history::{Budget, Limit};
use selvedge_model::language::{ClaimKind, Model};
use selvedge_model::{Verdict, draw_space, space_to_dot, trace_to_dot, trace_to_svg};

use crate::exit::Exit;
use crate::limits::{LimitFlags, Limits};
use crate::progress::{Phase, Progress};
use crate::report::ci::OutputFlags;
use crate::report::outcome::{Assertion, Ending, Graph, GraphOf, Modelled, Undrawn, WrongModel};
use crate::report::print::{Printer, complain, keep_page};
use crate::report::{Outcome, Rendered, Wanted};
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

/// An assertion to check: its number, its text and what it claims.
#[derive(Clone)]
struct Claim {
    number: usize,
    text: String,
    kind: ClaimKind,
}

impl Claim {
    fn ended(&self, ending: Ending, seconds: f64) -> Assertion {
        Assertion { number: self.number, text: self.text.clone(), claim: self.kind, ending, seconds }
    }

    /// It was not finished when a limit was reached.
    fn unfinished(&self, limit: Limit) -> Assertion {
        self.ended(Ending::Unfinished(limit), 0.0)
    }
}

/// What the worker tells, as soon as it is known.
enum Told {
    /// The text, and what is asked of it.
    Asked(String, Vec<Claim>),
    /// What came of one assertion.
    Checked(Arc<Assertion>),
    /// The whole report.
    Reported(Rendered),
}

/// Checks the model and reports.
pub fn run(settings: Settings) -> Exit {
    let progress = Arc::new(Progress::new(1));
    let mut printer = Printer::new(settings.json, settings.output.clone(), 1);
    progress.quiet(settings.output.quiet);
    let (mut asked, mut checked, mut reported) = (None, Vec::new(), None);
    let work = settings.clone();
    let worker = move |budget: &Budget, progress: &Progress, results: &Sender<Told>| {
        progress.begin(1, &source::name(&work.file));
        // The other end is gone only when the process is about to end.
        let tell = |told: Told| drop(results.send(told));
        tell(Told::Reported(examine(&work, budget, progress, &tell)));
    };
    let ended = watch::run(&settings.limits, &progress, worker, |told| match told {
        Told::Asked(text, claims) => asked = Some((text, claims)),
        Told::Checked(one) => checked.push(one),
        Told::Reported(rendered) => reported = Some(rendered),
    });
    let (name, wanted) = (source::name(&settings.file), settings.wanted());
    let mut rendered = match (reported, ended, asked) {
        (Some(rendered), ..) => rendered,
        (None, Ended::Done, _) => unreachable!("one outcome a file"),
        (None, Ended::Panicked, _) => {
            printer.print(Outcome::bug(&name).render(wanted));
            return printer.finish();
        }
        (None, Ended::Cut(limit), None) => Outcome::cut(&name, limit, &settings.limits, &progress).render(wanted),
        (None, Ended::Cut(limit), Some((text, claims))) => cut(&settings, &text, &claims, checked, limit),
    };
    let unwritten = keep_page(settings.html.as_deref(), &mut rendered);
    printer.print(rendered);
    printer.finish().worst(unwritten)
}

/// The report when the worker did not answer in time: what was finished stands, the rest is unknown.
fn cut(settings: &Settings, text: &str, claims: &[Claim], mut checked: Vec<Arc<Assertion>>, limit: Limit) -> Rendered {
    let rest: Vec<_> = claims.iter().skip(checked.len()).map(|claim| Arc::new(claim.unfinished(limit))).collect();
    checked.extend(rest);
    let name = source::name(&settings.file);
    let modelled = Modelled {
        spaces: checked.iter().map(|_| None).collect(),
        assertions: checked,
        seconds: settings.limits.started.elapsed().as_secs_f64(),
        graph: settings.dot.as_ref().map(|path| Graph { file: source::name(path), shows: Err(Undrawn::Unfinished) }),
        ..settings.modelled(&name, text)
    };
    Outcome::Modelled(modelled).render(settings.wanted())
}

impl Settings {
    fn wanted(&self) -> Wanted {
        Wanted::new(self.html.is_some(), &self.output)
    }

    /// A model of which nothing was checked yet.
    fn modelled<'a>(&'a self, file: &'a str, text: &'a str) -> Modelled<'a> {
        Modelled {
            file,
            text,
            stats: self.stats,
            states_max: self.states_max,
            jobs: self.jobs,
            limits: &self.limits,
            assertions: Vec::new(),
            spaces: Vec::new(),
            seconds: 0.0,
            graph: None,
        }
    }
}

/// Reads, compiles, checks, reports.
fn examine(settings: &Settings, budget: &Budget, progress: &Progress, tell: &dyn Fn(Told)) -> Rendered {
    let (begun, wanted) = (Instant::now(), settings.wanted());
    progress.enter(Phase::Proving);
    let file = source::name(&settings.file);
    let seconds = || begun.elapsed().as_secs_f64();
    let wrong = |trouble: Trouble| Outcome::wrong(trouble, seconds()).render(wanted);
    let text = match read(&settings.file) {
        Ok(text) => text,
        Err(error) => return wrong(Trouble::io(&file, &error)),
    };
    let model = match Model::new(&text) {
        Ok(model) => model,
        Err(errors) => {
            let wrong = WrongModel { file: &file, text: &text, errors: &errors, seconds: seconds() };
            return Outcome::WrongModel(wrong).render(wanted);
        }
    };
    let chosen = match chosen(settings, &model, &file) {
        Ok(chosen) => chosen,
        Err(trouble) => return wrong(trouble),
    };
    tell(Told::Asked(text.clone(), chosen.clone()));
    let mut modelled = settings.modelled(&file, &text);
    let claims = chosen.len();
    for (at, claim) in chosen.iter().enumerate() {
        progress.proving(at + 1, claims);
        let checked = Arc::new(match budget.reached() {
            Some(limit) => claim.unfinished(limit),
            None => check(settings, &model, claim, budget),
        });
        tell(Told::Checked(Arc::clone(&checked)));
        modelled.assertions.push(checked);
    }
    if let Some(path) = &settings.dot {
        modelled.graph = draw(path, &model, &modelled.assertions);
    }
    modelled.seconds = seconds();
    if wanted.page {
        let space = |one: &Arc<Assertion>| draw_space(&model.subject(one.number - 1), STATES_IN_PAGE).ok()?.ok();
        modelled.spaces = modelled.assertions.iter().map(space).collect();
    }
    Outcome::Modelled(modelled).render(wanted)
}

/// The assertions to check, with their texts.
fn chosen(settings: &Settings, model: &Model, file: &str) -> Result<Vec<Claim>, Trouble> {
    let all = model.assertions();
    if all.is_empty() {
        let trouble = Trouble::new(file, "the model claims nothing, so that there is nothing to check");
        return Err(trouble.advise("add a claim, such as #assert P() deadlockfree;"));
    }
    if let Some(wrong) = settings.assert.iter().find(|&&number| number == 0 || number > all.len()) {
        let trouble = Trouble::new(file, format!("there is no assertion {wrong}"));
        return Err(trouble.advise(format!("the model has {}, counted from 1", all.len())));
    }
    let numbers = match settings.assert.as_slice() {
        [] => (1..=all.len()).collect(),
        chosen => chosen.to_vec(),
    };
    let claim = |number: usize| Claim { number, text: all[number - 1].clone(), kind: model.claim(number - 1) };
    Ok(numbers.into_iter().map(claim).collect())
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
fn check(settings: &Settings, model: &Model, claim: &Claim, budget: &Budget) -> Assertion {
    let cancel = Arc::new(AtomicBool::new(false));
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
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if budget.reached().is_some() {
                    cancel.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(LOOK);
            }
        });
        // The watcher must end even if the check panics, or nobody would hear of that.
        let _end = Finally(|| {
            done.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
        });
        model.check(claim.number - 1, &search)
    });
    let ending = match outcome {
        Ok(answer) => {
            // Only a search that was cancelled ended because of the budget.
            let cancelled = answer.verdict == Verdict::Unknown(selvedge_model::Limit::Interrupted);
            Ending::Answer(answer, budget.reached().filter(|_| cancelled))
        }
        Err(trouble) => Ending::Trouble(trouble),
    };
    claim.ended(ending, begun.elapsed().as_secs_f64())
}

/// Does something at the end of a scope, however that is left.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Writes the graph; answers what became of it.
fn draw(path: &Path, model: &Model, checked: &[Arc<Assertion>]) -> Option<Graph> {
    let file = source::name(path);
    let shown = checked.iter().find_map(|checked| Some((checked, checked.trace()?)));
    let svg = path.extension().is_some_and(|extension| extension == "svg");
    let drawn = match (shown, checked.first()?) {
        (Some((checked, trace)), _) => {
            let graph = if svg { trace_to_svg(trace) } else { trace_to_dot(trace) };
            Ok((graph, GraphOf::Run(checked.number)))
        }
        (None, _) if svg => Err(Undrawn::NoRun),
        (None, first) => match space_to_dot(&model.subject(first.number - 1), STATES_DRAWN) {
            Ok(Ok(graph)) => Ok((graph, GraphOf::States)),
            Ok(Err(_)) => Err(Undrawn::TooManyStates(STATES_DRAWN)),
            Err(trouble) => Err(Undrawn::Trouble(trouble)),
        },
    };
    let (graph, shows) = match drawn {
        Ok(drawn) => drawn,
        Err(undrawn) => return Some(Graph { file, shows: Err(undrawn) }),
    };
    match std::fs::write(path, graph) {
        Ok(()) => Some(Graph { file, shows: Ok(shows) }),
        Err(error) => {
            complain(&format!("{}\n", Trouble::new(&file, format!("cannot write the graph: {error}"))));
            None
        }
    }
}
