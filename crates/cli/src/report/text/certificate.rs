//! The report on a certificate that was checked.

use selvedge_history::object::Kind;

use super::{FAIL, PASS, clean, paint, paragraph};
use crate::quantity::counted;
use crate::report::operation::show;
use crate::report::outcome::{AnyCertificate, Verified};
use crate::report::sentence;
use crate::report::verdict::VerdictName;

impl AnyCertificate {
    /// What it says of the history.
    fn says(&self) -> &'static str {
        match (self, self.claim()) {
            (AnyCertificate::Plain(_), VerdictName::Pass) => "linearizable",
            (AnyCertificate::Plain(_), _) => "not linearizable",
            (AnyCertificate::Quasi(_), VerdictName::Pass) => "quasi linearizable",
            (AnyCertificate::Quasi(_), _) => "not quasi linearizable",
        }
    }

    /// What was allowed, where something was.
    fn relaxed(&self) -> String {
        match self {
            AnyCertificate::Plain(_) => String::new(),
            AnyCertificate::Quasi(c) => {
                let [classes, reading, causality, order] =
                    [&c.quasi, &c.reading, &c.causality, &c.order].map(|word| clean(word));
                format!("with {classes} ({reading}, {causality}, {order}); ")
            }
        }
    }
}

impl Verified<'_> {
    /// The report.
    pub fn text(&self) -> String {
        let rests = sentence::assumption(&self.assumed()).map_or(String::new(), |text| paragraph(&text, 2));
        let why = self.refusal.as_ref().map_or(String::new(), |refusal| paragraph(&clean(&refusal.to_string()), 2));
        let other = self.other_object().map_or(String::new(), |note| paragraph(&note, 2));
        let operations = counted(self.of.log.history.len() as u64, "operation");
        let numbers = format!("{}{operations}, {:.3} s", self.certificate.relaxed(), self.of.seconds);
        format!("{}\n{why}{rests}{other}{}", self.line(), paragraph(&numbers, 2))
    }

    /// The same in one line.
    pub fn line(&self) -> String {
        let (certificate, history, says) = (self.file, self.of.file, self.certificate.says());
        match self.refusal {
            None => format!("{}  {certificate}: {history} is {says} as a {}", paint(PASS, "RIGHT"), self.object()),
            Some(_) => format!("{}  {certificate}: it does not show that {history} is {says}", paint(FAIL, "REFUSED")),
        }
    }

    /// What the claim is about: the object, and what it starts with where that was stated.
    fn object(&self) -> String {
        let object = clean(self.certificate.object());
        self.of.initial.map_or(object.clone(), |initial| format!("{object} that starts with {}", show(initial)))
    }

    /// A certificate may be right about another object than the one that the history says it is of.
    fn other_object(&self) -> Option<String> {
        let kind = Kind::from_name(self.of.log.declared.as_deref()?)?;
        let object = self.certificate.object();
        (Kind::from_name(object) != Some(kind)).then(|| {
            format!("Note: the history says that it is of a {kind}, the certificate is about a {}.", clean(object))
        })
    }
}
