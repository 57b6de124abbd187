//! `selvedge monitor`: watches events as they are written, and reports violations as they happen.
//!
//! A thread reads standard input or a file; the calling thread reads sockets, takes lines, puts events in order, and checks. `docs/monitor.md` says what happens when something is missing.

mod input;
mod metrics;
mod sockets;
mod stop;
mod watcher;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use selvedge_history::Value;
use selvedge_history::monitor::Monitor;
use selvedge_history::object::Kind;

use self::input::{Address, Source};
use self::metrics::Snapshot;
use self::stop::Stop;
use self::watcher::{Voice, Watcher};
use super::{objects, usage};
use crate::exit::Exit;
use crate::report::print::complain;
use crate::trouble::Trouble;
use crate::{quantity, source};

/// How often it looks whether it should stop, and tells how far it came.
const TICK: Duration = Duration::from_millis(50);

const HELP: &str = "\
Exit codes, at the end of the input or after Ctrl-C or SIGTERM:
  0    nothing is wrong, and everything was checked
  1    violation found
  2    wrong input or usage
  3    no violation seen, but not everything could be checked
  101  a bug in selvedge";

/// The flags as typed.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Flags {
    /// Events as JSON Lines; - and nothing are standard input
    #[arg(value_name = "FILE", conflicts_with = "listen")]
    file: Option<PathBuf>,

    /// What is watched
    #[arg(long, value_name = "NAME", value_parser = objects())]
    object: Kind,

    /// For queues: count operations over the last K pasts in place of the exact rules
    #[arg(short = 'k', value_name = "K")]
    k: Option<usize>,

    /// Go on when the end of the file is reached: more will be written
    #[arg(long, requires = "file")]
    follow: bool,

    /// Take events from sockets, any number of writers: unix:PATH or tcp:127.0.0.1:PORT
    #[arg(long, value_name = "ADDRESS", value_parser = Address::parse)]
    listen: Option<Address>,

    /// The object is in use already: what was put in before is not known
    #[arg(long)]
    attach: bool,

    /// What a register holds before the first write, such as 0, nil or a text
    #[arg(long, value_name = "VALUE", value_parser = crate::report::json::value, allow_hyphen_values = true)]
    initial: Option<Value>,

    /// By how much the times of one writer's events may be out of order
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::time)]
    window: Wait,

    /// By how much the clocks of several writers may differ; none if they share one
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = quantity::time)]
    skew: Wait,

    /// Answer requests for metrics in the text form of Prometheus here
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,

    /// Print one JSON document a violation, and one at the end
    #[arg(long)]
    json: bool,

    /// Write the violations as a page for a browser here, at the end
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

type Wait = Option<Duration>;

/// The flags as resolved.
pub struct Settings {
    file: Option<PathBuf>,
    object: Kind,
    k: Option<usize>,
    follow: bool,
    listen: Option<Address>,
    attach: bool,
    initial: Option<Value>,
    window: Duration,
    skew: Duration,
    metrics: Option<String>,
    json: bool,
    html: Option<PathBuf>,
}

impl Flags {
    /// Resolves the flags.
    pub fn resolve(self) -> Result<Settings, clap::Error> {
        if self.attach && !Monitor::can_attach(self.object) {
            let message = format!("--attach: the state of a {} would have to be known", self.object);
            return Err(usage(&message));
        }
        if self.k.is_some() && self.object != Kind::Queue {
            return Err(usage("-k counts operations of queues; other objects have exact rules only"));
        }
        let file = self.file.filter(|path| !source::is_stdin(path));
        if self.follow && file.is_none() {
            return Err(usage("--follow is for files; standard input is read until it ends"));
        }
        Ok(Settings {
            file,
            object: self.object,
            k: self.k,
            follow: self.follow,
            listen: self.listen,
            attach: self.attach,
            initial: self.initial,
            window: self.window.unwrap_or_default(),
            skew: self.skew.unwrap_or_default(),
            metrics: self.metrics,
            json: self.json,
            html: self.html,
        })
    }
}

/// Watches until the input ends or somebody says stop.
pub fn run(settings: Settings) -> Exit {
    watch(&settings).unwrap_or_else(|trouble| {
        complain(&format!("{trouble}\n"));
        Exit::Input
    })
}

fn watch(settings: &Settings) -> Result<Exit, Trouble> {
    let stop = Stop::on_signals();
    let voice = Voice { json: settings.json };
    let (initial, attach, k) = (settings.initial.clone(), settings.attach, settings.k);
    let taken = selvedge_history::monitor::Settings { initial, attach, k, ..Default::default() };
    let mut watcher = Watcher::new(settings.object, taken, voice, Arc::clone(&stop))
        .map_err(|misuse| Trouble::new("--initial", misuse))?;
    watcher.order_by(settings.window, settings.skew);
    watcher.keep(settings.html.is_some());
    let snapshot = Arc::new(Mutex::new(Snapshot::default()));
    if let Some(address) = &settings.metrics {
        let bound = metrics::serve(address, Arc::clone(&snapshot)).map_err(|error| Trouble::new(address, error))?;
        complain(&format!("metrics at http://{bound}/metrics\n"));
    }
    let mut source = source(settings)?;
    loop {
        let round = source.round(TICK);
        round.messages.into_iter().try_for_each(|message| watcher.take(message))?;
        watcher.tick(&snapshot);
        if round.is_over {
            break;
        }
        if stop.is_asked() {
            // What has arrived counts; what is still in the pipes of writers does not.
            let (round, rest) = source.last();
            round.messages.into_iter().try_for_each(|message| watcher.take(message))?;
            watcher.cease(round.is_over, rest);
            break;
        }
    }
    // What is written at the end may need the files that writers had.
    drop(source);
    if let Some(Address::Unix(path)) = &settings.listen {
        let _ = std::fs::remove_file(path);
    }
    let from = match (&settings.listen, &settings.file) {
        (Some(Address::Unix(path)), _) => format!("unix:{}", path.display()),
        (Some(Address::Tcp(address)), _) => format!("tcp:{address}"),
        (None, Some(path)) => source::name(path),
        (None, None) => "standard input".to_owned(),
    };
    Ok(watcher.finish(&snapshot, settings.html.as_deref(), &from))
}

fn source(settings: &Settings) -> Result<Source, Trouble> {
    match (&settings.listen, &settings.file) {
        (Some(address), _) => {
            let (sockets, bound) = sockets::listen(address).map_err(|error| Trouble::new("--listen", error))?;
            complain(&format!("listening at {bound}\n"));
            Ok(Source::Many(Box::new(sockets)))
        }
        (None, Some(path)) => {
            input::file(path, settings.follow).map_err(|error| Trouble::io(&source::name(path), &error))
        }
        (None, None) => input::stdin().map_err(|error| Trouble::io("standard input", &error)),
    }
}
