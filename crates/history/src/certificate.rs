//! Certificates: evidence written down, so that somebody else can check it later.
//!
//! A certificate is one JSON document. It carries a version, and a version that is not known is refused. It repeats
//! nothing of the history: [`verify`](crate::verify::verify) looks everything up there, and refuses what does not hold.

pub mod quasi;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpId;
    use crate::evidence::{Part, Stay, Violation};

    /// The certificate comes back from its JSON, which is this.
    #[track_caller]
    fn check(certificate: &Certificate, json: &str) {
        let written = serde_json::to_string(certificate).expect("a certificate is JSON");
        assert_eq!(written, json);
        let read: Certificate = serde_json::from_str(&written).expect("a certificate that was written");
        assert_eq!(read, *certificate);
    }

    fn failed(part: Part, violation: Violation) -> Certificate {
        Certificate::new("queue", None, 9, Claim::Fail { failure: Failure { part, violation } })
    }

    #[test]
    fn linearizations_come_back() {
        let part = Part { object: "m".to_owned(), key: Value::text("k") };
        let results = vec![(OpId(2), Value::Nil), (OpId(1), Value::list([Value::Int(3)]))];
        let whole = Linearization { part, order: vec![OpId(2), OpId(1), OpId(0)], results };
        let stuck = Linearization { order: vec![OpId(3), OpId(4)], ..Linearization::default() };
        let claim = Claim::Pass { linearizations: vec![whole, stuck] };
        check(
            &Certificate::new("register", Some(Value::Int(7)), 5, claim),
            concat!(
                r#"{"selvedge":"certificate","version":1,"criterion":"linearizability","object":"register","initial":7,"#,
                r#""operations":5,"verdict":"pass","linearizations":[{"part":{"object":"m","key":"k"},"order":[2,1,0],"#,
                r#""results":[[2,null],[1,[3]]]},{"order":[3,4]}]}"#
            ),
        );
    }

    #[test]
    fn violations_come_back() {
        let head =
            r#"{"selvedge":"certificate","version":1,"criterion":"linearizability","object":"queue","operations":9,"#;
        let part = Part { object: "m".to_owned(), key: Value::Int(5) };
        let violation = Violation::ThinAir { operation: OpId(3) };
        let json = r#""verdict":"fail","part":{"object":"m","key":5},"violation":{"kind":"thin-air","operation":3}}"#;
        check(&failed(part, violation), &format!("{head}{json}"));
        let stays = [Stay { insert: OpId(0), remove: None }, Stay { insert: OpId(1), remove: Some(OpId(2)) }];
        let violation = Violation::Overtaken { first: stays[0], second: stays[1] };
        let json = concat!(
            r#""verdict":"fail","violation":{"kind":"overtaken","first":{"insert":0,"remove":null},"#,
            r#""second":{"insert":1,"remove":2}}}"#
        );
        check(&failed(Part::default(), violation), &format!("{head}{json}"));
        let violation = Violation::Unplaced { operation: OpId(1), events: 3, partial: vec![OpId(0)] };
        let json = r#""verdict":"fail","violation":{"kind":"unplaced","operation":1,"events":3,"partial":[0]}}"#;
        check(&failed(Part::default(), violation), &format!("{head}{json}"));
    }
}
