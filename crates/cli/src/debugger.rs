//! Debuggers: which there are, and how one is made to run a replay up to the failing step.
//!
//! The runtime traps at the failing step when a debugger is there, and else waits for one ([`selvedge_protocol::Settings::stop_at_failure`]), so a
//! debugger needs no script: it runs the program and stops by itself. Invariant: the environment of the program is set inside of the
//! debugger, never its own, which the runtime must not be loaded into.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;

/// A debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Debugger {
    /// GNU's.
    Gdb(PathBuf),
    /// LLVM's.
    Lldb(PathBuf),
    /// Whichever somebody attaches.
    ByHand,
}

impl Debugger {
    /// The one of that name, or the first that is on the path.
    pub fn find(name: Option<&str>) -> Result<Self, String> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        Self::find_in(name, &std::env::split_paths(&paths).collect::<Vec<_>>())
    }

    fn find_in(name: Option<&str>, paths: &[PathBuf]) -> Result<Self, String> {
        let names = match name {
            Some("none") => return Ok(Debugger::ByHand),
            Some(name) => vec![name],
            None => vec!["gdb", "lldb"],
        };
        for name in &names {
            let found = match Path::new(name).components().count() {
                1 => paths.iter().map(|path| path.join(name)).find(|path| path.is_file()),
                _ => Some(PathBuf::from(name)).filter(|path| path.is_file()),
            };
            if let Some(path) = found {
                let is_lldb = path.file_name().is_some_and(|file| file.to_string_lossy().contains("lldb"));
                return Ok(if is_lldb { Debugger::Lldb(path) } else { Debugger::Gdb(path) });
            }
        }
        Err(match names.as_slice() {
            [name] => format!("there is no debugger `{name}`"),
            _ => "there is no debugger: expected gdb or lldb on the PATH".to_owned(),
        })
    }

    /// The words that make it run the program up to the failing step and show the stack there.
    fn command(&self, program: &Path, arguments: &[String], environment: &[(String, String)]) -> Option<Command> {
        let program = program.to_string_lossy().into_owned();
        let mut command;
        match self {
            Debugger::ByHand => return None,
            Debugger::Gdb(path) => {
                command = Command::new(path);
                command.arg("-q");
                for (name, value) in environment {
                    command.arg("-ex").arg(format!("set environment {name} {value}"));
                }
                // The program is started as it is, not by a shell that the runtime would be loaded into; and the runtime handles its own signals.
                let signals = "handle SIGILL nostop noprint pass";
                for line in ["set startup-with-shell off", "set pagination off", signals, "run", "backtrace"] {
                    command.args(["-ex", line]);
                }
                command.args(["--args", &program]).args(arguments);
            }
            Debugger::Lldb(path) => {
                command = Command::new(path);
                for (name, value) in environment {
                    let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
                    command.arg("-o").arg(format!("settings append target.env-vars \"{name}={quoted}\""));
                }
                // Signals are known when there is a process.
                let signals = "process handle --pass true --stop false --notify false SIGILL";
                for line in ["process launch --stop-at-entry", signals, "continue", "thread backtrace"] {
                    command.args(["-o", line]);
                }
                command.args(["--", &program]).args(arguments);
            }
        }
        Some(command)
    }

    /// Runs the program under the debugger, with the terminal; by hand, waits until somebody has attached one and the program has ended.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[String],
        environment: &[(String, String)],
        directory: Option<&Path>,
    ) -> Result<Exit, String> {
        let mut command = self.command(program, arguments, environment).unwrap_or_else(|| {
            let mut command = Command::new(program);
            command.args(arguments).envs(environment.iter().cloned());
            command
        });
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let name = command.get_program().to_string_lossy().into_owned();
        // Ctrl-C is for the program that is being debugged. Where it cannot be kept from here, it ends both.
        let _ = ctrlc::set_handler(|| {});
        command.status().map_err(|error| format!("`{name}` could not be started: {error}"))?;
        Ok(Exit::Pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debuggers_are_found_on_the_path() {
        let made = tempfile::tempdir().unwrap();
        let directory = made.path();
        let paths = [PathBuf::from("/nowhere"), directory.to_owned()];
        let find = |name| Debugger::find_in(name, &paths);
        assert_eq!(find(None), Err("there is no debugger: expected gdb or lldb on the PATH".to_owned()));
        assert_eq!(find(Some("gdb")), Err("there is no debugger `gdb`".to_owned()));
        assert_eq!(find(Some("none")), Ok(Debugger::ByHand));
        std::fs::write(directory.join("lldb"), "").unwrap();
        assert_eq!(find(None), Ok(Debugger::Lldb(directory.join("lldb"))));
        std::fs::write(directory.join("gdb"), "").unwrap();
        assert_eq!(find(None), Ok(Debugger::Gdb(directory.join("gdb"))));
        let path = directory.join("gdb");
        assert_eq!(find(path.to_str()), Ok(Debugger::Gdb(path.clone())));
    }

    #[test]
    fn the_environment_is_that_of_the_program_alone() {
        let environment = [("LD_PRELOAD".to_owned(), "x \"y\"".to_owned())];
        for debugger in [Debugger::Gdb("gdb".into()), Debugger::Lldb("lldb".into())] {
            let command = debugger.command(Path::new("p"), &["a".to_owned()], &environment).unwrap();
            assert_eq!(command.get_envs().count(), 0);
            let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
            assert!(words.iter().any(|word| word.contains("LD_PRELOAD")), "{words:?}");
            assert_eq!(words[words.len() - 2..], ["p", "a"]);
        }
        assert!(Debugger::ByHand.command(Path::new("p"), &[], &environment).is_none());
    }
}
