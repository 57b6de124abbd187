//! `selvedge check --quasi`: decides whether recorded histories are quasi linearizable.

use clap::{Args, ValueEnum};
use selvedge_history::object::Kind;
use selvedge_history::quasi::{self, Answer, Causality, CheckError, Order, Reading, Relaxation, Rules};
use selvedge_history::{Budget, Log, Value};
use selvedge_protocol as protocol;

use super::usage;
use crate::report::outcome::Relaxed;

/// The largest factor that `--quasi-min` tries unless a larger one is given.
const FACTOR_TRIED: u32 = 16;

/// The flags as typed.
#[derive(Args)]
pub struct QuasiFlags {
    /// Allow operations out of order, by class, such as deq=2, deq=2,deq:empty=0, push+pop=1 or *=2
    #[arg(long, value_name = "CLASSES", allow_hyphen_values = true)]
    quasi: Option<String>,

    /// Find the smallest factor that passes, for the classes of --quasi or for all operations together
    #[arg(long)]
    quasi_min: bool,

    #[command(flatten)]
    readings: ReadingFlags,
}

/// How quasi linearizability is read, as typed.
#[derive(Args)]
pub struct ReadingFlags {
    /// Whether it suffices that the history could go on to be right [default: prefix]
    #[arg(long, value_name = "READING")]
    pub reading: Option<ReadingFlag>,

    /// Whether a value may come out before it went in [default: causal]
    #[arg(long, value_name = "CAUSALITY")]
    pub causality: Option<CausalityFlag>,

    /// How far out of order is measured [default: distance]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<OrderFlag>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ReadingFlag {
    /// Some continuation makes it right
    Prefix,
    /// It is right by itself
    Closed,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum CausalityFlag {
    /// Never before its insertion was called
    Causal,
    /// Whenever the factors allow it
    Free,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum OrderFlag {
    /// No more than K places from where it belongs
    Distance,
    /// One of the first K+1, the first passed over at most K times
    Strict,
}

impl From<ReadingFlag> for protocol::Reading {
    fn from(flag: ReadingFlag) -> Self {
        match flag {
            ReadingFlag::Prefix => protocol::Reading::Prefix,
            ReadingFlag::Closed => protocol::Reading::Closed,
        }
    }
}

impl From<CausalityFlag> for protocol::Causality {
    fn from(flag: CausalityFlag) -> Self {
        match flag {
            CausalityFlag::Causal => protocol::Causality::Causal,
            CausalityFlag::Free => protocol::Causality::Free,
        }
    }
}

impl From<OrderFlag> for protocol::Order {
    fn from(flag: OrderFlag) -> Self {
        match flag {
            OrderFlag::Distance => protocol::Order::Distance,
            OrderFlag::Strict => protocol::Order::Strict,
        }
    }
}

/// The flags as resolved.
#[derive(Clone)]
pub struct QuasiSettings {
    relaxation: Relaxation,
    rules: Rules,
    /// The largest factor to try, where the smallest is asked for.
    least: Option<u32>,
}

impl QuasiFlags {
    /// Resolves the flags; `None` where linearizability is asked for.
    pub fn resolve(self) -> Result<Option<QuasiSettings>, clap::Error> {
        let detail = [
            ("--reading", self.readings.reading.is_some()),
            ("--causality", self.readings.causality.is_some()),
            ("--order", self.readings.order.is_some()),
        ];
        let relaxation = match &self.quasi {
            Some(text) => Relaxation::parse(text).map_err(|error| usage(&format!("--quasi: {error}")))?,
            None if self.quasi_min => Relaxation::parse("*").expect("all methods"),
            None => {
                return match detail.iter().find(|(_, given)| *given) {
                    Some((flag, _)) => Err(usage(&format!("{flag} goes with --quasi or --quasi-min"))),
                    None => Ok(None),
                };
            }
        };
        let rules = Rules {
            factors: Vec::new(),
            reading: match self.readings.reading {
                Some(ReadingFlag::Closed) => Reading::Closed,
                Some(ReadingFlag::Prefix) | None => Reading::Prefix,
            },
            causality: match self.readings.causality {
                Some(CausalityFlag::Free) => Causality::Free,
                Some(CausalityFlag::Causal) | None => Causality::Causal,
            },
            order: match self.readings.order {
                Some(OrderFlag::Strict) => Order::Strict,
                Some(OrderFlag::Distance) | None => Order::Distance,
            },
        };
        let least = self.quasi_min.then(|| relaxation.factor_max().map_or(FACTOR_TRIED, |most| most.max(FACTOR_TRIED)));
        Ok(Some(QuasiSettings { relaxation, rules, least }))
    }
}

impl QuasiSettings {
    /// Decides a history: what was allowed, and the answer.
    pub fn answer(
        &self,
        log: &Log,
        kind: Kind,
        initial: Option<&Value>,
        budget: &Budget,
    ) -> Result<(Relaxed, Answer), CheckError> {
        let (relaxation, factor, answer) = match self.least {
            None => {
                let answer = quasi::check(log, kind, initial, &self.relaxation, &self.rules, budget)?;
                (self.relaxation.clone(), None, answer)
            }
            Some(most) => {
                let asked = &self.relaxation;
                let (factor, answer) = quasi::least_factor(log, kind, initial, asked, &self.rules, most, budget)?;
                (asked.with_factor(factor.unwrap_or(most)), factor, answer)
            }
        };
        let least = self.least.map(|most| (factor, most));
        Ok((Relaxed { classes: relaxation.to_string(), rules: self.rules.clone(), least }, answer))
    }
}
