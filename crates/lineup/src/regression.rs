//! A violation as a test that shows it again.

/// The language of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C or C++.
    C,
    /// Rust.
    Rust,
}

/// Source text of a test for the matrix, to be put beside the object's own.
pub fn regression(language: Language, object: &str, matrix: &str, kind: &str) -> String {
    match language {
        Language::C => {
            format!(
                "/* {kind}: selvedge test --test {object} */\nSELVEDGE_OPTION({object}, \"test {}\");\n",
                quoted(matrix)
            )
        }
        Language::Rust => format!(
            "/// {kind}\n#[test]\nfn regression() {{\n    object() // what `{}` checks\n        .matrix(\"{}\")\n        .check();\n}}\n",
            object.replace(['\n', '\r'], " "),
            quoted(matrix)
        ),
    }
}

/// The text inside of quotation marks, in both languages.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotation_marks() {
        let text = regression(Language::C, "q", "say(\"a\\\") | x", "stuck");
        assert!(text.ends_with("SELVEDGE_OPTION(q, \"test say(\\\"a\\\\\\\") | x\");\n"), "{text}");
        let text = regression(Language::Rust, "a.rs:1", "pop()", "stuck");
        assert!(text.contains(".matrix(\"pop()\")"), "{text}");
    }
}
