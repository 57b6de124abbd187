//! A real browser without a screen, driven over a pipe: pages are opened, keys are pressed, and what is on the console is heard.
//!
//! The protocol is Chromium's for developer tools: JSON, each message ended by a zero byte, over two pipes of the browser's. One browser serves all tests; each
//! page is a tab of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selvedge_needs::{Need, skip};
use serde_json::{Value, json};

use crate::scratch;

/// The browser of this process, once it is started.
static BROWSER: Mutex<Option<Browser>> = Mutex::new(None);

/// A running browser.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
    /// What came without being asked for.
    heard: Vec<Value>,
}

/// Where a browser is.
fn found() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    found.into_iter().find(|path| path.exists())
}

/// Holds the browser; where there is none, the test is skipped.
#[track_caller]
pub fn browser() -> Option<Held> {
    let mut held = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    if held.is_none() {
        let Some(path) = found() else {
            skip(Need::Browser, "there is no Chromium on the PATH: pages are not opened");
            return None;
        };
        *held = Some(Browser::start(&path));
    }
    Some(Held(held))
}

/// The browser, held by one test.
pub struct Held(MutexGuard<'static, Option<Browser>>);

impl Held {
    /// Opens a page in a tab of its own, so wide and high.
    pub fn open(&mut self, page: &Path, hash: &str, (width, height): (u32, u32)) -> Tab<'_> {
        let browser = self.0.as_mut().expect("it was started");
        let target = browser.ask(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let target = target["targetId"].as_str().expect("a tab").to_owned();
        let attached = browser.ask(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        let mut tab = Tab { browser, target, session };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            tab.ask(domain, json!({}));
        }
        tab.ask("Performance.enable", json!({ "timeDomain": "threadTicks" }));
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.ask("Emulation.setDeviceMetricsOverride", size);
        tab.browser.heard.clear();
        tab.ask("Page.navigate", json!({ "url": format!("file://{}{hash}", page.display()) }));
        tab.browser.wait("Page.loadEventFired");
        tab
    }
}

impl Browser {
    fn start(path: &Path) -> Self {
        let profile = scratch("browser-profile");
        let _ = std::fs::remove_dir_all(&profile);
        // The shell gives the two pipes the numbers that the browser wants.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null", "sh"])
            .arg(path)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        Browser { child, to, from, last: 0, heard: Vec::new() }
    }

    fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let heard = self.hear();
            if heard["id"] == self.last {
                assert!(heard.get("error").is_none(), "{method}: {heard}");
                return heard["result"].clone();
            }
            self.heard.push(heard);
        }
    }

    /// Waits for something that happens by itself.
    fn wait(&mut self, method: &str) {
        while !self.heard.iter().any(|heard| heard["method"] == method) {
            let heard = self.hear();
            self.heard.push(heard);
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended: {:?}", self.child.try_wait());
        serde_json::from_slice(&bytes).expect("the browser speaks JSON")
    }
}

/// A page in the browser.
pub struct Tab<'a> {
    browser: &'a mut Browser,
    target: String,
    session: String,
}

impl Tab<'_> {
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }

    /// What an expression is worth in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The markup of what is shown, without the data that it is made from.
    pub fn shown(&mut self) -> String {
        let shown = "document.documentElement.outerHTML.split('id=\"data\"')[0]";
        self.value(shown).as_str().expect("a text").to_owned()
    }

    /// The page came up, and nothing went wrong in it, now or since then.
    #[track_caller]
    pub fn expect_ready(&mut self) -> &mut Self {
        assert_eq!(self.value("document.documentElement.dataset.ready"), "yes", "the script did not reach its end");
        let wrong = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        let is_wrong = |heard: &&Value| wrong.iter().any(|method| heard["method"] == *method);
        let said: Vec<&Value> = self.browser.heard.iter().filter(is_wrong).collect();
        assert!(said.is_empty(), "said on the console: {said:?}");
        self
    }

    /// Waits until all of that is shown: what a part has inside is made a moment after it was opened.
    #[track_caller]
    pub fn expect(&mut self, words: &[&str]) -> &mut Self {
        const MOMENT: Duration = Duration::from_millis(50);
        let missing = |shown: String| words.iter().copied().find(|word| !shown.contains(word));
        for _ in 0..400 {
            if missing(self.shown()).is_none() {
                return self;
            }
            std::thread::sleep(MOMENT);
        }
        let missing = missing(self.shown());
        assert!(missing.is_none(), "`{}` is not shown", missing.unwrap_or_default());
        self
    }

    /// How many seconds of a processor the page has taken until now: scripts, style, layout and drawing. However much else the machine has to do, this is the same.
    pub fn busy(&mut self) -> f64 {
        let answer = self.ask("Performance.getMetrics", json!({}));
        let metrics = answer["metrics"].as_array().expect("metrics");
        let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration").expect("a duration");
        task["value"].as_f64().expect("seconds")
    }

    /// Prints the page; answers how many sheets that takes.
    pub fn sheets(&mut self, name: &str) -> usize {
        let printed = self.ask("Page.printToPDF", json!({ "paperWidth": 8.27, "paperHeight": 11.69 }));
        let printed = from_base64(printed["data"].as_str().expect("a document"));
        std::fs::write(scratch(&format!("{name}.pdf")), &printed).expect("the scratch directory is writable");
        memchr::memmem::find_iter(&printed, b"/Type /Page\n").count()
    }

    /// Presses keys as a person does.
    pub fn press(&mut self, keys: &[&str]) -> &mut Self {
        for key in keys {
            let mut down = json!({ "type": "keyDown", "key": key });
            if key.chars().count() == 1 {
                down["text"] = (*key).into();
            }
            self.ask("Input.dispatchKeyEvent", down);
            self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        }
        self
    }

    /// Clicks in the middle of the first element of a kind.
    pub fn click(&mut self, selector: &str) -> &mut Self {
        let place = format!(
            "(() => {{ const one = document.querySelector({}); one.scrollIntoView({{ block: 'center' }}); \
             const at = one.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; }})()",
            Value::from(selector)
        );
        let place = self.value(&place);
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", click);
        }
        self
    }

    /// As it looks in the dark, or on paper.
    pub fn media(&mut self, media: &str, scheme: &str) -> &mut Self {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": media, "features": features }));
        // What is drawn is drawn again in the next frame.
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
        self
    }

    /// Keeps a picture of the page for whoever wants to look; answers how large its file is.
    pub fn picture(&mut self, name: &str) -> usize {
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let data = from_base64(picture["data"].as_str().expect("a picture"));
        std::fs::write(scratch(&format!("{name}.png")), &data).expect("the scratch directory is writable");
        data.len()
    }
}

/// The bytes behind a text of base 64.
fn from_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, letter| bits << 6 | value(*letter)) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        // A test that fails may have lost the browser.
        if !std::thread::panicking() {
            let target = json!({ "targetId": self.target });
            self.browser.ask(None, "Target.closeTarget", target);
        }
    }
}
