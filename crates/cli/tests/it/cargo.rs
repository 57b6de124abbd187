//! `cargo selvedge test`, on the example of its page.

use crate::*;

/// The blocks of that language on the page, in order.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/testing-rust.md")).expect("the page");
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|part| part.split("```").next().expect("a block").to_owned()).collect()
}

/// The example of the page as a project of its own.
fn project(name: &str) -> PathBuf {
    let directory = scratch(name);
    for part in ["src", "tests"] {
        std::fs::create_dir_all(directory.join(part)).expect("the scratch directory is writable");
    }
    let manifest = blocks("toml").remove(0);
    let dependency = root().canonicalize().expect("the repository").join("crates/selvedge");
    let path = "../selvedge/crates/selvedge";
    assert!(manifest.contains(path), "{manifest}");
    // Without a workspace of its own it would belong to the one that it lies in.
    let manifest = manifest.replace(path, dependency.to_str().expect("a plain name")) + "\n[workspace]\n";
    let [library, tests]: [String; 2] = blocks("rust").try_into().expect("two files");
    for (file, text) in [("Cargo.toml", manifest), ("src/lib.rs", library), ("tests/counter.rs", tests)] {
        std::fs::write(directory.join(file), text).expect("the scratch directory is writable");
    }
    // The versions that are known to this workspace need no network.
    std::fs::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file is copied");
    directory
}

/// `cargo selvedge test` as cargo starts it, in a project.
fn cargo_selvedge(project: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-selvedge"));
    command.args(["selvedge", "test"]).args(args).current_dir(project).stdin(Stdio::null());
    command.env("SELVEDGE_CACHE", scratch("cargo-cache")).env("CARGO_NET_OFFLINE", "true");
    command.env("CARGO_TARGET_DIR", scratch("cargo-target")).env("RUST_BACKTRACE", "0");
    // What the cargo of this test says is not meant for the one that is started here.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "SELVEDGE_RUNTIME", "RUST_TEST_THREADS"] {
        command.env_remove(variable);
    }
    command
}

fn run(mut command: Command) -> Run {
    Run::new(command.output().expect("the binary runs"))
}

/// Whether the toolchain lacks what it takes; says so.
fn skipped(run: &Run) -> bool {
    let lacks = run.code == 2
        && (run.stderr.contains("the Rust toolchain lacks") || run.stderr.contains("tests can be controlled on"));
    if lacks {
        println!("skipped: {}", run.stderr.trim());
    }
    lacks
}

/// The line of the report on what the test calls with that name explores.
#[track_caller]
fn line_of<'a>(run: &'a Run, test: &str) -> &'a str {
    let tests = blocks("rust").remove(1);
    let start = tests.find(&format!("fn {test}()")).expect("the test is on the page");
    let number = tests[..start].lines().count() + 2;
    let place = format!("tests/counter.rs:{number}: ");
    let mut lines = run.stdout.lines().filter(|line| line.contains(&place) && !line.starts_with("thread"));
    lines.next().unwrap_or_else(|| panic!("{place}\n{}\n{}", run.stdout, run.stderr))
}

