//! `--metrics`: what was seen so far, in the text form of Prometheus, to whoever asks over HTTP.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selvedge_history::monitor::{Counts, Rule};

/// What is told.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub counts: Counts,
    pub by_rule: Vec<(Rule, u64)>,
    pub lines_unreadable: u64,
    pub lines_cut: u64,
    pub late: u64,
    pub longer: u64,
    pub uncertain: u64,
    pub writers: u64,
    pub writers_total: u64,
    pub writers_unread: u64,
    pub held: u64,
    pub entries: u64,
}

impl Snapshot {
    /// The text form.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, value: u64| {
            let _ =
                writeln!(text, "# HELP selvedge_{name} {help}\n# TYPE selvedge_{name} {kind}\nselvedge_{name} {value}");
        };
        let counts = &self.counts;
        metric("events_total", "counter", "Calls and returns that were taken.", counts.events);
        metric("operations_total", "counter", "Operations that ended.", counts.operations);
        metric("unchecked_total", "counter", "Operations that could not be checked in full.", counts.unchecked);
        metric("removals_untold_total", "counter", "Removals whose outcome nobody knows.", counts.untold);
        metric("repeated_values_total", "counter", "Insertions of a value that was inside.", counts.repeated);
        metric("events_refused_total", "counter", "Events that did not fit.", counts.refused);
        metric("lines_unreadable_total", "counter", "Lines that are no events.", self.lines_unreadable);
        metric("lines_cut_total", "counter", "Lines whose writer ended in the middle.", self.lines_cut);
        metric("events_late_total", "counter", "Calls that came after later events were taken.", self.late);
        metric("returns_late_total", "counter", "Returns that came after later events were taken.", self.longer);
        metric("violations_uncertain_total", "counter", "Violations that silent writers may excuse.", self.uncertain);
        metric("restarts_total", "counter", "How often checking started over.", counts.restarts);
        metric("writers_total", "counter", "Writers that came.", self.writers_total);
        metric("writers_unread_total", "counter", "Writers that were never read.", self.writers_unread);
        metric("writers", "gauge", "Writers that are there.", self.writers);
        metric("operations_open", "gauge", "Operations that have not ended.", counts.open);
        metric("values_inside", "gauge", "Values inside.", counts.present);
        metric("events_held", "gauge", "Events held back until they are in order.", self.held);
        metric("entries", "gauge", "What memory depends on.", self.entries);
        text.push_str("# HELP selvedge_violations_total Violations found.\n# TYPE selvedge_violations_total counter\n");
        for rule in Rule::ALL {
            let found = self.by_rule.iter().find(|(other, _)| *other == rule).map_or(0, |(_, count)| *count);
            let _ = writeln!(text, "selvedge_violations_total{{rule=\"{rule}\"}} {found}");
        }
        text
    }
}

/// Answers every request with the snapshot. Answers where it listens.
pub fn serve(address: &str, snapshot: Arc<Mutex<Snapshot>>) -> io::Result<String> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let text = snapshot.lock().map(|snapshot| snapshot.text()).unwrap_or_default();
            let _ = answer(stream, &text);
        }
    });
    Ok(bound.to_string())
}

fn answer(mut stream: TcpStream, text: &str) -> io::Result<()> {
    // Nobody may hold up the next one for long.
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    let mut request = [0; 4096];
    let length = stream.read(&mut request)?;
    let path = request[..length].split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let (status, body) = match path {
        b"/metrics" | b"/" => ("200 OK", text),
        _ => ("404 Not Found", "the metrics are at /metrics\n"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
