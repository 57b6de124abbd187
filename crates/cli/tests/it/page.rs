//! Pages in a real browser, where there is one: they come up without an error, they can be stepped through by keys, they fit narrow windows, and nothing in a
//! history, a program or a model becomes part of them.

use std::path::{Path, PathBuf};

use crate::browser::{Held, browser};
use crate::{file, root, scratch, selvedge};

const WIDE: (u32, u32) = (1400, 900);

/// The page that a command writes.
fn page_of(args: &[&str], name: &str) -> PathBuf {
    let page = scratch(name);
    let _ = std::fs::remove_file(&page);
    let run = selvedge(&[args, &["--html", page.to_str().unwrap()]].concat());
    assert!(run.code < 2 || run.code == 3, "{}", run.stderr);
    assert!(page.exists(), "{}", run.stderr);
    page
}

/// Opens the page in a wide and in a narrow window, in the light, in the dark and on paper: nothing is wider than the window, and there is something to see.
fn look(browser: &mut Held, page: &Path) {
    let name = page.file_stem().and_then(|stem| stem.to_str()).unwrap_or("page");
    for (width, height) in [WIDE, (420, 900)] {
        let mut tab = browser.open(page, "", (width, height));
        tab.expect_ready();
        for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
            tab.media(media, scheme);
            let wide = tab.value("document.documentElement.scrollWidth");
            let too_wide = media == "screen" && wide.as_u64() > Some(u64::from(width));
            assert!(!too_wide, "{name}, {scheme}: {wide} is wider than a window of {width}");
            let size = tab.picture(&format!("{name}-{width}-{media}-{scheme}"));
            assert!(size > 6_000, "{name}, {width}, {media}, {scheme}: the picture is empty");
        }
        tab.expect_ready();
    }
}

/// The page of a history with 10,000 operations, some of which overlap with seven others.
fn large(violation: bool, flags: &[&str], name: &str) -> PathBuf {
    let history = scratch(&format!("{name}.jsonl"));
    let history = history.to_str().unwrap();
    let mut generate =
        vec!["generate", "--object", "queue", "--operations", "10000", "--processes", "8", "-o", history];
    generate.extend(violation.then_some("--violation"));
    selvedge(&generate).expect(0);
    page_of(&[&["check", history], flags].concat(), &format!("{name}.html"))
}

/// Time on the clock says how busy the machine is. What holds everywhere: how large the page is, how long a processor has to do with it until it can be used, how
/// many elements it has, which does not grow with the history, and how long drawing everything takes. docs/reports.md has what was measured.
#[test]
fn ten_thousand_operations_fit_a_small_page_that_comes_up() {
    for (violation, flags, name) in [
        (false, &[][..], "page-10000-pass"),
        (true, &[], "page-10000-fail"),
        (false, &["--object", "queue", "--quasi", "deq=2"], "page-10000-quasi"),
    ] {
        let page = large(violation, flags, name);
        assert!(std::fs::metadata(&page).unwrap().len() < 5_000_000);
        let Some(mut browser) = browser() else { return };
        let mut tab = browser.open(&page, "", WIDE);
        tab.expect_ready();
        let busy = tab.busy();
        assert!(busy < 2.0, "{name}: {busy} s until it can be used");
        let elements = tab.value("document.getElementsByTagName('*').length").as_u64().expect("a number");
        assert!(elements < 5_000, "{name}: {elements} elements");
        // Everything in view is the most work there is, and it shall still be smooth.
        tab.press(&["f"]);
        let before = tab.busy();
        tab.value("(() => { for (let i = 0; i < 20; i++) board.paint(); })()");
        let frame = (tab.busy() - before) / 20.0;
        assert!(frame < 0.1, "{name}: a frame takes {frame} s");
        let steps = if violation { "9002 of 9002" } else { "10000 of 10000" };
        tab.press(&["n", "n", "End"]).expect_ready().expect(&[steps]);
    }
}

/// The violation lies at nine tenths of the history, and so must the end of the order that is shown: one that stops after the first thousands explains nothing.
#[test]
fn the_order_of_a_long_history_goes_on_to_where_it_goes_wrong() {
    let page = large(true, &[], "page-10000-order");
    let Some(mut browser) = browser() else { return };
    let mut tab = browser.open(&page, "", WIDE);
    tab.expect_ready().expect(&["<dd>to blame</dd>", "The longest order found", ">9002 of 9002<"]);
    tab.expect(&["This order has 9,002 of 10,000 operations", "Only deq→4474 (lines 18006-18007) may come next"]);
    // The last step is shown in the list, what the object holds there is said, and what goes wrong is in view.
    assert_eq!(tab.value("document.querySelector('#order li:last-child .n').textContent"), "9002");
    assert_ne!(tab.value("document.getElementById('holds').textContent"), "");
    let different = "new Set(page.data.orders[0].ops).size";
    assert_eq!(tab.value(different), 9002);
}

