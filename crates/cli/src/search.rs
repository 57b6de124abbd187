//! The flags that say how schedules are searched, of `selvedge test` and `cargo selvedge test` alike, and the settings that they stand for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use selvedge_protocol::{Leaks, Reuse, Search, Settings};

use crate::report::ci::OutputFlags;
use crate::{memory, quantity};

/// The bound of `bounded` and `portfolio` when nothing is said.
const PREEMPTIONS: u32 = 2;
/// The depth of `pct` when nothing is said.
const DEPTH: u32 = 3;
/// How many runs `random` and `pct` make when nothing is said: they have no end of their own.
const RUNS_SAMPLED: u64 = 10_000;

/// What each of so many processes may use where nothing is said, unless it is too little for any.
fn share_of_memory(jobs: u32) -> u64 {
    const LEAST: u64 = 512 << 20;
    (memory::default_max() / u64::from(jobs.max(1))).max(LEAST)
}

/// The flags as typed.
#[derive(Args)]
pub struct SearchFlags {
    /// How schedules are searched
    #[arg(long, value_name = "NAME", default_value = "portfolio")]
    strategy: StrategyName,

    /// The largest number of preemptions for bounded and portfolio [default: 2]
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,

    /// The depth of the bugs that pct looks for [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Stop a test after so many runs; 10000 for random and pct if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,

    /// The seed of random and pct
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Worker processes; as many as there are processors if not given. The
    /// result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: Option<u32>,

    /// A run with more steps is cut off, and the answer unknown
    // All steps of a run are kept until it ends: there must be an end that fits into memory.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    steps_max: u64,

    /// Which freed memory malloc hands out again
    #[arg(long, value_name = "NAME", default_value = "fifo")]
    reuse: ReuseName,

    /// Whether data races are reported; with off they are allowed, and plain
    /// accesses that race become steps of the search
    #[arg(long, value_name = "on|off")]
    races: Option<RacesName>,

    /// Whether waits for a condition may end before anybody signals, once in a run
    /// for each thread and place, as standards allow
    /// [default: on]
    #[arg(long, value_name = "on|off")]
    spurious: Option<SpuriousName>,

    /// What to do about threads that are still running when a test has returned
    /// [default: report]
    #[arg(long, value_name = "NAME")]
    leaks: Option<LeaksName>,

    /// Explore each turn of a loop that only tries again, such as a failed
    /// compare-and-swap
    #[arg(long)]
    no_retries: bool,

    /// Time for each test, such as 500ms, 60s or 5m; none for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::time)]
    time_max: TimeMax,

    /// Memory for each process of the search, such as 512MiB or 4GiB; if not
    /// given 4GiB or 3/4 of what is available, shared by all processes
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    memory_max: Option<u64>,

    /// Where findings are written
    #[arg(long, value_name = "DIR", default_value = "selvedge-findings")]
    findings: PathBuf,

    /// Print one JSON document on standard output, and the report on standard error
    #[arg(long)]
    json: bool,

    /// Write the report as a page for a browser here
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    output: OutputFlags,
}

// The alias keeps clap from reading `Option` as "the flag may be missing".
type TimeMax = Option<Duration>;

/// The strategies as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// Bounded first, then dpor in the time that is left
    Portfolio,
    /// Every schedule with 0, 1, ... preemptions, up to --preemptions
    Bounded,
    /// One schedule of each class of equivalent ones
    Dpor,
    /// Every schedule
    Dfs,
    /// Schedules drawn at random
    Random,
    /// Random priorities
    Pct,
}

/// The ways to reuse memory as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReuseName {
    /// What was freed first
    Fifo,
    /// What was freed last
    Lifo,
    /// Both, as a choice of the search
    Branch,
    /// Nothing
    Quarantine,
}

/// What is said of data races, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RacesName {
    /// Reported
    On,
    /// Allowed
    Off,
}

/// What is said of waits that end without a reason, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SpuriousName {
    /// Explored
    On,
    /// Left out
    Off,
}

