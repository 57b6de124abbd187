//! The headers that tests in C and C++ are compiled with. They are part of the tool, so that they always fit the runtime.

use std::path::Path;
use std::{fs, io};

use crate::hash::hash;

/// `selvedge.h`, which tests include.
pub const HEADER: &str = include_str!("../include/selvedge.h");
/// What is read in place of libstdc++'s own, and reads that.
const CONFIGURATION: &str = include_str!("../include/before-libstdc++/bits/c++config.h");
/// The directory, beside `selvedge.h`, of headers that stand before those of libstdc++.
pub const BEFORE_LIBSTDCXX: &str = "before-libstdc++";

/// Writes all of them below a directory.
pub fn write_headers(include: &Path) -> io::Result<()> {
    let before = include.join(BEFORE_LIBSTDCXX).join("bits");
    fs::create_dir_all(&before)?;
    fs::write(include.join("selvedge.h"), HEADER)?;
    fs::write(before.join("c++config.h"), CONFIGURATION)
}

/// What [`write_headers`] writes, in a few digits.
pub fn headers_hash() -> u64 {
    hash([HEADER, CONFIGURATION].concat().as_bytes())
}
