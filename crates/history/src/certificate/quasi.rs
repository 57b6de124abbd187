//! Certificates of quasi linearizability: version 2 of the format.
//!
//! Invariant: the linearization names operations by their number in the log; the legal run names places of the
//! linearization, so the two cannot speak of different operations.

use serde::{Deserialize, Serialize};

use crate::evidence::Part;
use crate::{OpId, Value};

/// The version of certificates of quasi linearizability.
pub const VERSION: u32 = 2;

/// A verdict on one history, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiCertificate {
    /// Says what kind of file this is: always `"certificate"`.
    pub selvedge: String,
    /// The version of the format.
    pub version: u32,
    /// The criterion decided, `"quasi-linearizability"`.
    pub criterion: String,
    /// The object's name, as `--object` takes it.
    pub object: String,
    /// The initial value, where the object has one and one was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// How many operations the history has.
    pub operations: u64,
    /// Classes and factors, as `--quasi` takes them.
    pub quasi: String,
    /// `"prefix"` or `"closed"`.
    pub reading: String,
    /// `"causal"` or `"free"`.
    pub causality: String,
    /// `"distance"` or `"strict"`.
    pub order: String,
    /// The claim.
    #[serde(flatten)]
    pub claim: QuasiClaim,
}

/// What a certificate of quasi linearizability claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum QuasiClaim {
    /// Every part is quasi linearizable: two orders each.
    Pass {
        /// The orders.
        orders: Vec<QuasiOrders>,
    },
    /// One part is not.
    Fail {
        /// Which object it is about.
        #[serde(default, skip_serializing_if = "Part::is_only")]
        part: Part,
        /// Why.
        violation: QuasiViolation,
    },
}

/// A linearization and a legal run that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiOrders {
    /// Which object it is about.
    #[serde(default, skip_serializing_if = "Part::is_only")]
    pub part: Part,
    /// The linearization, with what would follow the history at its end. In a stuck history the last one is pending and
    /// blocks after all the others.
    pub linearization: Vec<QuasiPlaced>,
    /// The legal run: at each place, which place of the linearization the operation has.
    pub run: Vec<u32>,
    /// The results given to the pending operations among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<(OpId, Value)>,
}

/// An operation of a linearization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QuasiPlaced {
    /// One of the log.
    Operation(OpId),
    /// One that would follow.
    Later {
        /// The method.
        method: String,
        /// Its argument.
        #[serde(default, skip_serializing_if = "Value::is_nil")]
        argument: Value,
        /// Its result.
        #[serde(default)]
        result: Value,
    },
}

/// Why a part is not quasi linearizable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QuasiViolation {
    /// The first `events` events of the part (calls and returns counted in that part alone; what returns later is pending in
    /// them) have no two orders, whatever may follow. The last of them is the return of `operation`.
    QuasiUnplaced {
        /// The operation whose return is the last event: without it the events have orders, if this is the shortest prefix.
        operation: OpId,
        /// The length of the prefix.
        events: u32,
        /// Whether no shorter prefix fails; `false` where the search for one was cut short.
        #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
        shortest: bool,
        /// Orders of the events before, where these are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<QuasiOrders>,
        /// The least factor that would do for these events, where one was found. For readers only: nobody checks it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excess: Option<QuasiExcess>,
        /// No class would do with a factor up to this one, all others as they are. For readers only. Without this and
        /// `excess`, the search for a larger factor was cut short.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_enough: Option<u32>,
    },
    /// The part has no two orders by itself, only with what would follow it.
    QuasiUnfinished {
        /// Orders with what would follow.
        orders: QuasiOrders,
    },
    /// The history is stuck, and this pending operation need not have blocked.
    NeedNotBlock {
        /// The pending operation.
        operation: OpId,
    },
}

fn yes() -> bool {
    true
}

/// An operation that stands too far from its place, under the least factor that would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasiExcess {
    /// The factor that would do.
    pub factor: u32,
    /// The class whose factor it is.
    pub class: String,
    /// The operation; absent for one that would follow the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OpId>,
    /// Its place in its class in the linearization, from 1.
    pub place: u32,
    /// Its place in its class in the legal run, from 1.
    pub legal_place: u32,
}

impl QuasiViolation {
    /// The kind, as written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            QuasiViolation::QuasiUnplaced { .. } => "quasi-unplaced",
            QuasiViolation::QuasiUnfinished { .. } => "quasi-unfinished",
            QuasiViolation::NeedNotBlock { .. } => "need-not-block",
        }
    }

    /// The operation to blame, where it is one.
    pub fn operation(&self) -> Option<OpId> {
        match self {
            QuasiViolation::QuasiUnplaced { operation, .. } | QuasiViolation::NeedNotBlock { operation } => {
                Some(*operation)
            }
            QuasiViolation::QuasiUnfinished { .. } => None,
        }
    }
}
