//! The flags that say which matrices of an object are tested.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use selvedge_driver::ObjectSettings;

use super::counted::approximation;
use super::quasi::ReadingFlags;

/// The flags as typed.
#[derive(Args)]
#[command(next_help_heading = "Objects")]
pub struct ObjectFlags {
    /// Test this matrix of an object, such as "enq(1), deq() | deq()"; may be given several times
    #[arg(long, value_name = "TEXT")]
    matrix: Vec<String>,

    /// Test the matrix of this shape, such as 4*4+0 or enq*deq+12: the calls of each thread, and of the first one before and after them
    #[arg(long, value_name = "SHAPE", allow_hyphen_values = true)]
    shape: Vec<String>,

    /// Allow operations out of order, by class, such as deq=2, push+pop=1 or *=2: quasi linearizability
    #[arg(long, value_name = "CLASSES", allow_hyphen_values = true)]
    quasi: Option<String>,

    /// Hold the object against a built-in one (queue, stack, priority-queue-min, set, counter, mutex, register=0, ...) instead of its
    /// reference or its own serial behaviour
    #[arg(long, value_name = "OBJECT")]
    specification: Option<String>,

    /// With --specification: count operations instead of searching, such as k=2; a violation is one, and none leaves it unknown
    #[arg(long, value_name = "k=N", value_parser = approximation)]
    approximate: Option<u8>,

    #[command(flatten)]
    readings: ReadingFlags,

    /// Test every matrix up to N threads with N calls each
    #[arg(long, value_name = "N")]
    auto: Option<u64>,

    /// How many threads random matrices have
    #[arg(long, value_name = "N")]
    threads: Option<u64>,

    /// How many calls each of them makes
    #[arg(long, value_name = "N")]
    ops: Option<u64>,

    /// How many random matrices are tested; --seed says which
    #[arg(long, value_name = "N")]
    samples: Option<u64>,

    /// Take serial histories from this file (.xml or .json) instead of running phase 1
    #[arg(long, value_name = "FILE")]
    observations: Option<PathBuf>,

    /// Write the serial histories of phase 1 to this file (.xml or .json)
    #[arg(long, value_name = "FILE")]
    write_observations: Option<PathBuf>,

    /// Report a matrix that fails as it is, without looking for a smaller one
    #[arg(long)]
    no_shrink: bool,

    /// Go on after a matrix that fails, and report on each; with --quasi, also after a history that fails, and count them
    #[arg(long)]
    every_matrix: bool,
}

/// An option that is one of a few words.
fn named(option: &str, flag: impl ValueEnum) -> String {
    let value = flag.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    format!("{option} {value}")
}

impl ObjectFlags {
    /// Those that were given, as they are typed.
    pub fn given(&self) -> Vec<&'static str> {
        let readings = &self.readings;
        let flags = [
            ("--matrix", !self.matrix.is_empty()),
            ("--shape", !self.shape.is_empty()),
            ("--quasi", self.quasi.is_some()),
            ("--specification", self.specification.is_some()),
            ("--approximate", self.approximate.is_some()),
            ("--reading", readings.reading.is_some()),
            ("--causality", readings.causality.is_some()),
            ("--order", readings.order.is_some()),
            ("--auto", self.auto.is_some()),
            ("--threads", self.threads.is_some()),
            ("--ops", self.ops.is_some()),
            ("--samples", self.samples.is_some()),
            ("--observations", self.observations.is_some()),
            ("--write-observations", self.write_observations.is_some()),
            ("--no-shrink", self.no_shrink),
            ("--every-matrix", self.every_matrix),
        ];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    /// The options that they stand for.
    pub fn resolve(self) -> ObjectSettings {
        let mut options: Vec<String> = self.matrix.iter().map(|text| format!("matrix {text}")).collect();
        options.extend(self.shape.iter().map(|text| format!("shape {text}")));
        options.extend(self.quasi.map(|text| format!("only-quasi {text}")));
        options.extend(self.specification.map(|text| format!("specification {text}")));
        options.extend(self.approximate.map(|k| format!("approximate k={k}")));
        options.extend(self.readings.reading.map(|flag| named("reading", flag)));
        options.extend(self.readings.causality.map(|flag| named("causality", flag)));
        options.extend(self.readings.order.map(|flag| named("order", flag)));
        let numbers = [("auto", self.auto), ("threads", self.threads), ("ops", self.ops), ("samples", self.samples)];
        options.extend(numbers.iter().filter_map(|(name, number)| Some(format!("{name} {}", (*number)?))));
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path).display().to_string();
        options.extend(self.observations.map(|path| format!("observations {}", absolute(path))));
        options.extend(self.write_observations.map(|path| format!("write-observations {}", absolute(path))));
        if self.no_shrink {
            options.push("no-shrink".to_owned());
        }
        if self.every_matrix {
            options.push("keep-going".to_owned());
        }
        ObjectSettings { options }
    }
}
