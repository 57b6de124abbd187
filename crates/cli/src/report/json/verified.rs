//! The document of a certificate that was checked.

use selvedge_history::Value;
use serde::Serialize;

use super::history::{AssumedValue, assumed_values};
use super::{VERSION, round, write};
use crate::report::outcome::Verified;
use crate::report::verdict::{Coverage, Criterion, VerdictName};

/// What `verify` answers.
#[derive(Serialize)]
struct VerifyDocument<'a> {
    /// The history.
    file: &'a str,
    certificate: &'a str,
    /// A pass when the certificate is right, whatever it claims.
    verdict: VerdictName,
    criterion: Criterion,
    /// Always all of the certificate.
    coverage: Coverage,
    seconds: f64,
    version: &'static str,
    format: &'static str,
    /// The object that the certificate names.
    object: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<&'a Value>,
    operations: u64,
    /// What the certificate claims of the history.
    claim: VerdictName,
    /// What a pass takes for granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<AssumedValue<'a>>,
    /// Why the certificate is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
}

/// The document.
pub fn verified(verified: &Verified<'_>) -> String {
    let (of, certificate) = (verified.of, verified.certificate);
    write(&VerifyDocument {
        file: of.file,
        certificate: verified.file,
        verdict: verified.verdict(),
        criterion: certificate.criterion(),
        coverage: Coverage::Exhaustive,
        seconds: round(of.seconds),
        version: VERSION,
        format: of.format,
        object: certificate.object(),
        initial: of.initial,
        operations: of.log.history.len() as u64,
        claim: certificate.claim(),
        assumed: assumed_values(&verified.assumed()),
        refusal: verified.refusal.as_ref().map(ToString::to_string),
    })
}
