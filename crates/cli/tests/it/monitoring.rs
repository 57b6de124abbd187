//! `selvedge monitor`: what it finds, and what it does when something is missing.

mod writers;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use super::{Run, command, file, scratch, selvedge, signal, with_input};

/// Events of calls one after the other, `method value -> result` each.
fn events(thread: &str, calls: &[&str]) -> String {
    let line = |call: &&str| {
        let (call, result) = call.split_once(" -> ").unwrap_or((call, "null"));
        let (method, value) = call.split_once(' ').unwrap_or((call, "null"));
        format!(
            "{{\"call\":\"{method}\",\"thread\":\"{thread}\",\"value\":{value}}}\n{{\"return\":{result},\"thread\":\"{thread}\"}}\n"
        )
    };
    calls.iter().map(line).collect()
}

fn monitor(object: &str, input: &str) -> Run {
    with_input(&["monitor", "--object", object], input.as_bytes())
}

/// A monitor that runs beside the test.
struct Beside {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Beside {
    fn start(args: &[&str]) -> Self {
        let mut command = command(&[&["monitor"], args].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        Beside { child, stderr }
    }

    /// The next line of its standard error.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("it can be read");
        line.trim_end().to_owned()
    }

    fn line(&mut self) -> String {
        let stdout = self.child.stdout.as_mut().expect("it is piped");
        let mut line = Vec::new();
        let mut byte = [0];
        while stdout.read(&mut byte).is_ok_and(|length| length == 1) && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        String::from_utf8(line).expect("reports are UTF-8")
    }