#[test]
fn the_example_of_the_page() {
    let project = project("cargo-example");
    let all = run(cargo_selvedge(&project, &["--time-max", "50s"]));
    if skipped(&all) {
        return;
    }
    let all = all.expect(1);
    assert!(line_of(&all, "every_count_counts").starts_with("PASS  "), "{}", all.stdout);
    let failed = line_of(&all, "a_count_is_lost");
    assert!(failed.starts_with("FAIL  ") && failed.contains(": panic in run "), "{failed}");
    assert!(failed.contains("an update is lost"), "{failed}");
    assert!(all.stdout.contains("test every_count_counts ... ok"), "{}", all.stdout);
    assert!(all.stdout.contains("test a_count_is_lost ... FAILED"), "{}", all.stdout);

    // From elsewhere, with cargo's arguments and those of the test program.
    let manifest = project.join("Cargo.toml");
    let manifest = manifest.to_str().expect("a plain name");
    let dpor = ["--manifest-path", manifest, "--strategy", "dpor", "--test", "counter", "--", "every_count"];
    let one = run(cargo_selvedge(root(), &dpor)).expect(0);
    let line = line_of(&one, "every_count_counts");
    assert!(line.starts_with("PASS  ") && line.ends_with(", exhaustive"), "{line}");
    assert!(!one.stdout.contains("a_count_is_lost"), "{}", one.stdout);

    // Optimisation at link time would need the bitcode that is not instrumented.
    let lto = std::fs::read_to_string(manifest).expect("the manifest") + "\n[profile.release]\nlto = true\n";
    std::fs::write(manifest, lto).expect("writable");
    let optimised = run(cargo_selvedge(&project, &["--release", "--test", "counter", "lost"])).expect(1);
    assert!(line_of(&optimised, "a_count_is_lost").starts_with("FAIL  "), "{}", optimised.stdout);

    let cut = run(cargo_selvedge(&project, &["--runs", "1", "--test", "counter", "every_count"])).expect(3);
    let line = line_of(&cut, "every_count_counts");
    assert!(line.starts_with("UNKNOWN  ") && line.contains(": 1 run, "), "{line}");

    let wrong = run(cargo_selvedge(&project, &["--frobnicate"])).expect(2);
    assert!(wrong.stderr.contains("--frobnicate"), "{}", wrong.stderr);
    std::fs::write(project.join("tests/broken.rs"), "#[test] fn broken() { nothing }").expect("writable");
    let broken = run(cargo_selvedge(&project, &[])).expect(2);
    std::fs::remove_file(project.join("tests/broken.rs")).expect("writable");
    assert!(broken.stderr.contains("cannot find value `nothing`"), "{}", broken.stderr);
}

#[test]
fn plain_cargo_says_what_to_use() {
    let project = project("cargo-plain");
    let mut plain = Command::new(env!("CARGO"));
    plain.args(["test", "--offline", "--test", "counter"]).current_dir(&project);
    let plain = Run::new(plain.env("CARGO_TARGET_DIR", scratch("cargo-plain-target")).output().expect("cargo runs"));
    let plain = plain.expect(101);
    let sentence = "this test explores schedules: run it with `cargo selvedge test`";
    assert_eq!(plain.stdout.matches(sentence).count(), 2, "{}", plain.stdout);
}

#[test]
fn what_is_missing_is_told() {
    let mut command = cargo_selvedge(root(), &[]);
    command.env("SELVEDGE_RUNTIME", "/nowhere/libselvedge_runtime.so");
    let none = run(command).expect(2);
    if !skipped(&none) {
        let said = "error: the runtime was not found; it was looked for at `/nowhere/libselvedge_runtime.so`";
        assert!(none.stderr.starts_with(said), "{}", none.stderr);
    }
    let target = run(cargo_selvedge(root(), &["--target", "x86_64-unknown-linux-musl"])).expect(2);
    assert!(target.stderr.contains("controlled on x86_64-unknown-linux-gnu only"), "{}", target.stderr);
    let threads = run(cargo_selvedge(root(), &["--", "--test-threads=2"])).expect(2);
    assert!(threads.stderr.contains("--test-threads can only be 1"), "{}", threads.stderr);
    let usage = run(cargo_selvedge(root(), &["--strategy", "guess"])).expect(2);
    assert!(usage.stderr.contains("portfolio"), "{}", usage.stderr);
}

/// A toolchain whose standard library is an archive without any object.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn a_toolchain_without_bitcode_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let toolchain = scratch("cargo-toolchain");
    let libraries = toolchain.join("lib/rustlib/x86_64-unknown-linux-gnu/lib");
    std::fs::create_dir_all(&libraries).expect("writable");
    std::fs::write(libraries.join("libstd-0.rlib"), "!<arch>\n").expect("writable");
    let rustc = toolchain.join("rustc");
    let path = toolchain.display();
    let script = format!("#!/bin/sh\ncase $1 in -vV) echo commit-hash: none;; *) echo '{path}';; esac\n");
    std::fs::write(&rustc, script).expect("writable");
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).expect("its owner may");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::join_paths([toolchain.clone()].into_iter().chain(std::env::split_paths(&paths)));
    let mut command = cargo_selvedge(root(), &[]);
    command.env("PATH", paths.expect("plain names")).env("SELVEDGE_CACHE", toolchain.join("cache"));
    let run = run(command).expect(2);
    let said = "error: the standard library cannot be instrumented: the Rust toolchain lacks the bitcode of `std`\n";
    assert!(run.stderr.starts_with(said), "{}", run.stderr);
    let left = std::fs::read_dir(toolchain.join("cache")).map_or(0, |entries| entries.count());
    assert_eq!(left, 0, "nothing half-made is left behind");
}
