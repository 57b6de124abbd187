//! The border between a command and a process under test: what crosses it is data, and it is read and written in one place.

use super::{Text, texts};

/// The crates on both sides of it, without their tests.
fn sources(crates: &[&str]) -> Vec<Text> {
    let places: Vec<String> = crates.iter().map(|name| format!("crates/{name}/src")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let mut sources = texts(&places, &[".rs"]);
    sources.retain(|source| !source.path.ends_with("/tests.rs") && !source.path.contains("/tests/"));
    for source in &mut sources {
        if let Some(at) = source.text.find("#[cfg(test)]\nmod tests {") {
            source.text.truncate(at);
        }
    }
    sources
}

/// Where JSON text may be made, read or edited: the border itself, the documents of the command line, and a file format of its own.
const JSON: [&str; 3] =
    ["crates/protocol/src/", "crates/cli/src/report/json/", "crates/lineup/src/observation/json.rs"];

#[test]
fn only_the_protocol_and_one_renderer_know_json_text() {
    let sources = sources(&["protocol", "driver", "runtime", "lineup", "explore", "selvedge", "cli"]);
    let knows = |source: &&Text| source.text.contains("serde_json") || source.text.contains("json!(");
    let at_home = |source: &&Text| JSON.iter().any(|home| source.path.starts_with(home));
    for source in sources.iter().filter(knows) {
        assert!(at_home(&source), "{} reads or writes JSON: that is for {JSON:?}", source.path);
    }
    assert!(sources.iter().filter(knows).count() >= 4, "the test looks where JSON is");
}

/// The texts in quotation marks of a source, each with the code in front of it in its line. Comments are left out.
fn literals(text: &str) -> Vec<(String, String)> {
    let (mut found, mut line_start, mut at) = (Vec::new(), 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line_start = at + 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'\'' if text[at..].starts_with("'\"'") => at += 2,
            b'"' => {
                let before = text[line_start..at].to_owned();
                let start = at + 1;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                found.push((before, text[start..at.min(text.len())].to_owned()));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether a text is more than a name or a number: two words of small letters, one after the other.
fn is_sentence(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).any(|pair| is_word(pair[0]) && is_word(pair[1]))
}

#[test]
fn the_runtime_makes_no_sentences() {
    // What only a bug of ours shows, and what compilers read.
    const OTHERS: [&str; 8] =
        ["expect(", "assert", "panic!(", "unreachable!(", "todo!(", "#[", "compile_error!(", "#!["];
    let mut seen = 0;
    for source in sources(&["runtime"]) {
        // Assembly is text, too.
        if source.path.contains("/arch/") {
            continue;
        }
        let lines: Vec<&str> = source.text.lines().collect();
        for (before, text) in literals(&source.text) {
            seen += 1;
            if !is_sentence(&text) || OTHERS.iter().any(|other| before.contains(other)) {
                continue;
            }
            // The message of an assertion may stand in a line of its own.
            let line = lines.iter().position(|line| line.contains(&text[..text.find('\n').unwrap_or(text.len())]));
            let above = line.map_or("", |line| lines[line.saturating_sub(1)]);
            let of_bug = above.contains("assert") || above.contains("expect(") || above.contains("compile_error!");
            assert!(of_bug, "{}: a sentence belongs to selvedge_protocol::words: {text:?}", source.path);
        }
    }
    assert!(seen > 100, "the test looks where texts are: {seen}");
    assert!(
        is_sentence("the report could not be written") && !is_sentence("T1 after {}; ") && !is_sentence("/proc/self")
    );
}
