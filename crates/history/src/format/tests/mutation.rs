//! The fuzzed property without a fuzzer: seeds of every format, mutated with a fixed generator of random numbers.

use std::fs;

use super::property::holds;
use super::{Format, files, histories};
use crate::generate::Random;

/// Small files that between them use every part of every format.
pub(super) const SEEDS: &[(Format, &str)] = &[
    (
        Format::Jsonl,
        "{\"selvedge\":\"history\",\"version\":1,\"object\":\"queue\",\"initial\":[1,\"a\"]}\n{\"call\":\"enq\",\"thread\":0,\"value\":5}\n{\"call\":\"deq\",\"thread\":\"t\\u00e9\"}\n{\"return\":null,\"thread\":0}\n{\"unknown\":true,\"thread\":\"té\"}\n{\"call\":\"cas\",\"thread\":0,\"object\":\"q\",\"key\":\"k\",\"value\":[1,[2,null],true]}\n{\"fail\":\"no\",\"thread\":0}\n{\"call\":\"deq\",\"thread\":0}\n{\"return\":-9223372036854775808,\"thread\":0}\n{\"end\":\"truncated\"}\n",
    ),
    (
        Format::JepsenLog,
        "INFO  jepsen.core - hello\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - :nemesis\t:info\t:start\tnil\nINFO  jepsen.util - 1   :invoke :cas    [1 2]\nINFO  jepsen.util - 0\t:ok\t:read\t3\nINFO  jepsen.util - 1   :info   :cas    :timed-out\n2 :invoke :write 3\n2 :fail :write 3\n",
    ),
    (
        Format::Edn,
        "; comment\n[{:type :invoke, :f :txn, :value [[:read :x nil] [:write :y \"a\\n\\u0041\"]], :process 3, :time 1.5}\n#_ {:a 1}\n#jepsen.history.Op{:process :nemesis :type :info :f :kill :value {:a #{1 2}}}\n{:type :ok :f :txn :value [[:read :x 1N] [:write :y \\a]] :process 3}\n{:process 1 :type :invoke :f :add :value #{3 1 2}}]\n",
    ),
    (
        Format::Edn,
        "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 y\"}\n{:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 y\"}\n{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}\n{:process 0, :type :ok, :f :get, :key \"0\", :value \"x 0 y\"}\n",
    ),
    (Format::Fastlin, "# priorityqueue\ninsert 4 2 7\npoll 4 1 5\npoll -1 8 9\n"),
    (Format::Fastlin, "# set\ninsert 4 0 2 7\ncontains_true 4 1 5\nremove 4 8 9\n"),
    (
        Format::Limo,
        "# a comment\n# @object atomic-stack\n\n[1] call push(?<1,2>)\n    [a] call pop()\n[1] return\n[a] return empty\n[1] call pop(?<1,2>)\n[1] return\n[2] call push 3\n",
    ),
];

/// A number below the bound, or 0.
fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound.max(1) as u64) as usize
}

/// Pieces that parsers stumble over.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"<",
    b"#",
    b"#_",
    b";",
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"\xFF",
    b"\xC3",
    "é".as_bytes(),
    "𝄞".as_bytes(),
    b"-",
    b"-0",
    b"1e9",
    b"9223372036854775808",
    b"nil",
    b"null",
    b"\\uD834",
    b"\\u12",
    b"call",
    b"return",
    b"true",
    b"{\"call\":",
    b"[1] call ",
    b"{:process 0 ",
    b"INFO  jepsen.util - 0 ",
    b"enq 1 2 3",
    b"# queue",
    b"# @object x",
    b"\xEF\xBB\xBF",
    b"#{",
    b"##NaN",
    b"\"end\":\"stuck\"",
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=below(random, 3) {
        let at = below(random, bytes.len() + 1);
        let to = (at + below(random, 8)).min(bytes.len());
        match below(random, 6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => drop(bytes.splice(at..at, PIECES[below(random, PIECES.len())].iter().copied())),
            3 => drop(bytes.splice(at..to, PIECES[below(random, PIECES.len())].iter().copied())),
            4 => {
                let copy = bytes[at..(at + below(random, 80)).min(bytes.len())].to_vec();
                let into = below(random, bytes.len() + 1);
                bytes.splice(into..into, copy);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << below(random, 8);
                }
            }
        }
    }
}

/// Mutates each seed so often; answers how many of the mutants were histories, and of how many.
fn run(seeds: &[(Option<Format>, Vec<u8>)], rounds: usize, random: &mut Random) -> (usize, usize) {
    let (mut accepted, mut all) = (0, 0);
    for _ in 0..rounds {
        for (format, seed) in seeds {
            let mut bytes = seed.clone();
            mutate(&mut bytes, random);
            accepted += usize::from(holds(*format, &bytes));
            all += 1;
        }
    }
    (accepted, all)
}

#[test]
fn mutated_seeds_are_read_or_refused() {
    let mut seeds: Vec<(Option<Format>, Vec<u8>)> = Vec::new();
    for (format, text) in SEEDS {
        assert!(holds(Some(*format), text.as_bytes()), "the seed itself: {text}");
        seeds.push((Some(*format), text.as_bytes().to_vec()));
        seeds.push((None, text.as_bytes().to_vec()));
    }
    let (accepted, all) = run(&seeds, 1500, &mut Random::new(1));
    assert!(accepted > all / 50 && accepted < all, "{accepted} of {all} mutants were accepted");
}

#[test]
fn every_seed_forced_into_every_format_is_read_or_refused() {
    let mut random = Random::new(2);
    for &format in Format::ALL {
        for (own, text) in SEEDS {
            let mut bytes = text.as_bytes().to_vec();
            let accepted = holds(Some(format), &bytes);
            assert_eq!(accepted, format == *own, "{own} read as {format}");
            for _ in 0..100 {
                mutate(&mut bytes, &mut random);
                holds(Some(format), &bytes);
            }
        }
    }
}

#[test]
fn mutated_real_files_are_read_or_refused() {
    let Some(folder) = histories() else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let small = |path: &_| fs::metadata(path).is_ok_and(|metadata| metadata.len() < 10_000);
    let seeds: Vec<_> =
        paths.iter().filter(|path| small(path)).step_by(9).map(|path| (None, fs::read(path).unwrap())).collect();
    assert!(seeds.len() > 40, "{} seeds", seeds.len());
    let (accepted, all) = run(&seeds, 20, &mut Random::new(3));
    assert!(accepted > all / 50 && accepted < all, "{accepted} of {all} mutants were accepted");
}
