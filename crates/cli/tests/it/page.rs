//! Pages in a real browser, where there is one: they come up without an error, they can be stepped through by keys, they fit narrow windows, and nothing in a
//! history, a program or a model becomes part of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{file, root, scratch, selvedge};

/// A browser that can be driven without a screen.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|p| p.exists());
    if found.is_none() {
        eprintln!("no Chromium on PATH: pages are not opened (Debian: apt-get install chromium)");
    }
    found
}

/// A page after its scripts ran.
struct Opened {
    /// The document as it is then.
    dom: String,
    /// What was said on the console.
    console: Vec<String>,
}

impl Opened {
    /// The page came up, and nothing went wrong in it.
    #[track_caller]
    fn expect_ready(self) -> Self {
        assert!(self.dom.contains("data-ready=\"yes\""), "the script did not reach its end: {:?}", self.console);
        assert_eq!(self.console, [""; 0], "something was said on the console");
        self
    }

    #[track_caller]
    fn expect(self, words: &[&str]) -> Self {
        // What is shown, and not the data that it is made from.
        let shown = self.dom.split("id=\"data\"").next().unwrap_or_default();
        for word in words {
            assert!(shown.contains(word), "`{word}` is not shown");
        }
        self
    }
}

/// Opens a page, with a part of its address after the `#`.
fn open(browser: &Path, page: &Path, hash: &str, more: &[&str]) -> Opened {
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--window-size=1200,800", "--dump-dom"])
        .args(more)
        .arg(format!("file://{}{hash}", page.display()))
        .output()
        .expect("the browser starts");
    let _ = std::fs::remove_dir_all(profile);
    let said = String::from_utf8_lossy(&output.stderr);
    let console = said.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    Opened { dom: String::from_utf8_lossy(&output.stdout).into_owned(), console }
}

/// Time goes by as fast as it can: what a page does a little later is seen, too.
const LATER: &str = "--virtual-time-budget=3000";

/// The page with a script at its end that does what a person would, and has the right to run.
fn with_script(page: &Path, script: &str) -> PathBuf {
    let text = std::fs::read_to_string(page).unwrap();
    let nonce = text.split("<script nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a nonce");
    let changed = page.with_extension("scripted.html");
    let text = text.replace("</body>", &format!("<script nonce=\"{nonce}\">{script}</script></body>"));
    std::fs::write(&changed, text).unwrap();
    changed
}

/// A script that presses keys.
fn press(keys: &[&str]) -> String {
    let press = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))";
    format!("for (const key of {}) {press};", serde_json::to_string(keys).unwrap())
}

/// Opens the page in a narrow window, in the dark, and on paper: nothing is wider than the window, and there is something to see.
fn look(browser: &Path, page: &Path) {
    let name = page.file_stem().and_then(|stem| stem.to_str()).unwrap_or("page");
    let measure = "const root = document.documentElement; root.dataset.wide = root.scrollWidth <= innerWidth ? 'fits' : root.scrollWidth;";
    let measured = with_script(page, measure);
    for (look, flags) in [
        ("narrow", &["--window-size=500,900"][..]),
        ("dark", &["--window-size=1400,900", "--blink-settings=preferredColorScheme=0"]),
    ] {
        let shot = scratch(&format!("{name}-{look}.png"));
        let shot_flag = format!("--screenshot={}", shot.display());
        let opened = open(browser, &measured, "", &[flags, &[LATER, &shot_flag]].concat()).expect_ready();
        assert!(opened.dom.contains("data-wide=\"fits\""), "{name}, {look}: wider than the window");
        assert!(std::fs::metadata(&shot).map_or(0, |file| file.len()) > 8_000, "{name}, {look}: the picture is empty");
    }
    let paper = scratch(&format!("{name}.pdf"));
    open(browser, page, "", &[LATER, &format!("--print-to-pdf={}", paper.display())]);
    assert!(std::fs::metadata(&paper).map_or(0, |file| file.len()) > 5_000, "{name}: nothing is printed");
}

/// The page that a command writes.
fn page_of(args: &[&str], name: &str) -> PathBuf {
    let page = scratch(name);
    let _ = std::fs::remove_file(&page);
    let run = selvedge(&[args, &["--html", page.to_str().unwrap()]].concat());
    assert!(run.code < 2 || run.code == 3, "{}", run.stderr);
    assert!(page.exists(), "{}", run.stderr);
    page
}

#[test]
fn ten_thousand_operations_fit_a_small_page_that_comes_up() {
    let history = scratch("page-10000.jsonl");
    let history = history.to_str().unwrap();
    for (violation, name) in [(true, "page-10000-fail.html"), (false, "page-10000-pass.html")] {
        let mut flags =
            vec!["generate", "--object", "queue", "--operations", "10000", "--processes", "8", "-o", history];
        flags.extend(violation.then_some("--violation"));
        selvedge(&flags).expect(0);
        let page = page_of(&["check", history], name);
        assert!(std::fs::metadata(&page).unwrap().len() < 5_000_000);
        let Some(browser) = browser() else { return };
        // In real time: the scripts of the page shall not need seconds.
        let opened = open(&browser, &page, "", &[]).expect_ready();
        let took = opened.dom.split("data-took=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a time");
        assert!(took.parse::<u64>().expect("milliseconds") < 2_000, "it took {took} ms");
        if violation {
            opened.expect(&["<dd>to blame</dd>", "The longest order found"]);
        }
    }
}

