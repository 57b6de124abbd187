//! Any bytes, read as a model in CSP#: it is compiled or refused, and what is compiled takes some steps.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| selvedge_fuzz::model(bytes));
