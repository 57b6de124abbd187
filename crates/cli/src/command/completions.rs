//! `selvedge completions` and `selvedge man`: what shells and `man` read, made from the flags themselves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::report::print::{complain, say};
use crate::trouble::Trouble;

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "\
Where they belong:
  bash  ~/.local/share/bash-completion/completions/selvedge
  zsh   _selvedge in a directory of $fpath
  fish  ~/.config/fish/completions/selvedge.fish")]
pub struct Flags {
    /// The shell
    shell: Shell,
}

/// The flags as typed.
#[derive(Args)]
#[command(after_help = "Then: man --local-file DIR/selvedge-check.1")]
pub struct ManFlags {
    /// The directory that takes them; it is made if it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints the completions.
pub fn print(flags: &Flags) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(flags.shell, &mut crate::Flags::command(), "selvedge", &mut text);
    say(&String::from_utf8_lossy(&text))
}

/// Writes a page for the tool and one for each command.
pub fn man(flags: &ManFlags) -> Exit {
    let directory = &flags.directory;
    let written = fs::create_dir_all(directory).and_then(|()| {
        let mut command = crate::Flags::command();
        command.build();
        page(&command, "selvedge", directory)?;
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            page(sub, &format!("selvedge-{}", sub.get_name()), directory)?;
        }
        page(&crate::cargo::command(), "cargo-selvedge", directory)
    });
    match written {
        Ok(()) => Exit::Pass,
        Err(error) => {
            complain(&format!("{}\n", Trouble::io(&directory.display().to_string(), &error)));
            Exit::Input
        }
    }
}

fn page(command: &Command, name: &str, directory: &Path) -> io::Result<()> {
    let mut text = Vec::new();
    // The page is called what the file is called.
    let command = command.clone().name(name.to_owned()).bin_name(name.replacen('-', " ", 1));
    clap_mangen::Man::new(command).title(name.to_owned()).render(&mut text)?;
    fs::write(directory.join(format!("{name}.1")), text)
}
