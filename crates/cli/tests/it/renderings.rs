//! Every rendering has one place: JSON text is made, edited and read by the modules of `report/json` alone, and nothing is read back that this
//! process has written.

use crate::*;

/// Where JSON text is at home.
const HOME: &str = "report/json/";

/// Every module of the command line, by its path, without its tests.
fn modules() -> Vec<(String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut modules) = (vec![source.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of modules") {
            let path = entry.expect("readable").path();
            let name = path.strip_prefix(&source).expect("below it").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
                modules.push((name, code.to_owned()));
            }
        }
    }
    modules
}

#[test]
fn json_text_has_one_home() {
    // The library that reads and writes it; a key in quotes, as text has it; escapes of its own.
    let signs = ["serde_json", "json!(", "\\\":", "\\\\u00"];
    let uses = |code: &str| signs.iter().find(|sign| code.contains(**sign)).copied();
    let modules = modules();
    assert!(modules.len() > 60, "{}", modules.len());
    for (name, code) in &modules {
        let at_home = name.starts_with(HOME);
        assert!(at_home || uses(code).is_none(), "{name} has {:?}: JSON text belongs to {HOME}", uses(code));
    }
    // The test looks at what it says it looks at.
    assert_eq!(modules.iter().filter(|(name, code)| name.starts_with(HOME) && uses(code).is_some()).count(), 2);
}

#[test]
fn documents_have_names_of_their_own() {
    let mut names: Vec<String> = Vec::new();
    for (_, code) in modules() {
        let structs = code.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("struct "));
        let name = |rest: &str| rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or("").to_owned();
        names.extend(structs.map(name).filter(|name| name.ends_with("Document")));
    }
    names.sort();
    assert!(names.len() > 10 && !names.contains(&"Document".to_owned()), "{names:?}");
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