#[test]
fn an_order_is_followed_by_keys_and_by_address() {
    let page = page_of(&["check", "examples/histories/pass/queue.jsonl"], "page-steps.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    let opened = open(&browser, &with_script(&page, &press(&["n", "n", "n", "p"])), "", &[LATER]).expect_ready();
    opened.expect(&[">2 of ", "aria-current=\"step\""]);
    open(&browser, &page, "#step=3", &[LATER]).expect_ready().expect(&[">3 of "]);
    // An address that makes no sense is no error.
    open(&browser, &page, "#order=x&step=-7", &[LATER]).expect_ready().expect(&[">0 of "]);
}

#[test]
fn a_violation_is_shown_with_what_does_not_fit() {
    let page = page_of(&["check", "examples/histories/fail/queue-overtaken.jsonl"], "page-fail.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    open(&browser, &page, "", &[LATER]).expect_ready().expect(&[
        "Not linearizable as a queue",
        "may come next",
        "would answer",
    ]);
}

#[test]
fn a_quasi_linearizable_history_has_a_legal_run_beside_it() {
    let mut text = String::new();
    for value in [1, 2, 3] {
        text += &format!("{{\"call\":\"enq\",\"value\":{value},\"thread\":0}}\n{{\"return\":null,\"thread\":0}}\n");
    }
    for value in [2, 1] {
        text += &format!("{{\"call\":\"deq\",\"thread\":0}}\n{{\"return\":{value},\"thread\":0}}\n");
    }
    let history = file("page-quasi.jsonl", text.as_bytes());
    let page = page_of(&["check", &history, "--object", "queue", "--quasi", "deq=1"], "page-quasi.html");
    let fails = page_of(&["check", &history, "--object", "queue", "--quasi", "deq=0"], "page-quasi-fail.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    let opened = open(&browser, &page, "#step=4", &[LATER]).expect_ready();
    opened.expect(&["Quasi linearizable as a queue with deq=1", "legal run", "early by 1", "late by 1", "tie moved"]);
    open(&browser, &fails, "", &[LATER])
        .expect_ready()
        .expect(&["Not quasi linearizable", "A factor of 1 for deq would do"]);
}

#[test]
fn counters_are_shown_with_their_intervals() {
    let history = "examples/histories/fail/queue-overtaken.jsonl";
    let page = page_of(&["check", history, "--approximate", "k=4"], "page-counting.html");
    let kernel = file("page-kernel.jsonl", b"{\"selvedge\":\"history\",\"version\":1}\n{\"call\":\"acquire\",\"thread\":1}\n{\"return\":null,\"thread\":1}\n\
        {\"call\":\"acquire\",\"thread\":2}\n{\"return\":null,\"thread\":2}\n");
    let by_kernel = page_of(&["check", &kernel, "--kernel", "mutex"], "page-kernel.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    open(&browser, &page, "", &[LATER]).expect_ready().expect(&["What the counters see, k = 4", "slotbar", "how many"]);
    open(&browser, &by_kernel, "", &[LATER]).expect_ready().expect(&["What the counters see", "class=\"bad\""]);
}

#[test]
fn an_interleaving_is_stepped_through_beside_its_source() {
    let findings = scratch("page-findings");
    let findings = findings.to_str().unwrap();
    let _ = std::fs::remove_dir_all(findings);
    let page = page_of(&["test", "examples/c/account.c", "--jobs", "1", "--findings", findings], "page-account.html");
    let found = std::fs::read_dir(findings).unwrap().next().unwrap().unwrap().path();
    let again = page_of(&["replay", found.to_str().unwrap()], "page-replayed.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    let end = open(&browser, &page, "", &[LATER]).expect_ready();
    end.expect(&["✗ assertion fails", "Shared memory after step 6", ">-20<", "atomic_fetch_sub", "selvedge replay"]);
    // Two steps back from the end, the second withdrawal has not happened.
    let keys = ["p", "ArrowLeft", "p", "n"];
    let back = open(&browser, &with_script(&page, &press(&keys)), "", &[LATER]).expect_ready();
    back.expect(&["Shared memory after step 4", "<strong>-20</strong>", "aria-current=\"step\""]);
    open(&browser, &page, "#finding=1&step=1", &[LATER]).expect_ready().expect(&["Shared memory after step 1"]);
    open(&browser, &page, "#step=3", &[LATER])
        .expect_ready()
        .expect(&["Shared memory after step 3", "<strong>40</strong>"]);
    open(&browser, &again, "", &[LATER])
        .expect_ready()
        .expect(&["the same violation again", "Shared memory after step 6"]);
}

#[test]
fn threads_that_wait_for_each_other_are_drawn() {
    let findings = scratch("page-deadlock-findings");
    let flags =
        ["test", "corpus/programs/deadlock/three_locks.c", "--jobs", "1", "--findings", findings.to_str().unwrap()];
    let page = page_of(&flags, "page-deadlock.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    let opened = open(&browser, &page, "#step=2", &[LATER]).expect_ready();
    opened.expect(&["Who waits for whom: T1 → T2 → T3 → T1", "edge bad", "held by T3"]);
}

#[test]
fn an_object_has_its_matrix_and_its_history() {
    let findings = scratch("page-object-findings");
    let flags =
        ["test", "crates/runtime/tests/objects/paper.c", "--test", "counter1", "--matrix", "inc(), get() | inc()"];
    let page = page_of(&[&flags[..], &["--findings", findings.to_str().unwrap()]].concat(), "page-object.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    let opened = open(&browser, &page, "#step=3", &[LATER]).expect_ready();
    opened.expect(&[
        "Operations and results",
        "get() -&gt; 1",
        "The history",
        "No serial order of these operations",
        "here it returned 1",
    ]);
}

#[test]
fn a_model_has_its_run_as_a_chart() {
    let page = page_of(&["model", "corpus/models/refuted/concurrent_stack_no_swap.csp"], "page-model.html");
    let messages = file(
        "page-messages.csp",
        b"channel c 2;\nvar x = 0;\nA() = c!1 -> c!2 -> Skip;\nB() = c?v -> add{x = x + v} -> B();\nSys() = A() ||| B();\n\
          #define done x == 3;\n#assert Sys() reaches done;\n#assert Sys() deadlockfree;\n",
    );
    let small = page_of(&["model", &messages], "page-messages.html");
    let Some(browser) = browser() else { return };
    look(&browser, &page);
    look(&browser, &small);
    let opened = open(&browser, &page, "#step=5", &[LATER]).expect_ready();
    opened.expect(&["Thread(0)", "push_inv.1", "The state after step 5", "it would allow: returns 2"]);
    let pressed = open(&browser, &with_script(&small, &press(&["Home", "n", "n"])), "", &[LATER]).expect_ready();
    pressed.expect(&["The state after step 2", "class=\"message\"", "All 9 states, the run marked", "node way now"]);
}

#[test]
fn hostile_strings_stay_text() {
    let hostile = r#"</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"#;
    let lines = [
        r#"{"selvedge":"history","version":1,"object":"queue"}"#.to_owned(),
        format!(r#"{{"call":"enq","thread":"{hostile}","value":"{hostile}"}}"#),
        format!(r#"{{"return":null,"thread":"{hostile}"}}"#),
        format!(r#"{{"call":"deq","thread":"{hostile}"}}"#),
        format!(r#"{{"return":"other {hostile}","thread":"{hostile}"}}"#),
    ];
    let history = file("<img src=x onerror=alert(1)>.jsonl", lines.join("\n").as_bytes());
    let mut pages = vec![page_of(&["check", &history], "page-hostile.html")];
    pages.push(page_of(&["check", &history, "--approximate", "k=1"], "page-hostile-counting.html"));
    pages.push(page_of(&["check", &history, "--quasi", "deq=1"], "page-hostile-quasi.html"));
    // A program whose name, source and assertion are hostile.
    let source = std::fs::read_to_string(root().join("examples/c/account.c")).unwrap();
    let source =
        format!("/* </script><script>document.title='taken'</script> <img src=x onerror=alert(1)> */\n{source}")
            .replace(
                "assert(atomic_load(&balance) >= 0)",
                "assert(atomic_load(&balance) >= 0 && \"</script><img src=x>\")",
            );
    let program = file("<img src=x onerror=alert(1)>.c", source.as_bytes());
    let findings = scratch("page-hostile-findings");
    let findings = findings.to_str().unwrap();
    pages.push(page_of(&["test", &program, "--jobs", "1", "--findings", findings], "page-hostile-test.html"));
    let Some(browser) = browser() else { return };
    for page in pages {
        let opened = open(&browser, &page, "", &[LATER]).expect_ready();
        assert!(!opened.dom.contains("<title>taken"), "{page:?}: a script in the input ran");
        assert!(!opened.dom.contains("<img"), "{page:?}: markup in the input was taken as such");
    }
    // Even markup that is there has no right to run.
    let page = scratch("page-hostile.html");
    let text = std::fs::read_to_string(&page).unwrap();
    let injected = scratch("page-injected.html");
    let script = "<script>document.title='taken'</script><b id=\"there\"></b></body>";
    std::fs::write(&injected, text.replace("</body>", script)).unwrap();
    let opened = open(&browser, &injected, "", &[LATER]);
    assert!(opened.dom.contains("id=\"there\"") && !opened.dom.contains("<title>taken"), "an injected script ran");
}
