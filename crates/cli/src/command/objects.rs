//! The flags that say which matrices of an object are tested.

use std::path::PathBuf;

use clap::Args;
use selvedge_protocol::{Given, ObjectOptions};

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
    auto: Option<usize>,

    /// How many threads random matrices have
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// How many calls each of them makes
    #[arg(long, value_name = "N")]
    ops: Option<usize>,

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

impl ObjectFlags {
    /// The options that they stand for.
    pub fn resolve(self) -> ObjectOptions {
        let matrices = self.matrix.into_iter().map(Given::Matrix).chain(self.shape.into_iter().map(Given::Shape));
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path).display().to_string();
        ObjectOptions {
            matrices: matrices.collect(),
            quasi: self.quasi.into_iter().collect(),
            specification: self.specification,
            approximate: self.approximate.map(usize::from),
            reading: self.readings.reading.map(Into::into),
            causality: self.readings.causality.map(Into::into),
            order: self.readings.order.map(Into::into),
            auto: self.auto,
            threads: self.threads,
            ops: self.ops,
            samples: self.samples,
            observations: self.observations.map(absolute),
            write_observations: self.write_observations.map(absolute),
            as_it_is: self.no_shrink,
            keep_going: self.every_matrix,
            ..ObjectOptions::default()
        }
    }
}
