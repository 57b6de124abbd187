//! `--time-max` and `--memory-max`: what was asked for, and what holds.

use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::{memory, quantity, watch};

/// The flags of every command that may take long.
#[derive(Args, Debug)]
pub struct LimitFlags {
    /// Time for all files together, such as 500ms, 60s or 5m; none for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::time)]
    // The alias keeps clap from reading `Option` as "the flag may be missing".
    time_max: TimeMax,

    /// Memory, such as 512MiB or 4GiB; 4GiB or 3/4 of what is available, whichever is smaller, if not given
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    memory_max: Option<u64>,
}

type TimeMax = Option<Duration>;

/// The limits that hold.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When the process started: time is counted from here.
    pub started: Instant,
    /// How long it may take, if that is limited.
    pub time_max: Option<Duration>,
    /// How many bytes it may use.
    pub memory_max: u64,
    /// How long the work is given for its own answer once a limit is reached.
    pub grace: Duration,
}

impl LimitFlags {
    /// Picks what was not given.
    pub fn resolve(self, started: Instant) -> Limits {
        let memory_max = self.memory_max.unwrap_or_else(memory::default_max);
        Limits { started, time_max: self.time_max, memory_max, grace: watch::GRACE }
    }
}

/// The limits as written in JSON: giving them back reproduces the run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Stated {
    /// In seconds; `null` for no limit.
    pub time_max: Option<f64>,
    /// In bytes.
    pub memory_max: u64,
}

impl Limits {
    /// The limits for JSON.
    pub fn stated(&self) -> Stated {
        Stated { time_max: self.time_max.map(|time| time.as_secs_f64()), memory_max: self.memory_max }
    }
}
