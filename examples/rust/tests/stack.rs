//! cargo selvedge test --manifest-path examples/rust/Cargo.toml --test stack

use std::thread;

use selvedge_examples::stack::Stack;

#[test]
fn two_threads_pop() {
    selvedge::explore(|| {
        let stack = Stack::default();
        stack.push(1);
        stack.push(2);
        thread::scope(|scope| {
            scope.spawn(|| stack.pop());
            stack.pop();
        });
        assert_eq!(stack.pop(), None);
    });
}