/// Whoever asked for a page gets one, whatever the answer is.
#[test]
fn an_answer_that_was_cut_short_has_a_page() {
    let history = crate::hard("page-unknown.jsonl");
    let page = page_of(&["check", &history, "--time-max", "300ms"], "page-unknown.html");
    let Some(mut browser) = browser() else { return };
    let words = ["verdict unknown", "the time limit of 300 ms was reached"];
    browser.open(&page, "", WIDE).expect_ready().expect(&words);
    // Here the worker has no answer of its own: it waits for somebody to write.
    let page = scratch("page-cut.html");
    let _ = std::fs::remove_file(&page);
    let mut waiting = crate::command(&["check", "-", "--time-max", "200ms", "--html", page.to_str().unwrap()]);
    let mut waiting = waiting.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let nobody_writes = waiting.stdin.take();
    assert_eq!(waiting.wait().unwrap().code(), Some(3));
    drop(nobody_writes);
    let words = ["verdict unknown", "Unknown: the time limit of 200 ms was reached.", "It was cut short here: "];
    browser.open(&page, "", WIDE).expect_ready().expect(&words);
}

/// On paper there is no colour behind letters unless one asks for it, no scrolling, and no dark.
#[test]
fn a_page_prints_as_it_looks_in_the_light() {
    let page = page_of(&["check", "examples/histories/fail/queue-overtaken.jsonl"], "page-print.html");
    let findings = scratch("page-print-findings");
    let flags = ["test", "examples/c/account.c", "--jobs", "1", "--findings", findings.to_str().unwrap()];
    let tested = page_of(&flags, "page-print-test.html");
    let Some(mut browser) = browser() else { return };
    for (page, sheets) in [(page, 1), (tested, 2)] {
        let mut tab = browser.open(&page, "", WIDE);
        tab.expect_ready().media("screen", "dark");
        let ground = "getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()";
        assert_eq!(tab.value(ground), "#14171b");
        tab.value(&format!("window.addEventListener('beforeprint', () => {{ window.onpaper = {ground}; }})"));
        let name = page.file_stem().and_then(|stem| stem.to_str()).unwrap_or("page").to_owned();
        assert_eq!(tab.sheets(&name), sheets, "{name}");
        // Lanes are a drawing: they are drawn anew for the paper, with its colours.
        let drawn = if sheets == 1 { "#ffffff" } else { "#14171b" };
        assert_eq!(tab.value("window.onpaper"), drawn, "{name}");
        tab.media("print", "dark");
        assert_eq!(tab.value(ground), "#ffffff", "{name}");
        let shown = "getComputedStyle(document.querySelector('.verdict')).printColorAdjust";
        assert_eq!(tab.value(shown), "exact", "{name}");
        let cut = "[...document.querySelectorAll('.line, .panel, ol.order')].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'none').length";
        assert_eq!(tab.value(cut), 0, "{name}: something is cut off at the side");
        tab.media("screen", "dark");
        assert_eq!(tab.value(ground), "#14171b", "{name}: the screen is dark again");
    }
}

