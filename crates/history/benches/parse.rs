//! How fast each format is read, and JSON Lines written: one history of a million operations, generated in memory.
//!
//! `cargo bench -p selvedge-history --bench parse`. The rates are events (a call or a return) a second; a fastlin line
//! is two events. `lines only` counts line breaks and is what no reader can beat.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use selvedge_history::Budget;
use selvedge_history::format::{Format, read, write_jsonl};

const OPERATIONS: u64 = 1_000_000;
const PROCESSES: u64 = 16;

/// A queue of `PROCESSES` processes, all of whose calls of a round overlap.
fn generate(format: Format) -> String {
    let mut text = String::new();
    for round in 0..OPERATIONS / PROCESSES {
        let operations = (0..PROCESSES).map(|process| (process, round * PROCESSES / 2 + process / 2, process % 2 == 0));
        for ret in [false, true] {
            for (process, value, insert) in operations.clone() {
                event(&mut text, format, round, ret, process, value, insert);
            }
        }
    }
    text
}

fn event(text: &mut String, format: Format, round: u64, ret: bool, process: u64, value: u64, insert: bool) {
    let method = if insert { "enq" } else { "deq" };
    let line = match (format, ret, insert) {
        (Format::Jsonl, false, true) => write!(text, r#"{{"call":"enq","thread":{process},"value":{value}}}"#),
        (Format::Jsonl, false, false) => write!(text, r#"{{"call":"deq","thread":{process}}}"#),
        (Format::Jsonl, true, true) => write!(text, r#"{{"return":null,"thread":{process}}}"#),
        (Format::Jsonl, true, false) => write!(text, r#"{{"return":{value},"thread":{process}}}"#),
        (Format::Limo, false, true) => write!(text, "[{process}] call enq({value})"),
        (Format::Limo, false, false) => write!(text, "[{process}] call deq"),
        (Format::Limo, true, true) => write!(text, "[{process}] return"),
        (Format::Limo, true, false) => write!(text, "[{process}] return {value}"),
        (Format::Fastlin, true, _) => return,
        (Format::Fastlin, false, _) => {
            let start = 2 * round * PROCESSES + process;
            write!(text, "{method} {value} {start} {}", start + PROCESSES)
        }
        (format, ret, insert) => {
            let kind = if ret { "ok" } else { "invoke" };
            let value = if insert || ret { value.to_string() } else { "nil".to_owned() };
            match format {
                Format::JepsenLog => write!(text, "INFO  jepsen.util - {process}\t:{kind}\t:{method}\t{value}"),
                _ => write!(text, "{{:process {process}, :type :{kind}, :f :{method}, :value {value}}}"),
            }
        }
    };
    line.expect("a string takes all text");
    text.push('\n');
}

fn parse(criterion: &mut Criterion) {
    let budget = Budget::new();
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(10).throughput(Throughput::Elements(2 * OPERATIONS));
    for &format in Format::ALL {
        let text = generate(format);
        group.bench_function(format.name(), |bencher| {
            bencher.iter(|| read(&mut text.as_bytes(), None, &budget).expect("a history"));
        });
    }
    // The same fields in an order and with blanks that a program may choose, and an escape: the general JSON parser.
    let escaped = generate(Format::Jsonl).replace("\"thread\"", "\"\\u0074hread\"");
    group.bench_function("jsonl with escapes", |bencher| {
        bencher.iter(|| read(&mut escaped.as_bytes(), None, &budget).expect("a history"));
    });
    let text = generate(Format::Jsonl);
    group.bench_function("lines only", |bencher| {
        bencher.iter(|| black_box(text.bytes().filter(|&byte| byte == b'\n').count()));
    });
    let (_, log) = read(&mut text.as_bytes(), None, &budget).expect("a history");
    group.bench_function("write jsonl", |bencher| {
        bencher.iter(|| write_jsonl(&log, &mut std::io::sink()).expect("a sink takes all bytes"));
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
