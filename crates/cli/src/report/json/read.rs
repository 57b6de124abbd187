//! JSON that comes in: certificates, and values as they are typed.

use selvedge_history::Value;
use selvedge_history::certificate::{self, quasi};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::report::outcome::AnyCertificate;
use crate::trouble::Trouble;

/// A value: JSON, `nil`, or a bare text.
pub fn value(text: &str) -> Result<Value, String> {
    if text == "nil" {
        return Ok(Value::Nil);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Err(_) => Ok(Value::text(text)),
        Ok(json) => serde_json::from_value(json).map_err(|error| error.to_string()),
    }
}

/// What every version of a certificate says first.
#[derive(Deserialize)]
struct Header {
    selvedge: String,
    version: u32,
}

/// The certificate in a file, whichever version it has.
pub fn any_certificate(file: &str, text: &[u8]) -> Result<AnyCertificate, Trouble> {
    let header: Header = certificate_part(file, text)?;
    if header.selvedge != "certificate" {
        let reason = format!("expected a certificate, found \"{}\"", header.selvedge);
        return Err(Trouble::new(file, reason).at(1, None).advise("the history comes first, then the certificate"));
    }
    match header.version {
        certificate::VERSION => Ok(AnyCertificate::Plain(Box::new(certificate_part(file, text)?))),
        quasi::VERSION => Ok(AnyCertificate::Quasi(Box::new(certificate_part(file, text)?))),
        found => {
            let (plain, quasi) = (certificate::VERSION, quasi::VERSION);
            let reason = format!("version {found} of the certificate format is not known; expected {plain} or {quasi}");
            Err(Trouble::new(file, reason).at(1, None).advise("use the selvedge that wrote it, or check again"))
        }
    }
}

fn certificate_part<T: DeserializeOwned>(file: &str, text: &[u8]) -> Result<T, Trouble> {
    serde_json::from_slice(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or(&reason);
        Trouble::new(file, format!("not a certificate: {reason}"))
            .at(error.line().max(1) as u32, Some(error.column().max(1) as u32))
            .advise("certificates are written by `selvedge check --certificate`; give the history first")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_or_text() {
        for (text, expected) in [
            ("0", Value::Int(0)),
            ("-1", Value::Int(-1)),
            ("nil", Value::Nil),
            ("null", Value::Nil),
            ("true", Value::Bool(true)),
            ("x", Value::text("x")),
            ("\"0\"", Value::text("0")),
            ("\"\"", Value::text("")),
            ("[1,2]", Value::list([Value::Int(1), Value::Int(2)])),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        assert!(value("1.5").is_err());
        assert!(value("{\"a\":1}").is_err());
    }
}
