//! Pages in a real browser, where there is one: they come up, they can be stepped through, and nothing in a history
//! becomes part of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{file, scratch, selvedge};

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

/// Opens the page and gives the document as it is after its scripts ran.
fn open(browser: &Path, page: &Path, more: &[&str]) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,800"])
        .args(["--virtual-time-budget=3000", "--dump-dom"])
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The page of a history, which lies in a file of that name.
fn page_of(history: &str, name: &str) -> PathBuf {
    let page = scratch(name);
    let run = selvedge(&["check", history, "--html", page.to_str().unwrap()]);
    assert!(run.code < 2, "{}", run.stderr);
    page
}

#[test]
fn ten_thousand_operations_fit_a_small_page_that_comes_up() {
    let history = scratch("page-10000.jsonl");
    let history = history.to_str().unwrap();
    let flags = ["generate", "--object", "queue", "--operations", "10000", "--processes", "8", "--violation", "-o"];
    selvedge(&[&flags[..], &[history]].concat()).expect(0);
    let page = page_of(history, "page-10000.html");
    assert!(std::fs::metadata(&page).unwrap().len() < 5_000_000);
    let Some(browser) = browser() else { return };
    let shot = scratch("page-10000.png");
    let dom = open(&browser, &page, &[&format!("--screenshot={}", shot.display())]);
    assert!(dom.contains("data-ready=\"yes\""), "the script did not reach its end");
    assert!(dom.contains("<dd>to blame</dd>"), "the operation to blame is not selected");
    assert!(std::fs::metadata(&shot).map_or(0, |file| file.len()) > 20_000, "the picture is empty");
}

#[test]
fn an_order_is_followed_step_by_step() {
    let page = page_of("examples/histories/pass/queue.jsonl", "page-steps.html");
    let Some(browser) = browser() else { return };
    let text = std::fs::read_to_string(&page).unwrap();
    let stepped = scratch("page-stepped.html");
    let clicks = "<script>for (let i = 0; i < 2; i++) document.getElementById('forward').click();</script></body>";
    std::fs::write(&stepped, text.replace("</body>", clicks)).unwrap();
    let dom = open(&browser, &stepped, &[]);
    assert!(dom.contains(">2 of "), "two steps were not made");
    assert!(dom.contains("aria-current=\"step\""), "no step is marked");
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
    let page = page_of(&history, "page-hostile.html");
    let Some(browser) = browser() else { return };
    let dom = open(&browser, &page, &[]);
    assert!(dom.contains("data-ready=\"yes\""), "the script did not reach its end");
    assert!(!dom.contains("<title>taken"), "a script in the history ran");
    assert!(!dom.contains("<img"), "markup in the history was taken as such");
}
