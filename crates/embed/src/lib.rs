//! Puts the shared library of a dependency into the crate that is being compiled.
//!
//! A crate that is a `cdylib` as well as an `rlib` is compiled once, and leaves both files side by side. Cargo names the `rlib` to the
//! compiler (`--extern name=path/libname.rlib`), and the compiler has written both before whoever depends on them is compiled, because
//! cargo waits for the whole of a crate that is linked. So the bytes that are asked for exist when they are asked for, and cargo asks
//! again whenever they change. No second build is needed, and no file is guessed: not from a directory, where an older one may lie
//! beside it, and not from a profile's name.
//!
//! The bytes are compressed: a library of machine code is twice as large without, and is unpacked within milliseconds (`lz4_flex`).
//!
//! Where nothing is linked (`cargo check`, `clippy`, `doc`) cargo names metadata instead of an `rlib`; there is no shared library then,
//! and what is included is empty.

use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro::{Delimiter, Group, Literal, Punct, Spacing, TokenStream, TokenTree};

/// The shared library of a dependency, as a `&'static [u8]` that `lz4_flex::decompress_size_prepended` unpacks: `shared_library!(selvedge_runtime)`. It is
/// empty where the compiler is run for its messages only, and where the crate is no dependency on this platform.
///
/// A dependency that was linked and has no shared library is an error.
#[proc_macro]
pub fn shared_library(input: TokenStream) -> TokenStream {
    let name = input.to_string();
    match find(&name, arguments(env::args().skip(1))) {
        Ok(None) => "&[]".parse().expect("an empty slice"),
        Ok(Some(library)) => include(&library),
        Err(message) => call("::core::compile_error!", &message),
    }
}

/// The compiler's arguments; cargo writes them to a file when they are too long for a command line.
fn arguments(given: impl Iterator<Item = String>) -> Vec<String> {
    given
        .flat_map(|argument| match argument.strip_prefix('@').map(fs::read_to_string) {
            Some(Ok(file)) => file.lines().map(str::to_owned).collect(),
            _ => vec![argument],
        })
        .collect()
}

/// The shared library beside the `rlib` of this name; none where there is no `rlib`.
fn find(name: &str, arguments: Vec<String>) -> Result<Option<PathBuf>, String> {
    let named = |value: &str| {
        // Options may stand before the name: `noprelude:name=path`.
        let (left, path) = value.split_once('=')?;
        (left.rsplit(':').next() == Some(name)).then(|| PathBuf::from(path))
    };
    let value = |(at, argument): (usize, &String)| match argument.strip_prefix("--extern") {
        Some("") => arguments.get(at + 1).cloned(),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => None,
    };
    let found = arguments.iter().enumerate().filter_map(value).find_map(|value| named(&value));
    let Some(rlib) = found.filter(|path| path.extension().is_some_and(|extension| extension == "rlib")) else {
        return Ok(None);
    };
    let library = rlib.with_extension("so");
    match library.is_file() {
        true => Ok(Some(absolute(&library))),
        false => Err(format!("`{name}` was built without a shared library: expected `{}`", library.display())),
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// A block with the compressed bytes of a file. `include_bytes!` in a constant that nobody uses tells cargo that the file was read.
fn include(library: &Path) -> TokenStream {
    let refused = |why: String| call("::core::compile_error!", &format!("`{}`: {why}", library.display()));
    let Some(path) = library.to_str() else { return refused("the path is no text".to_owned()) };
    let bytes = match fs::read(library) {
        Ok(bytes) => lz4_flex::compress_prepend_size(&bytes),
        Err(error) => return refused(error.to_string()),
    };
    let mut block: TokenStream = "const _: &[u8] = ".parse().expect("the beginning of a constant");
    block.extend(call("::core::include_bytes!", path));
    block.extend([TokenTree::from(Punct::new(';', Spacing::Alone)), Literal::byte_string(&bytes).into()]);
    TokenTree::from(Group::new(Delimiter::Brace, block)).into()
}

/// A macro of the standard library, called with one string.
fn call(name: &str, text: &str) -> TokenStream {
    let argument = TokenStream::from(TokenTree::from(Literal::string(text)));
    let mut tokens: TokenStream = name.parse().expect("a path");
    tokens.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, argument))]);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a directory that has the files `libthere.rlib`, `libthere.so` and `liblonely.rlib`.
    fn check(name: &str, arguments: &[&str], expect: Result<Option<&str>, &str>) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path();
        for file in ["libthere.rlib", "libthere.so", "liblonely.rlib"] {
            fs::write(directory.join(file), b"").unwrap();
        }
        let place = |argument: &str| argument.replace("DIR", directory.to_str().unwrap());
        let found = find(name, arguments.iter().map(|argument| place(argument)).collect());
        let expect = expect.map(|path| path.map(|path| absolute(Path::new(&place(path))))).map_err(place);
        assert_eq!(found, expect, "{arguments:?}");
    }

    #[test]
    fn a_library_lies_beside_what_is_linked() {
        check("there", &["--extern", "there=DIR/libthere.rlib"], Ok(Some("DIR/libthere.so")));
        check("there", &["--extern=priv:there=DIR/libthere.rlib"], Ok(Some("DIR/libthere.so")));
        check("there", &["--extern", "other=DIR/libthere.rlib"], Ok(None));
        check("there", &["--extern", "there=DIR/libthere.rmeta"], Ok(None));
        check("there", &["--extern", "there"], Ok(None));
        check("there", &["--extern"], Ok(None));
        let message = "`lonely` was built without a shared library: expected `DIR/liblonely.so`";
        check("lonely", &["--extern", "lonely=DIR/liblonely.rlib"], Err(message));
    }

    #[test]
    fn arguments_may_stand_in_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("arguments");
        fs::write(&file, "--extern\nthere=a b/libthere.rlib\n").unwrap();
        let given = ["--edition=2024".to_owned(), format!("@{}", file.display())];
        assert_eq!(arguments(given.into_iter()), ["--edition=2024", "--extern", "there=a b/libthere.rlib"]);
    }
}
