//! Data races that are allowed: plain accesses that race become steps, and only then every schedule was made.

use crate::*;

fn test(program: &str, flags: &[&str]) -> Run {
    let file = format!("crates/cli/tests/data/races/{program}.c");
    let directory = scratch(&format!("races-{program}-{}", flags.concat().replace(|c: char| !c.is_alphanumeric(), "")));
    let _ = std::fs::remove_dir_all(&directory);
    let findings = directory.to_str().expect("a plain name").to_owned();
    selvedge(&[&["test", &file, "--findings", &findings, "--json"], flags].concat())
}

/// Each program with both compilers: the verdict with races reported, and with races allowed.
fn check(program: &str, level: &str, on: (i32, &str), off: (i32, &str)) {
    for compiler in ["gcc", "clang"] {
        if compiler == "clang"
            && !has(has_program("clang"), Need::Clang, "races that are allowed, in what clang compiles")
        {
            continue;
        }
        for (races, (code, kind)) in [("on", on), ("off", off)] {
            let run = test(program, &["--races", races, "--cc", compiler, "--", level]);
            let run = run.expect(code);
            let json = run.json();
            let (findings, unknowns) = (&json["findings"], &json["tests"][0]["unknowns"]);
            let found = if code == 3 { unknowns } else { findings };
            let first = found[0]["kind"].as_str().unwrap_or("pass");
            assert_eq!(first, kind, "{program} {level} with {compiler}, races {races}\n{json}");
        }
    }
}

#[test]
fn lost_updates_are_found() {
    for level in ["-O0", "-O2"] {
        check("counter", level, (1, "data-race"), (1, "assertion"));
    }
}

#[test]
fn publications_are_right_or_wrong_by_their_order() {
    for level in ["-O0", "-O2"] {
        check("publish", level, (1, "data-race"), (0, "pass"));
        check("publish_wrong", level, (1, "data-race"), (1, "assertion"));
        check("unordered", level, (1, "data-race"), (1, "assertion"));
    }
}

#[test]
fn locks_of_plain_variables_are_right_or_wrong() {
    check("peterson", "-O0", (1, "data-race"), (0, "pass"));
    check("peterson_wrong", "-O0", (1, "data-race"), (1, "assertion"));
}

#[test]
fn loops_that_wait_for_plain_memory_let_the_others_go() {
    check("message", "-O0", (1, "data-race"), (0, "pass"));
}

#[test]
fn accesses_that_libraries_make_leave_it_unknown() {
    check("string", "-O0", (1, "data-race"), (3, "uncontrolled"));
    let json = test("string", &["--races", "off", "--cc", "gcc", "--", "-O0"]).expect(3).json();
    let message = json["tests"][0]["unknowns"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("`races off` allows a data race whose accesses cannot be steps"), "{message}");
}

#[test]
fn copies_of_structures_are_made_word_by_word() {
    let json = test("wide", &["--races", "off", "--cc", "gcc"]).expect(0).json();
    assert_eq!(json["tests"][0]["plain_steps"]["lines"], serde_json::json!(["wide.c:13", "wide.c:18"]), "{json}");
}

#[test]
fn a_block_that_is_freed_too_early_is_found() {
    check("freed", "-O0", (1, "data-race"), (1, "use-after-free"));
}

#[test]
fn numbers_are_those_of_the_last_search_however_many_share_it() {
    let run = |jobs| {
        test("peterson", &["--races", "off", "--strategy", "bounded", "--jobs", jobs, "--", "-O0"]).expect(0).json()
    };
    let (one, four) = (run("1"), run("4"));
    for key in ["runs", "points", "plain_steps"] {
        assert_eq!(one["tests"][0][key], four["tests"][0][key], "{key}");
    }
    let steps = &one["tests"][0]["plain_steps"];
    assert!(steps["runs_before"].as_u64() > Some(0), "{steps}");
    assert!(steps["lines"].as_array().is_some_and(|lines| lines.len() > 4), "{steps}");
}

#[test]
fn a_finding_is_repeated_with_the_steps_that_it_needs() {
    let json = test("peterson_wrong", &["--races", "off", "--", "-O0"]).expect(1).json();
    let path = json["findings"][0]["path"].as_str().expect("a file").to_owned();
    let again = selvedge(&["replay", &path]).expect(1);
    assert!(again.stdout.contains("assertion `inside == 0` failed"), "{}", again.stdout);
}
