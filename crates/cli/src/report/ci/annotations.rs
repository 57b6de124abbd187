//! Annotations: a line for each violation, which GitHub's runners show beside the source.

use super::{Case, CaseEnd};

/// The lines; nothing for what passed.
pub fn render(cases: &[Case]) -> String {
    cases.iter().filter_map(line).collect()
}

fn line(case: &Case) -> Option<String> {
    let (level, title) = match case.end {
        CaseEnd::Pass => return None,
        CaseEnd::Fail => ("error", format!("{}: {}", case.name, case.kind)),
        CaseEnd::Unknown => ("warning", format!("{}: unknown", case.name)),
        CaseEnd::Error => ("error", "wrong input".to_owned()),
    };
    let mut properties = Vec::new();
    if let Some((file, line)) = &case.place {
        properties.push(format!("file={}", property(file)));
        properties.extend(line.map(|line| format!("line={line}")));
    }
    properties.push(format!("title={}", property(&title)));
    Some(format!("::{level} {}::{}\n", properties.join(","), data(&case.message)))
}

/// What stands behind the second pair of colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
