//! The sources keep the rules of `ARCHITECTURE.md`: which crate depends on which, who has `unsafe` code, reads the environment, prints or exits, and how
//! long files and functions may be.

use std::collections::BTreeSet;

use super::source::{functions, has_word, without_tests};
use super::{Text, quoted, table, texts};
use crate::root;

/// A row of the table of crates: what the crate may do, as the page says.
struct Rule {
    name: String,
    uses: BTreeSet<String>,
    /// Where something may be done: what paths below `src` begin with. An empty text stands for the whole crate.
    unsafe_code: Vec<String>,
    environment: Vec<String>,
    prints: Vec<String>,
    exits: Vec<String>,
}

fn rules() -> Vec<Rule> {
    let places = |cell: &str| if cell == "yes" { vec!["".to_owned()] } else { quoted(cell) };
    let rule = |cells: Vec<String>| {
        assert_eq!(cells.len(), 7, "a row of the table of crates has seven cells: {cells:?}");
        Rule {
            name: quoted(&cells[0]).remove(0),
            uses: quoted(&cells[2]).into_iter().collect(),
            unsafe_code: places(&cells[3]),
            environment: places(&cells[4]),
            prints: places(&cells[5]),
            exits: places(&cells[6]),
        }
    };
    table("ARCHITECTURE.md", "crate").into_iter().map(rule).collect()
}

