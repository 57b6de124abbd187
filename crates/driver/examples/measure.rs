//! Compiles C or C++ files and searches their schedules: `measure STRATEGY FILE [compiler flags]`.
//!
//! Needs the runtime beside it: `cargo build --release -p selvedge-runtime` first. `RUNS` in the environment limits the runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use selvedge_driver::{Compiler, Program, compile, run};
use selvedge_protocol::{Search, Settings};

fn measure() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [strategy, file, flags @ ..] = arguments.as_slice() else {
        return Err("usage: measure bounded|dpor|dfs|random|pct|portfolio FILE [compiler flags]".into());
    };
    let search = Search::of_name(strategy).ok_or_else(|| format!("there is no strategy `{strategy}`"))?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile = own.parent().and_then(Path::parent).ok_or("no directory above the program")?;
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let runtime = profile.join("libselvedge_runtime.so");
    let compiler = Compiler { cc: "gcc".into(), flags: flags.to_vec(), include, runtime: runtime.clone() };
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let directory = scratch.path();
    let path = directory.join("program");
    compile(&compiler, &[PathBuf::from(file)], &path).map_err(|error| error.to_string())?;
    let runs_max = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(u64::MAX);
    let settings = Settings { search, runs_max, ..Settings::default() };
    let program = Program::new(path, &runtime).map_err(|error| error.to_string())?;
    let session = run(&program, &settings, directory).map_err(|error| error.to_string());
    for test in session?.report.tests {
        let rate = test.runs as f64 / test.cpu_seconds.max(1e-9);
        println!(
            "{}: {} runs, {} redundant, {} steps, {:.3} CPU seconds, {rate:.0} runs a CPU second, {:?}",
            test.test, test.runs, test.redundant, test.points, test.cpu_seconds, test.coverage
        );
        for finding in test.findings {
            println!("  {}: {} (run {}, schedule {})", finding.kind, finding.cause, finding.run, finding.schedule);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