    /// Ends it as an administrator would.
    fn end(mut self) -> Run {
        signal(self.child.id(), Signal::TERM);
        let mut rest = String::new();
        let _ = self.stderr.read_to_string(&mut rest);
        let output = self.child.wait_with_output().expect("it ends");
        let mut run = Run::new(output);
        run.stderr = rest;
        run
    }
}

#[test]
fn each_violation_is_told_once_with_its_operations() {
    let run = monitor(
        "queue",
        &events("a", &["enq 1", "enq 2", "deq -> 2", "deq -> 1", "deq -> 1", "enq 3", "deq", "deq -> 3"]),
    )
    .expect(1);
    insta::assert_snapshot!(run.stdout, @r#"
    violation overtaken: a value that came later left earlier, or this one is lost
      thread a: enq(1), events 1 to 2
      thread a: enq(2), events 3 to 4
      thread a: deq -> 2, events 5 to 6
    violation not-inside: a value came out that was not inside: never inserted, or taken out before
      thread a: deq -> 1, events 9 to 10
    violation not-empty: the answer was "empty", but at every moment some value was inside
      thread a: deq -> empty, events 13 to 14
      thread a: enq(3), events 11 to 12
    fail: queue, 3 violations in 8 operations (16 events)
    "#);
    let run = monitor("queue", &events("a", &["enq 1", "enq 2", "deq -> 1", "deq -> 2", "deq"])).expect(0);
    assert_eq!(run.stdout, "pass: queue, nothing wrong in 5 operations (10 events)\n");
    let run = monitor("stack", &events("a", &["push 1", "push 2", "pop -> 2"])).expect(0);
    assert_eq!(run.stdout, "pass: stack, nothing wrong in 3 operations (6 events)\n");
    monitor("stack", &events("a", &["push 1", "push 2", "pop -> 1"])).expect(1);
    monitor("mutex", &events("a", &["lock", "lock"])).expect(1);
    monitor("mutex", &events("a", &["lock", "unlock", "lock", "unlock"])).expect(0);
    monitor("set", &events("a", &["add 1 -> true", "add 1 -> true"])).expect(1);
    monitor("register", &events("a", &["write 1", "read -> 1", "write 2", "read -> 1"])).expect(1);
}

/// Which value a removal of unknown outcome took is not followed, so nothing is called a pass: the first of these is wrong, because two values
/// were passed by and one such removal can have taken one.
#[test]
fn a_removal_of_unknown_outcome_is_a_doubt() {
    let unknown = "{\"call\":\"deq\",\"thread\":\"b\"}\n{\"unknown\":true,\"thread\":\"b\"}\n";
    let input = unknown.to_owned() + &events("a", &["enq 1", "enq 2", "enq 3", "deq -> 3"]);
    let run = monitor("queue", &input);
    assert_ne!(run.code, 0, "{}", run.stdout);
    let right = events("a", &["enq 1"]) + unknown + &events("a", &["enq 2"]);
    let run = monitor("queue", &right).expect(3);
    insta::assert_snapshot!(run.stdout, @r#"
    unknown: queue, no violation seen in 3 operations (6 events)
      not checked in full: 1 removal has an unknown outcome: what it took is not followed
    "#);
    // What was put in and is not known to be in harms nothing.
    let unknown = "{\"call\":\"enq\",\"value\":1,\"thread\":\"b\"}\n{\"unknown\":true,\"thread\":\"b\"}\n";
    monitor("queue", &(unknown.to_owned() + &events("a", &["deq", "deq -> 1", "deq"]))).expect(0);
    monitor("queue", &(unknown.to_owned() + &events("a", &["deq", "deq -> 1", "deq -> 1"]))).expect(1);
}

#[test]
fn json_has_a_document_for_each_violation_and_one_at_the_end() {
    let input = events("a", &["enq 1", "enq 2", "deq -> 2"]);
    let run = with_input(&["monitor", "--object", "queue", "--json"], input.as_bytes()).expect(1);
    let documents: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0]["violation"], "overtaken");
    assert_eq!(documents[0]["operations"][0]["argument"], 1);
    assert_eq!(documents[1]["verdict"], "fail");
    assert_eq!(documents[1]["violations"], 1);
}

/// A writer that dies in the middle of a line: that call was not made, that return leaves its operation open.
#[test]
fn a_writer_that_dies_in_the_middle_of_a_line() {
    let input = events("a", &["enq 1"]) + "{\"call\":\"deq\",\"thr";
    let run = monitor("queue", &input).expect(3);
    assert!(run.stderr.contains("ended in the middle of a line"), "{}", run.stderr);
    assert!(run.stdout.contains("1 line was cut off"), "{}", run.stdout);
    let input = events("a", &["enq 1", "enq 2"]) + "{\"call\":\"deq\",\"thread\":\"a\"}\n{\"return\":1,\"thr";
    let run = monitor("queue", &input).expect(3);
    assert!(run.stdout.contains("1 operation is still open"), "{}", run.stdout);
    // A whole event without a line break is one.
    let input = events("a", &["enq 1", "deq -> 2"]);
    monitor("queue", input.trim_end()).expect(1);
}

#[test]
fn an_operation_that_the_object_does_not_have() {
    let input = events("a", &["enq 1", "clear", "deq", "enq 2", "enq 3", "deq -> 3"]);
    let run = monitor("queue", &input).expect(1);
    assert!(run.stderr.contains("`clear`"), "{}", run.stderr);
    assert_eq!(run.stdout.matches("violation overtaken").count(), 1, "{}", run.stdout);
    assert_eq!(run.stdout.matches("violation").count(), 2, "only what came after: {}", run.stdout);
    // A line that cannot be read may have been anything.
    let input = events("a", &["enq 1"]) + "nonsense\n" + &events("a", &["deq -> 7", "deq"]);
    let run = monitor("queue", &input).expect(3);
    assert!(run.stdout.contains("1 line could not be read"), "{}", run.stdout);
    // So may a call that was missed.
    let input = "{\"return\":null,\"thread\":1}\n".to_owned() + &events("a", &["deq -> 7"]);
    monitor("queue", &input).expect(3);
}

#[test]
fn what_happened_before_is_not_known() {
    let input = events("a", &["deq -> 7", "deq -> 8", "enq 1", "enq 2", "deq -> 9"]);
    let run = monitor("queue", &input).expect(1);
    assert_eq!(run.stdout.matches("violation not-inside").count(), 3);
    let attached = with_input(&["monitor", "--object", "queue", "--attach"], input.as_bytes()).expect(3);
    assert!(attached.stdout.contains("what happened before the monitor began"), "{}", attached.stdout);
    // What does not come out may have been taken by a removal that was called before; what comes out too late was not.
    let lost = input + &events("a", &["deq -> 2"]);
    with_input(&["monitor", "--object", "queue", "--attach"], lost.as_bytes()).expect(3);
    let wrong = lost + &events("a", &["deq -> 1"]);
    with_input(&["monitor", "--object", "queue", "--attach"], wrong.as_bytes()).expect(1);
    let refused = selvedge(&["monitor", "--object", "mutex", "--attach"]).expect(2);
    assert!(refused.stderr.contains("would have to be known"), "{}", refused.stderr);
}

fn timed(time: i64, event: &str) -> String {
    format!("{{{event},\"time\":{time}}}\n")
}

/// Two writers whose events arrive out of order, with equal times: no false alarm. What is wrong for certain is told.
#[test]
fn several_writers_at_once() {
    let path = scratch("monitor-several.sock");
    let address = format!("unix:{}", path.display());
    let mut beside = Beside::start(&["--object", "queue", "--listen", &address, "--window", "2s"]);
    assert_eq!(beside.says(), format!("listening at {address}"));
    let mut one = UnixStream::connect(&path).expect("it listens");
    let mut two = UnixStream::connect(&path).expect("it listens");
    std::thread::sleep(Duration::from_millis(200));
    // By time: enq(1) whole, then enq(2) whole, deq -> 1 and deq -> 2 at once. The second writer's events arrive first.
    let second = timed(30, r#""call":"enq","thread":0,"value":2"#)
        + &timed(40, r#""return":null,"thread":0"#)
        + &timed(50, r#""call":"deq","thread":0"#)
        + &timed(60, r#""return":2,"thread":0"#);
    two.write_all(second.as_bytes()).expect("it reads");
    std::thread::sleep(Duration::from_millis(100));
    let first = timed(10, r#""call":"enq","thread":0,"value":1"#)
        + &timed(20, r#""return":null,"thread":0"#)
        + &timed(60, r#""call":"deq","thread":0"#)
        + &timed(70, r#""return":1,"thread":0"#);
    one.write_all(first.as_bytes()).expect("it reads");
    // 60 is 60: the removals overlap, so this is right. The next ones do not.
    let wrong = timed(100, r#""call":"enq","thread":0,"value":3"#)
        + &timed(110, r#""return":null,"thread":0"#)
        + &timed(200, r#""call":"deq","thread":0"#)
        + &timed(210, r#""return":4,"thread":0"#);
    let later = timed(120, r#""call":"enq","thread":0,"value":4"#)
        + &timed(130, r#""return":null,"thread":0"#)
        + &timed(220, r#""call":"deq","thread":0"#)
        + &timed(230, r#""return":3,"thread":0"#);
    two.write_all(later.as_bytes()).expect("it reads");
    one.write_all(wrong.as_bytes()).expect("it reads");
    drop((one, two));
    std::thread::sleep(Duration::from_millis(300));
    let run = beside.end().expect(1);
    assert_eq!(violations(&run), 1, "{}", run.stdout);
    assert!(run.stdout.contains("enq(3)") && run.stdout.contains("deq -> 4"), "{}", run.stdout);
    assert!(run.stdout.contains("8 operations (16 events)"), "nothing is lost: {}", run.stdout);
    assert!(!path.exists(), "the socket is gone");
}

/// One thread is never in two operations, whatever its times say: with equal times, and with clocks that may be apart.
#[test]
fn operations_of_one_thread_with_equal_times() {
    let steps = [
        ("b", 1, r#""call":"enq","value":7"#),
        ("b", 2, r#""return":null"#),
        ("a", 10, r#""call":"enq","value":1"#),
        ("a", 20, r#""return":null"#),
        ("a", 20, r#""call":"deq""#),
        ("a", 20, r#""return":7"#),
        ("a", 20, r#""call":"deq""#),
        ("a", 40, r#""return":1"#),
    ];
    let told = |steps: &[(&str, i64, &str)]| -> String {
        steps.iter().map(|(thread, time, event)| timed(*time, &format!("{event},\"thread\":\"{thread}\""))).collect()
    };
    let input = told(&steps);
    // What would be wrong only in the order of that thread is not seen, so nothing is said to be right.
    for skew in ["none", "1s"] {
        let run = with_input(&["monitor", "--object", "queue", "--skew", skew], input.as_bytes()).expect(3);
        assert!(run.stdout.contains("4 operations (8 events)"), "{}", run.stdout);
        assert!(run.stdout.contains("operations were taken to overlap with the one before it"), "{}", run.stdout);
        assert!(!run.stdout.contains("did not fit"), "{}", run.stdout);
    }
    // A value that nobody put in is seen, and its thread called by its name.
    let wrong = input + &told(&[("a", 40, r#""call":"deq""#), ("a", 40, r#""return":9"#)]);
    let run = monitor("queue", &wrong).expect(1);
    assert!(run.stdout.contains("thread a: deq -> 9"), "{}", run.stdout);
    // A return that never came is one still.
    let missing: Vec<_> = steps.iter().enumerate().filter(|(i, _)| *i != 3).map(|(_, step)| *step).collect();
    let run = monitor("queue", &told(&missing)).expect(3);
    assert!(run.stderr.contains("whose last call did not return"), "{}", run.stderr);
}

/// What comes without a time beside other writers may be about what is held back.
#[test]
fn an_event_without_a_time_is_no_alarm() {
    let path = scratch("monitor-untimed.sock");
    let address = format!("unix:{}", path.display());
    let mut beside = Beside::start(&["--object", "queue", "--listen", &address, "--window", "2s"]);
    beside.says();
    let mut one = UnixStream::connect(&path).expect("it listens");
    one.write_all(b"{\"call\":\"deq\",\"thread\":0}\n").expect("it reads");
    std::thread::sleep(Duration::from_millis(200));
    let mut two = UnixStream::connect(&path).expect("it listens");
    let put = timed(10, r#""call":"enq","thread":0,"value":5"#) + &timed(20, r#""return":null,"thread":0"#);
    two.write_all(put.as_bytes()).expect("it reads");
    std::thread::sleep(Duration::from_millis(200));
    one.write_all(b"{\"return\":5,\"thread\":0}\n").expect("it reads");
    drop((one, two));
    std::thread::sleep(Duration::from_millis(300));
    let run = beside.end().expect(3);
    assert_eq!(violations(&run), 0, "{}", run.stdout);
}

/// How many violations were told.
fn violations(run: &Run) -> usize {
    run.stdout.lines().filter(|line| line.starts_with("violation ")).count()
}

#[test]
fn several_writers_without_times_are_no_alarm() {
    let mut beside = Beside::start(&["--object", "queue", "--listen", "tcp:127.0.0.1:0"]);
    let address = beside.says().replace("listening at tcp:", "");
    let mut one = TcpStream::connect(&address).expect("it listens");
    let mut two = TcpStream::connect(&address).expect("it listens");
    std::thread::sleep(Duration::from_millis(200));
    one.write_all(events("a", &["enq 1", "deq -> 2"]).as_bytes()).expect("it reads");
    two.write_all(events("a", &["enq 2", "deq -> 1"]).as_bytes()).expect("it reads");
    drop((one, two));
    std::thread::sleep(Duration::from_millis(200));
    let run = beside.end().expect(3);
    assert!(
        run.stdout.contains("events had no time") && run.stdout.contains("4 operations (8 events)"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("an event without `time`"), "{}", run.stderr);
}

/// A writer that is gone leaves its operations open: each may have happened.
#[test]
fn a_writer_that_is_gone_may_have_done_what_it_called() {
    let path = scratch("monitor-gone.sock");
    let mut beside = Beside::start(&["--object", "queue", "--listen", &format!("unix:{}", path.display())]);
    beside.says();
    let mut one = UnixStream::connect(&path).expect("it listens");
    one.write_all(
        b"{\"call\":\"enq\",\"thread\":0,\"value\":5,\"time\":1}\n{\"call\":\"deq\",\"thread\":1,\"time\":2}\n",
    )
    .unwrap();
    drop(one);
    std::thread::sleep(Duration::from_millis(300));
    let mut two = UnixStream::connect(&path).expect("it listens");
    let text = timed(10, r#""call":"deq","thread":0"#)
        + &timed(20, r#""return":5,"thread":0"#)
        + &timed(30, r#""call":"deq","thread":0"#)
        + &timed(40, r#""return":5,"thread":0"#);
    two.write_all(text.as_bytes()).unwrap();
    drop(two);
    std::thread::sleep(Duration::from_millis(300));
    let run = beside.end().expect(1);
    assert_eq!(violations(&run), 1, "only the second 5 is one too many: {}", run.stdout);
}

/// A file that grows is followed, and read again from its beginning after a restart.
#[test]
fn a_growing_file_and_a_restart() {
    let path = file("monitor-growing.jsonl", events("a", &["enq 1", "enq 2"]).as_bytes());
    let append = |text: &str| {
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("it is there");
        file.write_all(text.as_bytes()).expect("it can be written");
    };
    let mut beside = Beside::start(&["--object", "queue", &path, "--follow"]);
    append("{\"call\":\"deq\",\"thread\":\"a\"}\n{\"return\":2,\"th");
    std::thread::sleep(Duration::from_millis(150));
    append("read\":\"a\"}\n");
    assert!(beside.line().starts_with("violation overtaken"));
    let run = beside.end().expect(1);
    assert!(run.stdout.contains("3 operations (6 events)"), "{}", run.stdout);
    append(&events("a", &["deq -> 1"]));
    let mut beside = Beside::start(&["--object", "queue", &path, "--follow"]);
    assert!(beside.line().starts_with("violation overtaken"), "what was found before is found again");
    let run = beside.end().expect(1);
    assert!(run.stdout.contains("4 operations (8 events)"), "{}", run.stdout);
}

/// Nobody reads what it prints, for a while: it waits, its writer waits, and nothing is lost.
#[test]
fn a_full_pipe_holds_everything_up_and_loses_nothing() {
    let count = 3_000;
    let input: String = (0..count).map(|i| events("a", &[&format!("deq -> {i}")])).collect();
    let mut command = command(&["monitor", "--object", "queue", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    std::thread::sleep(Duration::from_millis(500));
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("it is UTF-8");
    writer.join().expect("it does not panic").expect("everything is taken");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(text.lines().count(), count + 1);
    assert!(text.lines().last().is_some_and(|line| line.contains("\"violations\":3000")), "{:?}", text.lines().last());
}

#[test]
fn metrics_are_there_for_those_who_ask() {
    let path = file("monitor-metrics.jsonl", events("a", &["enq 1", "enq 2", "deq -> 2"]).as_bytes());
    let mut beside = Beside::start(&["--object", "queue", &path, "--follow", "--metrics", "127.0.0.1:0"]);
    let address = beside.says().replace("metrics at http://", "").replace("/metrics", "");
    assert!(beside.line().starts_with("violation overtaken"));
    std::thread::sleep(Duration::from_millis(400));
    let mut stream = TcpStream::connect(&address).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    for line in
        ["selvedge_events_total 6", "selvedge_violations_total{rule=\"overtaken\"} 1", "selvedge_values_inside 1"]
    {
        assert!(text.contains(line), "{line} in {text}");
    }
    beside.end().expect(1);
}

#[test]
fn wrong_usage_is_told() {
    let run = selvedge(&["monitor", "--object", "queue", "no-such-file.jsonl"]).expect(2);
    assert!(run.stderr.contains("no such file"), "{}", run.stderr);
    selvedge(&["monitor", "--object", "queue", "--listen", "nowhere"]).expect(2);
    selvedge(&["monitor"]).expect(2);
    let run = monitor("queue", "{\"selvedge\":\"history\",\"version\":1,\"object\":\"stack\"}\n").expect(2);
    assert!(run.stderr.contains("--object stack"), "{}", run.stderr);
}
