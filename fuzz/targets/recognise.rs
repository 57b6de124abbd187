//! Any bytes, in the format that they look like.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selvedge_fuzz::recognised(bytes));
