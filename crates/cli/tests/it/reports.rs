//! Reports as people read them, one snapshot for each way in, and how wide all snapshots are.

use insta::assert_snapshot;

use crate::*;

/// Histories that show what the examples do not.
const FILES: &[(&str, &str)] = &[
    (
        "relaxed.jsonl",
        "{\"call\":\"enq\",\"thread\":0,\"value\":1}\n{\"return\":null,\"thread\":0}\n\
         {\"call\":\"enq\",\"thread\":0,\"value\":2}\n{\"return\":null,\"thread\":0}\n\
         {\"call\":\"deq\",\"thread\":1}\n{\"return\":2,\"thread\":1}\n",
    ),
    (
        "held-twice.jsonl",
        "{\"call\":\"lock\",\"thread\":1}\n{\"return\":null,\"thread\":1}\n{\"call\":\"lock\",\"thread\":2}\n{\"return\":null,\"thread\":2}\n",
    ),
    (
        "claims.csp",
        "var x = 0;\nUp() = up{x = (x + 1) % 3} -> Up();\n#define two x == 2;\n#define five x == 5;\n\
         #assert Up() deadlockfree;\n#assert Up() reaches two;\n#assert Up() reaches five;\n#assert Up() |= []<> two;\n#assert Up() |= [] !two;\n#assert Up() nonterminating;\n",
    ),
    (
        "stops.csp",
        "channel c 1;\nA() = c!7 -> Skip;\nB() = c?v -> Stop;\nSys() = A() ||| B();\n#assert Sys() deadlockfree;\n",
    ),
    ("grows.csp", "var x = 0;\nUp() = up{x = x + 1} -> Up();\n#assert Up() deadlockfree;\n"),
];

/// Where the commands run: the files, and the examples of the repository.
fn place(name: &str) -> PathBuf {
    let directory = scratch(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the scratch directory is writable");
    for (name, text) in FILES {
        std::fs::write(directory.join(name), text).expect("writable");
    }
    let examples = root().join("examples").canonicalize().expect("the examples");
    std::os::unix::fs::symlink(examples, directory.join("examples")).expect("a link can be made");
    directory
}

/// What the commands print, each with its exit code: all in one.
fn printed(name: &str, commands: &[(&str, i32)]) -> String {
    let directory = place(name);
    let mut all = String::new();
    for (words, code) in commands {
        let args: Vec<&str> = words.split_whitespace().collect();
        let output = command(&args).current_dir(&directory).stdin(Stdio::null()).output().expect("the binary runs");
        let run = Run::new(output).expect(*code);
        all += &format!("$ selvedge {words}\n{}\n", run.stdout);
    }
    all
}

/// Compares without what depends on the clock and on the build.
fn compare(name: &str, text: String) {
    insta::with_settings!({filters => vec![
        (r"\d+(\.\d+)? (cpu s|s|KiB|MiB)\b", "N $2"),
        (r"-[0-9a-f]{8}\.json", "-HASH.json"),
    ]}, {
        assert_snapshot!(name, text);
    });
}

#[test]
fn reports_on_histories() {
    let overtaken = "examples/histories/fail/queue-overtaken.jsonl";
    let commands = [
        ("check examples/histories/pass/queue.jsonl --certificate pass.cert", 0),
        ("verify examples/histories/pass/queue.jsonl pass.cert", 0),
        (&*format!("verify {overtaken} pass.cert"), 1),
        (&format!("check {overtaken}"), 1),
        (&format!("check {overtaken} --quiet"), 1),
        (&format!("check examples/histories/pass/queue.jsonl {overtaken}"), 1),
        ("check relaxed.jsonl --quasi deq=1 --certificate relaxed.cert", 0),
        ("verify relaxed.jsonl relaxed.cert", 0),
        ("check relaxed.jsonl --quasi deq=0", 1),
        ("check relaxed.jsonl --quasi deq=1 --reading closed", 1),
        ("check relaxed.jsonl --quasi deq --quasi-min", 0),
        (&format!("check {overtaken} --approximate k=2"), 1),
        (&format!("check {overtaken} --approximate k=0"), 3),
        ("check held-twice.jsonl --kernel mutex", 1),
        ("monitor --object queue examples/histories/pass/queue.jsonl", 0),
        (&format!("monitor --object queue {overtaken}"), 1),
        ("monitor --object queue -k 2 examples/histories/pass/queue.jsonl", 3),
    ];
    compare("histories", printed("reports-histories", &commands));
}

#[test]
fn reports_on_models() {
    let commands = [
        ("model claims.csp", 1),
        ("model stops.csp", 1),
        ("model grows.csp --states-max 100", 3),
        ("model examples/models/tickets.csp --assert 2", 1),
    ];
    compare("models", printed("reports-models", &commands));
}

/// Whether the line may be longer: it is for an editor or a shell, which would not understand two, it is the line of one file among several, which can be searched, or the library for flags or the
/// compiler says it.
fn is_one_word(line: &str) -> bool {
    let of_several =
        ["PASS  ", "FAIL  ", "UNKNOWN  "].iter().any(|label| line.starts_with(label)) && line.contains("; ");
    of_several
        || ["error: ", "$ ", "  replay: selvedge replay ", "  matrix: --matrix ", "  [possible values: ", "wrong.c:"]
            .iter()
            .any(|start| line.starts_with(start))
}

#[test]
fn everything_fits_a_terminal() {
    use unicode_width::UnicodeWidthStr;
    let mut seen = 0;
    for folder in ["src/report/snapshots", "tests/it/snapshots"] {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("snapshots") {
            let path = entry.expect("readable").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let (_, content) = text.split_once("\n---\n").expect("what it is of, and what it is");
            seen += 1;
            // How long the name of a file is, is not for the tool to say.
            let content = content.replace("examples/histories/fail/queue-overtaken.jsonl", "queue-overtaken.jsonl");
            for line in content.lines().filter(|line| !is_one_word(line)) {
                assert!(line.width() <= 80, "{}: {} columns: {line}", path.display(), line.width());
            }
        }
    }
    assert!(seen > 45, "{seen}");
}
