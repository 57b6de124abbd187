//! Certificates: the evidence of a verdict, for `selvedge verify`.

use selvedge_history::Verdict;
use selvedge_history::certificate::quasi::{QuasiCertificate, QuasiClaim, VERSION};
use selvedge_history::certificate::{Certificate, Claim};

use super::write;
use crate::report::Outcome;
use crate::report::outcome::{Decided, QuasiDecided};
use crate::report::verdict::Criterion;

/// The certificate of an outcome that has a verdict to certify, ready to be written.
pub fn certificate(outcome: Outcome<'_>) -> Option<Vec<u8>> {
    let text = match outcome {
        Outcome::Decided(decided) => plain(decided)?,
        Outcome::Quasi(decided) => quasi(*decided)?,
        _ => return None,
    };
    Some(format!("{text}\n").into_bytes())
}

fn plain(Decided { of, answer, .. }: Decided<'_>) -> Option<String> {
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => Claim::Pass { linearizations },
        Verdict::Fail(failure) => Claim::Fail { failure },
        Verdict::Unknown(_) => return None,
    };
    let operations = of.log.history.len() as u64;
    Some(write(&Certificate::new(answer.kind.name(), of.initial.cloned(), operations, claim)))
}

fn quasi(QuasiDecided { of, relaxed, answer }: QuasiDecided<'_>) -> Option<String> {
    let claim = match answer.verdict {
        Verdict::Pass(orders) => QuasiClaim::Pass { orders },
        Verdict::Fail((part, violation)) => QuasiClaim::Fail { part, violation },
        Verdict::Unknown(_) => return None,
    };
    let [reading, causality, order] = relaxed.words().map(str::to_owned);
    Some(write(&QuasiCertificate {
        selvedge: "certificate".to_owned(),
        version: VERSION,
        criterion: Criterion::QuasiLinearizability.name().to_owned(),
        object: answer.kind.name().to_owned(),
        initial: of.initial.cloned(),
        operations: of.log.history.len() as u64,
        quasi: relaxed.classes,
        reading,
        causality,
        order,
        claim,
    }))
}
