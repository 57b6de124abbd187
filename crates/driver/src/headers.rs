//! The headers that tests in C and C++ are compiled with. They are part of the tool, so that they always fit the runtime.

use std::path::Path;
use std::{fs, io};

use crate::hash::hash;

/// `selvedge.h`, which tests include.
pub const HEADER: &str = include_str!("../include/selvedge.h");
/// What compilers know of functions that a C file does not declare.
const UNDECLARED: &str = include_str!("../include/undeclared.h");
/// Its name, beside `selvedge.h`.
pub const UNDECLARED_NAME: &str = "undeclared.h";
/// What is read in place of libstdc++'s own, and reads that.
const CONFIGURATION: &str = include_str!("../include/before-libstdc++/bits/c++config.h");
/// The directory, beside `selvedge.h`, of headers that stand before those of libstdc++.
pub const BEFORE_LIBSTDCXX: &str = "before-libstdc++";

/// Writes all of them below a directory.
pub fn write_headers(include: &Path) -> io::Result<()> {
    let before = include.join(BEFORE_LIBSTDCXX).join("bits");
    fs::create_dir_all(&before)?;
    fs::write(include.join("selvedge.h"), HEADER)?;
    fs::write(include.join(UNDECLARED_NAME), UNDECLARED)?;
    fs::write(before.join("c++config.h"), CONFIGURATION)
}

/// What [`write_headers`] writes, in a few digits.
pub fn headers_hash() -> u64 {
    hash([HEADER, CONFIGURATION, UNDECLARED].concat().as_bytes())
}
