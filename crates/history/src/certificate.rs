//! Certificates: evidence written down, so that somebody else can check it later.
//!
//! A certificate is one JSON document. It carries a version, and a version that is not known is refused.

use serde::{Deserialize, Serialize};

use crate::Value;
use crate::evidence::{Failure, Linearization};

/// The version written by this crate, and the only one read.
pub const VERSION: u32 = 1;

/// A verdict on one history, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Says what kind of file this is: always `"certificate"`.
    pub selvedge: String,
    /// The version of the format.
    pub version: u32,
    /// The criterion decided, `"linearizability"`.
    pub criterion: String,
    /// The object's name, as `--object` takes it.
    pub object: String,
    /// The initial value, where the object has one and one was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// How many operations the history has.
    pub operations: u64,
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
}

/// What a certificate claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Claim {
    /// Every part is linearizable: one order each.
    Pass {
        /// The orders.
        linearizations: Vec<Linearization>,
    },
    /// One part is not.
    Fail {
        /// Which, and why.
        #[serde(flatten)]
        failure: Failure,
    },
}

impl Certificate {
    /// A certificate of the current version.
    pub fn new(object: &str, initial: Option<Value>, operations: u64, claim: Claim) -> Self {
        Certificate {
            selvedge: "certificate".to_owned(),
            version: VERSION,
            criterion: "linearizability".to_owned(),
            object: object.to_owned(),
            initial,
            operations,
            claim,
        }
    }
}
