use selvedge_history::object::Kind;
use selvedge_history::*;
use std::collections::*;
use std::time::Instant;
struct N(u64);
impl N {
    fn b(&mut self, e: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % e
    }
}
fn main() {
    let procs: usize = std::env::args().nth(1).and_then(|x| x.parse().ok()).unwrap_or(4);
    let n: usize = std::env::args().nth(2).and_then(|x| x.parse().ok()).unwrap_or(1_000_000);
    for kind in [Kind::Queue, Kind::Stack, Kind::PriorityQueue, Kind::Set, Kind::Register, Kind::Bag, Kind::Counter] {
        for bad in [false, true] {
            let mut r = N(1);
            let mut rec = LogRecorder::new();
            let mut st: Vec<(u8, usize, Value)> = vec![(0, 0, Value::Nil); procs];
            let mut next = 0i64;
            let mut q: VecDeque<i64> = VecDeque::new();
            let mut heap: BinaryHeap<i64> = BinaryHeap::new();
            let mut reg = 0i64;
            let mut set: Vec<i64> = vec![];
            let mut cnt = 0i64;
            let mut called = 0;
            let mut done_bad = !bad;
            let (ins, rem) = match kind {
                Kind::Queue => ("enq", "deq"),
                Kind::Stack => ("push", "pop"),
                Kind::PriorityQueue => ("insert", "poll"),
                Kind::Register => ("write", "read"),
                Kind::Bag => ("add", "remove"),
                Kind::Counter => ("inc", "get"),
                _ => ("add", "remove"),
            };
            let (si, sr, sc) = (rec.symbol(ins), rec.symbol(rem), rec.symbol("contains"));
            let mut line = 0;
            while called < n || st.iter().any(|s| s.0 != 0) {
                line += 1;
                let p = r.b(procs as u64) as usize;
                let t = Value::Int(p as i64);
                match st[p].0 {
                    0 => {
                        if called >= n {
                            continue;
                        }
                        called += 1;
                        let w = r.b(1000) as usize;
                        let size = q.len() + heap.len() + set.len();
                        let which = if kind == Kind::Set {
                            r.b(3) as usize
                        } else if w * 2 < 1000 + (if size < 100 { 100 } else { 0 }) - (if size > 100 { 100 } else { 0 })
                        {
                            0
                        } else {
                            1
                        };
                        let arg = if kind == Kind::Set {
                            if which == 0 || set.is_empty() {
                                next += 1;
                                next
                            } else {
                                set[r.b(set.len() as u64) as usize]
                            }
                        } else if which == 0 {
                            next += 1;
                            if kind == Kind::PriorityQueue {
                                next.wrapping_mul(7919) % 1000003 * 8 + next % 8
                            } else {
                                next
                            }
                        } else {
                            0
                        };
                        let m = [si, sr, sc][which];
                        let a = if kind == Kind::Set || (which == 0 && kind != Kind::Counter) {
                            Value::Int(arg)
                        } else {
                            Value::Nil
                        };
                        rec.call(line, &t, Call { object: Symbol::NONE, method: m, key: Value::Nil, argument: a })
                            .unwrap();
                        st[p] = (1, which, Value::Int(arg));
                    }
                    1 => {
                        let arg = st[p].2.as_int().unwrap();
                        let which = st[p].1;
                        let res = match (kind, which) {
                            (Kind::Queue | Kind::Stack | Kind::Bag, 0) => {
                                q.push_back(arg);
                                Value::Nil
                            }
                            (Kind::Queue | Kind::Bag, _) => q.pop_front().map_or(Value::Nil, Value::Int),
                            (Kind::Stack, _) => q.pop_back().map_or(Value::Nil, Value::Int),
                            (Kind::PriorityQueue, 0) => {
                                heap.push(arg);
                                Value::Nil
                            }
                            (Kind::PriorityQueue, _) => heap.pop().map_or(Value::Nil, Value::Int),
                            (Kind::Register, 0) => {
                                reg = arg;
                                Value::Nil
                            }
                            (Kind::Register, _) => Value::Int(reg),
                            (Kind::Counter, 0) => {
                                cnt += 1;
                                Value::Nil
                            }
                            (Kind::Counter, _) => Value::Int(cnt),
                            (Kind::Set, 0) => {
                                if set.contains(&arg) {
                                    Value::Bool(false)
                                } else {
                                    set.push(arg);
                                    Value::Bool(true)
                                }
                            }
                            (Kind::Set, 1) => {
                                if let Some(i) = set.iter().position(|x| *x == arg) {
                                    set.swap_remove(i);
                                    Value::Bool(true)
                                } else {
                                    Value::Bool(false)
                                }
                            }
                            (Kind::Set, _) => Value::Bool(set.contains(&arg)),
                            _ => unreachable!(),
                        };
                        let mut res = res;
                        if !done_bad && called > n * 9 / 10 {
                            match kind {
                                Kind::Register if which == 1 => {
                                    res = Value::Int((reg - 200).max(1));
                                    done_bad = true;
                                }
                                Kind::Set if which == 2 => {
                                    res = Value::Bool(!set.contains(&arg));
                                    done_bad = true;
                                }
                                Kind::Counter if which == 1 => {
                                    res = Value::Int(cnt - 100);
                                    done_bad = true;
                                }
                                Kind::Queue | Kind::Stack if q.len() > 60 => {
                                    q.swap(10, 50);
                                    done_bad = true;
                                }
                                Kind::Bag if which == 1 && q.len() > 40 => {
                                    res = Value::Nil;
                                    done_bad = true;
                                }
                                Kind::PriorityQueue if which == 1 && heap.len() > 50 => {
                                    let mut v = heap.clone().into_sorted_vec();
                                    let x = v.remove(3);
                                    heap = v.into_iter().collect();
                                    heap.push(res.as_int().unwrap());
                                    res = Value::Int(x);
                                    done_bad = true;
                                }
                                _ => {}
                            }
                        }
                        st[p] = (2, which, res);
                    }
                    _ => {
                        rec.outcome(line, &t, None, Outcome::Return(st[p].2.clone())).unwrap();
                        st[p].0 = 0;
                    }
                }
            }
            if kind == Kind::Register {
                rec.initial = Some(Value::Int(0));
            }
            let log = rec.finish(None).unwrap();
            let t = Instant::now();
            let a = check::check(&log, kind, None, &Budget::new()).unwrap();
            let d = t.elapsed();
            println!(
                "{:15} bad={} {:?} {} {:?} states={} {}",
                kind.name(),
                bad,
                d,
                a.verdict.name(),
                a.algorithms,
                a.states,
                match &a.verdict {
                    Verdict::Fail(f) => format!("{} {}", f.violation.kind(), f.violation.operations().len()),
                    _ => String::new(),
                }
            );
        }
    }
}
