//! JUnit's XML: a suite for each file, a case for each test, history or assertion.

use super::{Case, CaseEnd};

/// The whole file.
pub fn render(cases: &[Case]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out += &format!("<testsuites name=\"selvedge\"{}>\n", numbers(cases.iter()));
    let mut suites: Vec<&str> = Vec::new();
    for case in cases {
        if !suites.contains(&case.suite.as_str()) {
            suites.push(&case.suite);
        }
    }
    for suite in suites {
        let inside = || cases.iter().filter(|case| case.suite == suite);
        out += &format!("  <testsuite name=\"{}\"{}>\n", escaped(suite), numbers(inside()));
        for case in inside() {
            out += &element(case);
        }
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

fn numbers<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let of = |ends: &[CaseEnd]| cases.clone().filter(|case| ends.contains(&case.end)).count();
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\"",
        cases.clone().count(),
        of(&[CaseEnd::Fail]),
        of(&[CaseEnd::Unknown, CaseEnd::Error]),
        cases.clone().map(|case| case.seconds).sum::<f64>()
    )
}

fn element(case: &Case) -> String {
    let mut open = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&case.suite),
        escaped(&case.name),
        case.seconds
    );
    if let Some((file, line)) = &case.place {
        open += &format!(" file=\"{}\"", escaped(file));
        open += &line.map_or(String::new(), |line| format!(" line=\"{line}\""));
    }
    let (tag, kind) = match case.end {
        CaseEnd::Pass => return open + "/>\n",
        CaseEnd::Fail => ("failure", case.kind.clone()),
        // Neither passed nor failed; a reader must not take it for skipped on purpose.
        CaseEnd::Unknown => ("error", format!("unknown: {}", case.kind)),
        CaseEnd::Error => ("error", case.kind.clone()),
    };
    let message = escaped(&case.message);
    format!(
        "{open}>\n      <{tag} type=\"{}\" message=\"{message}\">{message}</{tag}>\n    </testcase>\n",
        escaped(&kind)
    )
}

/// Text as it may stand in XML, in attributes too. What XML has no way to say becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            '\n' => out += "&#10;",
            '\r' => out += "&#13;",
            '\t' => out += "&#9;",
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            letter if letter < ' ' => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}
