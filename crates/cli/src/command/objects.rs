//! The flags that say which matrices of an object are tested.

use std::path::PathBuf;

use clap::Args;
use selvedge_driver::ObjectSettings;

/// The flags as typed.
#[derive(Args)]
#[command(next_help_heading = "Objects")]
pub struct ObjectFlags {
    /// Test this matrix of an object, such as "enq(1), deq() | deq()"; may be given several times
    #[arg(long, value_name = "TEXT")]
    matrix: Vec<String>,

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

    /// Go on after a matrix that fails, and report on each
    #[arg(long)]
    every_matrix: bool,
}

impl ObjectFlags {
    /// The options that they stand for.
    pub fn resolve(self) -> ObjectSettings {
        let mut options: Vec<String> = self.matrix.iter().map(|text| format!("matrix {text}")).collect();
        let numbers = [("auto", self.auto), ("threads", self.threads), ("ops", self.ops), ("samples", self.samples)];
        options.extend(numbers.iter().filter_map(|(name, number)| Some(format!("{name} {}", (*number)?))));
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path).display().to_string();
        options.extend(self.observations.map(|path| format!("observations {}", absolute(path))));
        options.extend(self.write_observations.map(|path| format!("write-observations {}", absolute(path))));
        if self.every_matrix {
            options.push("keep-going".to_owned());
        }
        ObjectSettings { options }
    }
}
