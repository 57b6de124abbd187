//! The flags that say how schedules are searched, and the settings that they stand for.

use std::time::Duration;

use clap::{Args, ValueEnum};
use selvedge_cli::quantity;
use selvedge_driver::{Search, Settings};

/// How many runs `random` and `pct` make when nothing is said: they have no end of their own.
const RUNS_SAMPLED: u64 = 10_000;

/// The flags as typed.
#[derive(Args)]
pub struct SearchFlags {
    /// How schedules are searched
    #[arg(long, value_name = "NAME", default_value = "portfolio")]
    strategy: StrategyName,

    /// The largest number of preemptions for bounded and portfolio
    #[arg(long, value_name = "N", default_value_t = 2)]
    preemptions: u32,

    /// Stop a search after so many runs; 10000 for random and pct if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,

    /// The seed of random and pct
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// A run with more steps is a livelock
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps_max: u64,

    /// Time for each search, such as 500ms, 60s or 5m; none for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::time)]
    time_max: TimeMax,
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

impl SearchFlags {
    /// What the runtime is asked to do, for each call of `selvedge::explore`.
    pub fn resolve(self) -> Settings {
        let search = match self.strategy {
            StrategyName::Portfolio => Search::Portfolio,
            StrategyName::Bounded => Search::Bounded,
            StrategyName::Dpor => Search::Dpor,
            StrategyName::Dfs => Search::Dfs,
            StrategyName::Random => Search::Random,
            StrategyName::Pct => Search::Pct,
        };
        let sampled = matches!(search, Search::Random | Search::Pct);
        Settings {
            search,
            preemptions: self.preemptions,
            runs_max: self.runs.unwrap_or(if sampled { RUNS_SAMPLED } else { u64::MAX }),
            seed: self.seed,
            steps_max: self.steps_max,
            time_max: self.time_max.map(|time| time.as_secs_f64()),
            ..Settings::default()
        }
    }
}