/// The crates of the workspace that a manifest names as dependencies, not counting those of tests.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut counts = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            counts = section.contains("dependencies]") && !section.contains("dev-dependencies");
        } else if counts && let Some(rest) = line.strip_prefix("selvedge-") {
            found.insert(rest.split([' ', '.', '=']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

#[test]
fn crates_depend_on_what_the_page_says() {
    let manifests: Vec<Text> =
        texts(&["crates"], &["/Cargo.toml"]).into_iter().filter(|text| text.path.matches('/').count() == 2).collect();
    let there: BTreeSet<&str> = manifests.iter().filter_map(|text| text.path.split('/').nth(1)).collect();
    let rules = rules();
    let named: BTreeSet<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(named, there, "the table of crates in ARCHITECTURE.md has every crate");
    for rule in &rules {
        let path = format!("crates/{}/Cargo.toml", rule.name);
        let manifest = &manifests.iter().find(|text| text.path == path).expect("every crate is there").text;
        assert_eq!(dependencies(manifest), rule.uses, "{path} (left) and ARCHITECTURE.md (right)");
        // Where the page allows no unsafe code, the compiler does not either.
        let forbidden = manifest.contains("[lints]\nworkspace = true");
        assert_eq!(
            forbidden,
            rule.unsafe_code.is_empty(),
            "{path}: unsafe code is allowed only where the page says so"
        );
    }
    for text in texts(&["crates/cli/src"], &[".rs"]) {
        // The macro only takes the bytes of its file.
        let named =
            |line: &String| has_word(line, "selvedge_runtime") && !line.contains("selvedge_embed::shared_library!");
        let named = without_tests(&text.text).iter().any(named);
        assert!(!named, "{}: the runtime's symbols would take the place of libc's", text.path);
    }
    for other in ["model", "runtime"].map(|name| rules.iter().find(|rule| rule.name == name).expect("a crate")) {
        let never = if other.name == "model" { "runtime" } else { "model" };
        assert!(!other.uses.contains(never), "the model checker and the runtime never meet");
    }
}

/// The modules of a crate that lie directly in its `src`, programs included.
fn modules(name: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join(format!("crates/{name}/src"))).expect("a crate has sources");
    let names = entries.flatten().map(|entry| entry.file_name().into_string().expect("a plain name"));
    names.map(|name| name.trim_end_matches(".rs").to_owned()).filter(|name| name != "lib").collect()
}

/// A newcomer finds every module on the page, and none that is gone.
#[test]
fn every_module_is_on_the_page() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    for rule in rules() {
        let section = page.split(&format!("\n### `crates/{}`\n", rule.name)).nth(1);
        let section = section.unwrap_or_else(|| panic!("ARCHITECTURE.md has no section on crates/{}", rule.name));
        let rows = section.lines().take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
        let told: BTreeSet<String> = rows.flat_map(|row| quoted(row.split(" | ").next().unwrap_or_default())).collect();
        assert_eq!(
            told,
            modules(&rule.name),
            "crates/{} in ARCHITECTURE.md (left), and its modules (right)",
            rule.name
        );
    }
}

/// A source that ships: its path below `src`, and its code without tests.
struct Source {
    path: String,
    code: Vec<String>,
}

/// Those of a crate. Whole files of tests are left out.
fn sources(name: &str) -> Vec<Source> {
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    let texts = texts(&[&format!("crates/{name}/src")], &[".rs"]).into_iter().filter(|text| !is_test(&text.path));
    let source = |text: Text| {
        let path = text.path.split_once("/src/").expect("a source").1.to_owned();
        Source { path, code: without_tests(&text.text) }
    };
    texts.map(source).collect()
}

/// Nothing does it but what may, and what may does it somewhere.
fn hold(name: &str, sources: &[Source], what: &str, places: &[String], does: impl Fn(&str) -> bool) {
    let mut used = vec![false; places.len()];
    for source in sources {
        for (number, line) in source.code.iter().enumerate().filter(|(_, line)| does(line)) {
            let place = places.iter().position(|place| source.path.starts_with(place.as_str()));
            let at = format!("crates/{name}/src/{}:{}", source.path, number + 1);
            let place = place.unwrap_or_else(|| panic!("{at} {what}, and ARCHITECTURE.md does not say so: {line}"));
            used[place] = true;
        }
    }
    for (place, used) in places.iter().zip(used) {
        assert!(used, "ARCHITECTURE.md says of crates/{name} that {place:?} {what}, and it does not");
    }
}

#[test]
fn only_those_who_may_do_it() {
    for rule in rules() {
        let sources = sources(&rule.name);
        let hold = |what: &str, places: &[String], does: &dyn Fn(&str) -> bool| {
            hold(&rule.name, &sources, what, places, does);
        };
        let calls = |line: &str, names: &[&str]| names.iter().any(|name| line.contains(name));
        hold("has unsafe code", &rule.unsafe_code, &|line| has_word(line, "unsafe"));
        let reads = ["env::var(", "env::var_os(", "env::vars", "libc::getenv("];
        hold("reads the environment", &rule.environment, &|line| calls(line, &reads));
        let prints = ["print!(", "println!(", "dbg!(", "io::stdout(", "io::stderr("];
        hold("prints", &rule.prints, &|line| calls(line, &prints));
        hold("exits", &rule.exits, &|line| calls(line, &["process::exit("]));
    }
}

#[test]
fn files_and_functions_are_short() {
    for text in texts(&["crates", "corpus", "examples", "benches", "fuzz"], &[".rs"]) {
        let lines = text.text.lines().count();
        assert!(lines < 600, "{} has {lines} lines", text.path);
        for (name, line, length) in functions(&text.text) {
            assert!(length <= 70, "{}:{line}: {name} has {length} lines", text.path);
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for text in texts(&["crates"], &[".rs"]) {
        assert!(text.text.starts_with("//!"), "{} begins with `//!` and a sentence", text.path);
    }
}

/// A test that misses something says so to `selvedge_needs`, and neither looks for programs by itself nor only prints that it is skipped.
#[test]
fn tests_are_skipped_in_one_way() {
    // Spelt so that this file has none of it.
    let looks = ["arg(\"--", "version\")"].concat();
    let says = [["skip", "ped"].concat(), ["SKIP", "PED"].concat(), ["not in", "stalled"].concat()];
    for text in texts(&["crates"], &[".rs"]).iter().filter(|text| text.path.contains("/tests")) {
        for (number, line) in text.text.lines().enumerate() {
            let prints = line.contains("println!(") && says.iter().any(|word| line.contains(word));
            // Which version rustc has is part of what is compared.
            let probes = line.contains(&looks) && !line.contains("\"rustc\"");
            assert!(!prints && !probes, "{}:{}: ask selvedge_needs: {line}", text.path, number + 1);
        }
    }
}

#[test]
fn dependencies_are_read_from_a_manifest() {
    let manifest = "[package]\nname = \"selvedge-a\"\n[dependencies]\nselvedge-b.workspace = true\nserde = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\nselvedge-c = { path = \"c\" }\n[dev-dependencies]\nselvedge-d = \"1\"\n";
    assert_eq!(dependencies(manifest).into_iter().collect::<Vec<_>>(), ["b", "c"]);
}
