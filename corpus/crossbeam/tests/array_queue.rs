//! `ArrayQueue` of capacity 2: every matrix of three threads with two operations each, by name. A column is one thread: `u` is a
//! push, `o` a pop. Threads are interchangeable, so the columns of a matrix are in order.

use crossbeam_queue::ArrayQueue;
use std::sync::Arc;
use std::thread;

/// What a thread's operations did: values that it pushed, values that it took.
type Done = (Vec<usize>, Vec<usize>);

fn column(queue: &ArrayQueue<usize>, number: usize, operations: &str) -> Done {
    let (mut pushed, mut taken) = (Vec::with_capacity(2), Vec::with_capacity(2));
    for (at, operation) in operations.bytes().enumerate() {
        let value = 10 * number + at;
        match operation {
            b'u' => pushed.extend(queue.push(value).is_ok().then_some(value)),
            _ => taken.extend(queue.pop()),
        }
    }
    (pushed, taken)
}

/// Nothing is lost, nothing is taken twice, and nothing is taken that was not pushed.
fn check(columns: [&str; 3]) {
    let queue = Arc::new(ArrayQueue::new(2));
    let threads = [1, 2].map(|number| {
        let (queue, operations) = (queue.clone(), columns[number].to_string());
        thread::spawn(move || column(&queue, number, &operations))
    });
    let (mut pushed, mut taken) = column(&queue, 0, columns[0]);
    for thread in threads {
        let (more_pushed, more_taken) = thread.join().unwrap();
        pushed.extend(more_pushed);
        taken.extend(more_taken);
    }
    while let Some(value) = queue.pop() {
        taken.push(value);
    }
    pushed.sort();
    taken.sort();
    assert_eq!(pushed, taken);
}

macro_rules! matrix {
    ($name:ident $a:literal $b:literal $c:literal) => {
        #[test]
        fn $name() {
            selvedge::explore(|| check([$a, $b, $c]));
        }
    };
}

matrix!(pass_uu_uu_uu "uu" "uu" "uu");
matrix!(pass_uu_uu_uo "uu" "uu" "uo");
matrix!(pass_uu_uu_ou "uu" "uu" "ou");
matrix!(pass_uu_uu_oo "uu" "uu" "oo");
matrix!(pass_uu_uo_uo "uu" "uo" "uo");
matrix!(pass_uu_uo_ou "uu" "uo" "ou");
matrix!(pass_uu_uo_oo "uu" "uo" "oo");
matrix!(pass_uu_ou_ou "uu" "ou" "ou");
matrix!(pass_uu_ou_oo "uu" "ou" "oo");
matrix!(pass_uu_oo_oo "uu" "oo" "oo");
matrix!(pass_uo_uo_uo "uo" "uo" "uo");
matrix!(pass_uo_uo_ou "uo" "uo" "ou");
matrix!(pass_uo_uo_oo "uo" "uo" "oo");
matrix!(pass_uo_ou_ou "uo" "ou" "ou");
matrix!(pass_uo_ou_oo "uo" "ou" "oo");
matrix!(pass_uo_oo_oo "uo" "oo" "oo");
matrix!(pass_ou_ou_ou "ou" "ou" "ou");
matrix!(pass_ou_ou_oo "ou" "ou" "oo");
matrix!(pass_ou_oo_oo "ou" "oo" "oo");
matrix!(pass_oo_oo_oo "oo" "oo" "oo");
