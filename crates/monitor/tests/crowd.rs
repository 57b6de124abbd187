//! More threads than can be told apart, at once. A process of its own, since numbers of threads belong to the process.

use std::collections::VecDeque;
use std::sync::{Barrier, Mutex};

use selvedge_monitor::{Queue, Register, Stack, Verdict};

const CROWD: u64 = 400;

#[test]
fn more_threads_than_can_be_told_apart() {
    let stack = Stack::wrap(Mutex::new(Vec::new()));
    let register = Register::wrap(std::sync::atomic::AtomicU64::new(0));
    let queue = Queue::wrap(Mutex::new(VecDeque::new()));
    let all_are_here = Barrier::new(CROWD as usize);
    std::thread::scope(|scope| {
        for thread in 0..CROWD {
            let (stack, register, queue, all_are_here) = (&stack, &register, &queue, &all_are_here);
            scope.spawn(move || {
                queue.push(thread);
                all_are_here.wait();
                for i in 0..20 {
                    stack.push(thread);
                    register.write((thread + 1) << 32 | i);
                    queue.push(thread);
                    register.read();
                    stack.pop();
                    queue.pop();
                }
                all_are_here.wait();
            });
        }
    });
    for report in [stack.report(), register.report(), queue.report()] {
        assert_eq!((report.violations(), report.verdict()), (&[][..], Verdict::Unknown));
        assert!(report.unchecked() > 0);
    }
    // Those are gone: whoever comes next can be told apart.
    let queue = Queue::wrap(Mutex::new(VecDeque::new()));
    let stack = Stack::wrap(Mutex::new(Vec::new()));
    for i in 0..CROWD {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                queue.push(i);
                stack.push(i);
                assert_eq!((queue.pop(), stack.pop()), (Some(i), Some(i)));
            });
        });
    }
    for report in [queue.report(), stack.report()] {
        assert_eq!((report.unchecked(), report.verdict()), (0, Verdict::NothingWrong));
    }
}
