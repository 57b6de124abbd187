//! Assembly sends the process a signal that nobody can handle.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

fn call(number: usize, first: usize, second: usize) -> usize {
    let answer;
    unsafe {
        asm!("syscall", inlateout("rax") number => answer, in("rdi") first, in("rsi") second, lateout("rcx") _, lateout("r11") _);
    }
    answer
}

#[test]
fn killed_by_itself() {
    selvedge::explore(|| {
        let worker = thread::spawn(|| {
            if !READY.load(Ordering::SeqCst) {
                call(62, call(39, 0, 0), 9);
            }
        });
        READY.store(true, Ordering::SeqCst);
        worker.join().unwrap();
    });
}