#[test]
fn an_order_is_followed_by_keys_and_by_address() {
    let page = page_of(&["check", "examples/histories/pass/queue.jsonl"], "page-steps.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let mut tab = browser.open(&page, "", WIDE);
    tab.press(&["n", "n", "n", "p"]).expect_ready().expect(&[">2 of 5<", "aria-current=\"step\""]);
    assert_eq!(tab.value("location.hash"), "#order=1&step=2");
    tab.press(&["End"]).expect(&[">5 of 5<"]).click("#order button").expect(&[">1 of 5<"]);
    // What is typed into the search is no key of the page.
    tab.press(&["/"]).press(&["d", "e", "q", "n"]).expect_ready().expect(&[">1 of 5<", "nothing found"]);
    drop(tab);
    browser.open(&page, "#step=3", WIDE).expect_ready().expect(&[">3 of 5<"]);
    // An address that makes no sense is no error.
    browser.open(&page, "#order=x&step=-7", WIDE).expect_ready().expect(&[">0 of 5<"]);
}

#[test]
fn a_violation_is_shown_with_what_does_not_fit() {
    let page = page_of(&["check", "examples/histories/fail/queue-overtaken.jsonl"], "page-fail.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let mut tab = browser.open(&page, "", WIDE);
    tab.expect_ready().expect(&[
        "Not linearizable as a queue",
        "Only deq→milk (lines 4-8) may come next",
        "deq would answer tea",
    ]);
    // One step back the reason does not stand there, since the order could go on.
    tab.press(&["p"]);
    assert!(!tab.shown().contains("may come next"));
    tab.press(&["ArrowRight", "v", "+", "-", "f"]).expect_ready();
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
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let words = ["Quasi linearizable as a queue with deq=1", "legal run", "early by 1", "late by 1", "tie moved"];
    browser.open(&page, "#step=4", WIDE).expect_ready().expect(&words);
    let words = ["Not quasi linearizable", "A factor of 1 for deq would do"];
    browser.open(&fails, "", WIDE).expect_ready().expect(&words);
}

#[test]
fn counters_are_shown_with_their_intervals() {
    let history = "examples/histories/fail/queue-overtaken.jsonl";
    let page = page_of(&["check", history, "--approximate", "k=4"], "page-counting.html");
    let blind = page_of(&["check", history, "--approximate", "k=0"], "page-counting-blind.html");
    let both = [
        "{\"selvedge\":\"history\",\"version\":1}",
        "{\"call\":\"acquire\",\"thread\":1}\n{\"return\":null,\"thread\":1}",
        "{\"call\":\"acquire\",\"thread\":2}\n{\"return\":null,\"thread\":2}",
    ];
    let both = file("page-kernel.jsonl", both.join("\n").as_bytes());
    let by_kernel = page_of(&["check", &both, "--kernel", "mutex"], "page-kernel.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let words = ["What the counters see, k = 4", "slotbar", "how many", "class=\"bad\""];
    browser.open(&page, "", WIDE).expect_ready().expect(&words);
    browser.open(&blind, "", WIDE).expect_ready().expect(&["No answer: no violation visible at k=0"]);
    browser.open(&by_kernel, "", WIDE).expect_ready().expect(&["What the counters see", "class=\"bad\""]);
}

#[test]
fn an_interleaving_is_stepped_through_beside_its_source() {
    let findings = scratch("page-findings");
    let findings = findings.to_str().unwrap();
    let _ = std::fs::remove_dir_all(findings);
    let page = page_of(&["test", "examples/c/account.c", "--jobs", "1", "--findings", findings], "page-account.html");
    let found = std::fs::read_dir(findings).unwrap().next().unwrap().unwrap().path();
    let again = page_of(&["replay", found.to_str().unwrap()], "page-replayed.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let mut tab = browser.open(&page, "", WIDE);
    let words = ["✗ assertion fails", "Shared memory after step 6", ">-20<", "atomic_fetch_sub", "selvedge replay"];
    tab.expect_ready().expect(&words);
    // Two steps back from the end the second withdrawal happens.
    tab.press(&["p", "ArrowLeft"]).expect(&["Shared memory after step 4", "<strong>-20</strong>"]);
    assert_eq!(tab.value("document.querySelector('.line.now .n').textContent"), "13");
    tab.press(&["Home"]).expect(&["Shared memory before the first step"]);
    tab.press(&["n", "ArrowRight"]).expect(&["Shared memory after step 2"]).click("table.steps tbody tr:nth-child(3)");
    tab.expect(&["Shared memory after step 3", "<strong>40</strong>"]).click(".line.hit");
    assert_eq!(tab.value("document.querySelector('.line.now').classList.contains('hit')"), true);
    tab.expect_ready();
    drop(tab);
    let words = ["Shared memory after step 3", "<strong>40</strong>"];
    browser.open(&page, "#finding=1&step=3", WIDE).expect_ready().expect(&words);
    let words = ["the same violation again", "Shared memory after step 6"];
    browser.open(&again, "", WIDE).expect_ready().expect(&words);
}

#[test]
fn threads_that_wait_for_each_other_are_drawn() {
    let findings = scratch("page-deadlock-findings");
    let program = "corpus/programs/deadlock/three_locks.c";
    let flags = ["test", program, "--jobs", "1", "--findings", findings.to_str().unwrap()];
    let page = page_of(&flags, "page-deadlock.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let words = ["Who waits for whom: T1 → T2 → T3 → T1", "edge bad", "held by T3"];
    browser.open(&page, "#step=2", WIDE).expect_ready().expect(&words);
}

#[test]
fn an_object_has_its_matrix_and_its_history() {
    let findings = scratch("page-object-findings");
    let program = "crates/runtime/tests/objects/paper.c";
    let flags = ["test", program, "--test", "counter1", "--matrix", "inc(), get() | inc()"];
    let page = page_of(&[&flags[..], &["--findings", findings.to_str().unwrap()]].concat(), "page-object.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let mut tab = browser.open(&page, "#step=3", WIDE);
    let words = ["Operations and results", "get() -&gt; 1", "The history", "No serial order of these operations"];
    tab.expect_ready().expect(&words).click(".op").expect_ready().expect(&["here it returned 1"]);
}

#[test]
fn several_tests_are_a_list() {
    let findings = scratch("page-list-findings");
    let source = "#include <assert.h>\n#include <selvedge.h>\nSELVEDGE_TEST(right) { assert(1); }\nSELVEDGE_TEST(wrong) { assert(0); }\nSELVEDGE_TEST(bad) { assert(0); }\n";
    let program = file("page_list.c", source.as_bytes());
    let page = page_of(&["test", &program, "--jobs", "1", "--findings", findings.to_str().unwrap()], "page-list.html");
    let Some(mut browser) = browser() else { return };
    let mut tab = browser.open(&page, "", WIDE);
    tab.expect_ready().expect(&["3 tests: 2 failed, 1 passed."]);
    let open = "[...document.querySelectorAll('details.test')].map((test) => test.open)";
    assert_eq!(tab.value(open), serde_json::json!([false, true, false]));
    tab.click("details.test:nth-child(3) summary").click("details.test:nth-child(1) summary").expect_ready();
    assert_eq!(tab.value(open), serde_json::json!([true, true, true]));
    tab.expect(&["id=\"finding-2\"", "exhaustive: "]);
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
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    look(&mut browser, &small);
    let words = ["Thread(0)", "push_inv.1", "The state after step 5", "it would allow: returns 2"];
    browser.open(&page, "#step=5", WIDE).expect_ready().expect(&words);
    let mut tab = browser.open(&small, "", WIDE);
    let words = ["The state after step 2", "class=\"message\"", "All 9 states, the run marked", "node way now"];
    tab.press(&["Home", "n", "n"]).expect_ready().expect(&words);
    // The first assertion is closed until somebody opens it.
    tab.click("details.test summary").expect_ready().expect(&["id=\"claim-1\""]);
}

#[test]
fn a_monitor_shows_the_violations_it_saw() {
    let flags = ["monitor", "examples/histories/fail/queue-overtaken.jsonl", "--object", "queue"];
    let page = page_of(&flags, "page-monitor.html");
    let right =
        page_of(&["monitor", "examples/histories/pass/queue.jsonl", "--object", "queue"], "page-monitor-pass.html");
    let Some(mut browser) = browser() else { return };
    look(&mut browser, &page);
    let words = ["fail: queue, 1 violation in", "enq(tea)", "deq→milk", "class=\"lane\""];
    browser.open(&page, "", WIDE).expect_ready().expect(&words);
    browser.open(&right, "", WIDE).expect_ready().expect(&["pass: queue, nothing wrong"]);
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
    pages.push(page_of(&["monitor", &history, "--object", "queue"], "page-hostile-monitor.html"));
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
    let model = file(
        "<img src=x onerror=alert(1)>.csp",
        b"// </script><img src=x>\nP() = a -> Stop;\n#assert P() deadlockfree;\n",
    );
    pages.push(page_of(&["model", &model], "page-hostile-model.html"));
    let Some(mut browser) = browser() else { return };
    for page in pages {
        let mut tab = browser.open(&page, "", WIDE);
        tab.expect_ready();
        assert_ne!(tab.value("document.title"), "taken", "{page:?}: a script in the input ran");
        assert_eq!(
            tab.value("document.querySelectorAll('img').length"),
            0,
            "{page:?}: markup in the input was taken as such"
        );
        // Its own script is the only one besides the data.
        assert_eq!(tab.value("document.scripts.length"), 2, "{page:?}");
    }
    // Even markup that is there has no right to run.
    let text = std::fs::read_to_string(scratch("page-hostile.html")).unwrap();
    let injected = scratch("page-injected.html");
    let script =
        "<script>document.title='taken'</script><img id=\"there\" src=x onerror=\"document.title='taken'\"></body>";
    std::fs::write(&injected, text.replace("</body>", script)).unwrap();
    let mut tab = browser.open(&injected, "", WIDE);
    assert_eq!(tab.value("document.getElementById('there') !== null"), true);
    assert_ne!(tab.value("document.title"), "taken", "an injected script ran");
}
