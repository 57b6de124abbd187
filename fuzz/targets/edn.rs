//! Any bytes, read as `edn`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_history::format::Format;

fuzz_target!(|bytes: &[u8]| selvedge_fuzz::importer(Format::Edn, bytes));