/// What to do about threads that are left over, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LeaksName {
    /// Let them run to their end, and report one where nothing worse is found
    Report,
    /// Let them run to their end; one that never ends is no error either
    Allow,
    /// Stop at the first, as other errors do
    Stop,
}

/// The flags as resolved.
pub struct Asked {
    /// What the runtime is asked to do, with each test.
    pub search: Settings,
    /// What is said of data races, if anything is: it takes the place of what objects say.
    pub races: Option<bool>,
    /// And of waits that end without a reason.
    pub spurious: Option<bool>,
    /// How many processes may work.
    pub jobs: u32,
    /// Time for each test.
    pub time_max: Option<Duration>,
    /// Where findings are written.
    pub findings: PathBuf,
    /// Whether a document is printed.
    pub json: bool,
    /// Where the page is written.
    pub html: Option<PathBuf>,
    /// What else is written.
    pub output: OutputFlags,
}

impl SearchFlags {
    /// Ends the process where a flag was given that the strategy has no use for: whoever gave it believes that it was heeded.
    fn refuse_what_has_no_effect(&self, search: Search) {
        let bounds = matches!(search, Search::Bounded | Search::Portfolio);
        let flags = [
            ("--preemptions", self.preemptions.is_some() && !bounds, "bounded and portfolio"),
            ("--depth", self.depth.is_some() && search != Search::Pct, "pct"),
            (
                "--no-retries",
                self.no_retries && !matches!(search, Search::Dpor | Search::Portfolio),
                "dpor and portfolio",
            ),
        ];
        let name = self.strategy.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        for (flag, refused, strategies) in flags {
            if refused {
                let said = format!("{flag} is for the strategies {strategies}, and this one is {name}\n");
                clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, said).exit();
            }
        }
    }

    /// Resolves the flags.
    pub fn resolve(self) -> Asked {
        let search = match self.strategy {
            StrategyName::Portfolio => Search::Portfolio,
            StrategyName::Bounded => Search::Bounded,
            StrategyName::Dpor => Search::Dpor,
            StrategyName::Dfs => Search::Dfs,
            StrategyName::Random => Search::Random,
            StrategyName::Pct => Search::Pct,
        };
        let reuse = match self.reuse {
            ReuseName::Fifo => Reuse::Fifo,
            ReuseName::Lifo => Reuse::Lifo,
            ReuseName::Branch => Reuse::Branch,
            ReuseName::Quarantine => Reuse::Quarantine,
        };
        let leaks = self.leaks.map(|leaks| match leaks {
            LeaksName::Report => Leaks::Report,
            LeaksName::Allow => Leaks::Allow,
            LeaksName::Stop => Leaks::Stop,
        });
        self.refuse_what_has_no_effect(search);
        let sampled = matches!(search, Search::Random | Search::Pct);
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32).min(256);
        let races = self.races.map(|name| name == RacesName::On);
        let spurious = self.spurious.map(|name| name == SpuriousName::On);
        let jobs = self.jobs.unwrap_or_else(processors);
        let search = Settings {
            search,
            preemptions: self.preemptions.unwrap_or(PREEMPTIONS),
            depth: self.depth.unwrap_or(DEPTH),
            runs_max: self.runs.unwrap_or(if sampled { RUNS_SAMPLED } else { u64::MAX }),
            seed: self.seed,
            steps_max: self.steps_max,
            time_max: self.time_max.map(|time| time.as_secs_f64()),
            memory_max: Some(self.memory_max.unwrap_or_else(|| share_of_memory(jobs))),
            reuse,
            retries: !self.no_retries,
            leaks,
            jobs,
            races: races != Some(false),
            spurious: spurious != Some(false),
            ..Settings::default()
        };
        let (findings, json, html, output) = (self.findings, self.json, self.html, self.output);
        Asked { search, races, spurious, jobs, time_max: self.time_max, findings, json, html, output }
    }
}
