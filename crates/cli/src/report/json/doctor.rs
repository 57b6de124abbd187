//! The document of `doctor`.

use serde::Serialize;

use super::{VERSION, pretty};

#[derive(Serialize)]
struct DoctorDocument<'a, F> {
    findings: &'a [F],
    usable: bool,
    version: &'static str,
}

/// The document: what was seen, one thing after the other.
pub fn doctor(usable: bool, findings: &[impl Serialize]) -> String {
    pretty(&DoctorDocument { findings, usable, version: VERSION })
}
