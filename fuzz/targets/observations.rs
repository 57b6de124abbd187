//! Any bytes, read as an observation file, in XML and in JSON: it is read or refused, and what was read survives being written.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selvedge_fuzz::observations(bytes));
