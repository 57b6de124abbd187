//! Stands in for `as` where somebody else compiles tests: the compilers look for it in a directory that they are told (`-B`), and pass it what they wrote. It puts calls into
//! that as [`super::compile`] does, and leaves the rest to the real one.
//!
//! Which standard a file was compiled by stands in its debug information, as far as the compiler writes it there: gcc does; clang tells C from C++ only, and C++ counts as C++20.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::assembly::{Author, with_calls};

/// The name under which compilers look for it.
pub const ASSEMBLER: &str = "as";

/// What the compiler called it with: its exit code.
pub fn assemble(arguments: &[OsString]) -> std::io::Result<i32> {
    let takes_value = |flag: &OsString| ["-o", "-I", "--MD", "-D", "--defsym"].iter().any(|other| flag == other);
    let is_file = |at: &usize| {
        let is_value = *at > 0 && takes_value(&arguments[at - 1]);
        !is_value && (arguments[*at] == "-" || !arguments[*at].to_string_lossy().starts_with('-'))
    };
    let file = (0..arguments.len()).rev().find(is_file).filter(|&at| arguments[at] != "-");
    let text = match file {
        Some(at) => std::fs::read(Path::new(&arguments[at]))?,
        None => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            text
        }
    };
    let text = String::from_utf8_lossy(&text);
    let text =
        if is_compiled(&text) { with_calls(&text, author(&text), has_sequences(&text)) } else { text.into_owned() };
    // The real one reads what is written here from its standard input.
    let arguments = arguments.iter().enumerate().filter(|(at, one)| Some(*at) != file && *one != "-");
    let mut real =
        Command::new(ASSEMBLER).args(arguments.map(|(_, one)| one)).arg("-").stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = real.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    Ok(real.wait()?.code().unwrap_or(1))
}

/// Whether it calls the runtime: other files of a project are left as they are.
fn is_compiled(text: &str) -> bool {
    text.contains("__tsan_")
}

fn author(text: &str) -> Author {
    let is_clang = text.lines().rev().any(|line| line.contains(".ident") && line.contains("clang"));
    if is_clang { Author::Clang } else { Author::Gcc }
}

/// Whether a thread's later stores go on with what it released, by the standard of the file.
fn has_sequences(text: &str) -> bool {
    const OLD_CPP: [&str; 5] = ["GNU C++98 ", "GNU C++03 ", "GNU C++11 ", "GNU C++14 ", "GNU C++17 "];
    if let Some(at) = text.find("\"GNU C") {
        let producer = &text[at + 1..];
        return !producer.starts_with("GNU C++") || OLD_CPP.iter().any(|start| producer.starts_with(start));
    }
    // Of clang: the number of the language in debug information, which is C's.
    const C: [&str; 4] = ["1", "2", "12", "29"];
    // What the attribute is called stands in another section, too, as a byte.
    let language = text.lines().find(|line| line.contains("DW_AT_language") && line.trim_start().starts_with(".short"));
    let number = language.and_then(|line| line.split_whitespace().nth(1));
    number.is_some_and(|number| C.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_stands_in_debug_information() {
        let check = |text: &str, expected| assert_eq!(has_sequences(text), expected, "{text}");
        check("\t.string\t\"GNU C17 12.2.0 -g\"\n", true);
        check("\t.string\t\"GNU C11 12.2.0 -std=c11\"\n", true);
        check("\t.string\t\"GNU C++17 12.2.0\"\n", true);
        check("\t.string\t\"GNU C++20 12.2.0\"\n", false);
        let abbreviation = "\t.byte\t19                              # DW_AT_language\n";
        check(&format!("{abbreviation}\t.short\t12                              # DW_AT_language\n"), true);
        check("\t.short\t33                              # DW_AT_language\n", false);
        check("", false);
    }
}
