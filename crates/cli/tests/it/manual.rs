//! The manual does what it says: every page is executed from top to bottom, by its text alone, and every block is run or says why not.

mod execute;
mod page;

use execute::execute;
pub use execute::printed;

use crate::*;

/// A test for each page that has blocks, and the list of all of them.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                execute($page);
            }
        )*
    };
}

pages! {
    the_readme_works: "README.md",
    the_readme_of_the_crate_works: "crates/selvedge/README.md",
    the_readme_of_the_monitor_works: "crates/monitor/README.md",
    the_tutorial_for_cpp_works: "docs/tutorials/cpp.md",
    the_tutorial_for_rust_works: "docs/tutorials/rust.md",
    the_tutorial_for_databases_works: "docs/tutorials/database.md",
    the_tutorial_for_algorithms_works: "docs/tutorials/algorithm.md",
    the_page_on_installing_works: "docs/install.md",
    the_page_on_build_systems_works: "docs/build-systems.md",
    the_page_on_checking_works: "docs/checking.md",
    the_page_on_continuous_integration_works: "docs/ci.md",
    the_page_on_comparisons_works: "docs/comparison.md",
    the_page_on_counting_works: "docs/counting.md",
    the_page_on_figures_of_counting_works: "docs/counting-figures.md",
    the_page_on_formats_works: "docs/formats.md",
    the_page_on_models_works: "docs/model.md",
    the_page_on_the_monitor_works: "docs/monitor.md",
    the_page_on_objects_works: "docs/objects.md",
    the_page_on_quasi_linearizability_works: "docs/quasi.md",
    the_page_on_reports_works: "docs/reports.md",
    the_page_on_speed_works: "docs/speed.md",
    the_page_on_c_works: "docs/testing-c.md",
    the_page_on_rust_works: "docs/testing-rust.md",
}

/// All pages: the README, the manual, and what the crates say of themselves.
fn all_pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    folders.extend(
        std::fs::read_dir(root().join("crates")).expect("crates").map(|entry| {
            format!("crates/{}", entry.expect("readable").file_name().into_string().expect("a plain name"))
        }),
    );
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("readable") {
            let entry = entry.expect("readable");
            let name = format!("{folder}/{}", entry.file_name().into_string().expect("a plain name"));
            if name.ends_with(".md") {
                pages.push(name);
            } else if folder.starts_with("docs") && entry.path().is_dir() {
                folders.push(name);
            }
        }
    }
    pages
}

#[test]
fn every_block_is_run_or_says_why_not() {
    for name in all_pages() {
        let text = std::fs::read_to_string(root().join(&name)).expect("the page");
        let page: Vec<&str> = text.lines().collect();
        let blocks = page::blocks(&page);
        for block in &blocks {
            assert_ne!(block.kind, page::Kind::Unclear, "{name}:{}: nothing says what this is", block.lines.start);
        }
        assert!(blocks.is_empty() || PAGES.contains(&&*name), "{name} has blocks, and no test executes it");
    }
}

/// What an example ends with, and a word that its report has.
#[test]
fn the_examples_are_as_they_say() {
    let findings = scratch("example-findings");
    let findings = findings.to_str().unwrap();
    for (args, code, words) in [
        (vec!["test", "examples/c/treiber.c"], 1, "use-after-free"),
        (vec!["test", "examples/cpp/ticket.cc"], 1, "assertion"),
        (vec!["test", "examples/cpp/ring.cc"], 1, "not-linearizable"),
        (vec!["test", "examples/cpp/ring_fixed.cc", "--auto", "2"], 0, "all 48 up to 2x2"),
        (vec!["model", "examples/models/tickets.csp"], 1, "refuted"),
        (vec!["model", "examples/models/tickets_atomic.csp"], 0, "proved"),
    ] {
        if args[1].ends_with(".cc") && !has(has_cpp(), Need::Cpp, args[1]) {
            continue;
        }
        let more = if args[0] == "test" { vec!["--findings", findings] } else { vec![] };
        let run = selvedge(&[args.clone(), more].concat()).expect(code);
        assert!(run.stdout.contains(words), "{args:?}: {}", run.stdout);
    }
    let project = root().join("examples/rust").canonicalize().unwrap();
    let report = match printed(&format!("cargo selvedge test --findings {findings} --no-fail-fast --tests"), &project) {
        Ok(report) => report,
        Err(lacks) => return skip(Need::StandardLibrary, &format!("the examples in Rust: {lacks}")),
    };
    for words in [
        "FAIL  what_is_sent_arrives (tests/oneshot.rs:10): lost-wakeup",
        "PASS  what_is_sent_arrives (tests/oneshot_fixed.rs:10): no violation",
        "FAIL  two_threads_pop (tests/stack.rs:9): use-after-free",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
}

/// The examples are built without the network: their dependencies are those of the workspace, version by version.
#[test]
fn the_examples_build_with_what_is_there() {
    let packages = |lock: &str| -> Vec<String> {
        let text = std::fs::read_to_string(root().join(lock)).unwrap_or_else(|error| panic!("{lock}: {error}"));
        let fetched = text.split("[[package]]").filter(|package| package.contains("checksum"));
        fetched.map(|package| package.lines().take(3).collect::<Vec<_>>().join(" ")).collect()
    };
    let known = packages("Cargo.lock");
    for lock in ["examples/heapless/Cargo.lock", "examples/rust/Cargo.lock"] {
        for package in packages(lock) {
            assert!(known.contains(&package), "{lock}:{package} is not what the workspace has");
        }
    }
}

#[test]
fn every_page_is_in_the_manual() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut links: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    links.sort_unstable();
    let mut pages = Vec::new();
    for directory in ["", "tutorials/"] {
        let entries = std::fs::read_dir(root().join("docs").join(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        pages.extend(
            names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").map(|name| format!("{directory}{name}")),
        );
    }
    pages.sort_unstable();
    assert_eq!(links, pages);
}
