//! Explores a process of a text model in full and prints how fast: `explore_text FILE PROCESS`.

use std::process::ExitCode;

use selvedge_model::language::Model;
use selvedge_model::{Settings, explore};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(process)) = (args.next(), args.next()) else {
        eprintln!("usage: explore_text FILE PROCESS");
        return ExitCode::from(2);
    };
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let model = match Model::new(&text) {
        Ok(model) => model,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("{}", error.show(&file, &text)));
            return ExitCode::from(2);
        }
    };
    let system = model.process(&process, &[]).expect("there is such a process without parameters");
    let answer = explore(&system, &Settings::default()).expect("the model has no fault");
    let (seen, seconds) = (answer.statistics, answer.statistics.elapsed.as_secs_f64());
    println!(
        "{} states, {} transitions, {seconds:.2} s, {:.0} states/s, {:.1} bytes a state",
        seen.states,
        seen.transitions,
        seen.states as f64 / seconds,
        seen.bytes as f64 / seen.states as f64,
    );
    ExitCode::SUCCESS
}
