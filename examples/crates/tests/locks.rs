//! Locks and cells. `cargo selvedge test --manifest-path examples/crates/Cargo.toml`

use selvedge::object;

#[test]
fn parking_lot_mutex() {
    object(|| parking_lot::Mutex::new(0u32))
        .call("add()", |lock| {
            let mut value = lock.lock();
            *value += 1;
            *value
        })
        .call("get()", |lock| *lock.lock())
        .auto(2)
        .check();
}

/// Trying fails when somebody else has the lock, which no serial run shows: it is said.
#[test]
fn parking_lot_try_lock() {
    object(|| parking_lot::Mutex::new(0u32))
        .call("add()", |lock| *lock.lock() += 1)
        .call("try_get()", |lock| lock.try_lock().map(|value| *value))
        .nondeterministic("try_get() -> None")
        .auto(2)
        .check();
}

#[test]
fn parking_lot_rwlock() {
    object(|| parking_lot::RwLock::new((0u32, 0u32)))
        .call("write()", |lock| {
            let mut pair = lock.write();
            pair.0 += 1;
            pair.1 += 1;
        })
        .call("read()", |lock| *lock.read())
        .auto(2)
        .check();
}

/// A gate: whoever waits goes on when it is opened.
#[test]
fn parking_lot_condvar() {
    struct Gate {
        open: parking_lot::Mutex<bool>,
        changed: parking_lot::Condvar,
    }
    object(|| Gate { open: parking_lot::Mutex::new(false), changed: parking_lot::Condvar::new() })
        .call("open()", |gate| {
            *gate.open.lock() = true;
            gate.changed.notify_all();
        })
        .call("close()", |gate| *gate.open.lock() = false)
        .call("pass()", |gate| gate.changed.wait_while(&mut gate.open.lock(), |open| !*open))
        .auto(2)
        .check();
}

#[test]
fn spin_once() {
    object(spin::Once::<u32>::new)
        .call("try_call_once(fail)", |once| once.try_call_once(|| Err("no")).copied())
        .call("try_call_once(1)", |once| once.try_call_once(|| Ok::<_, &str>(1)).copied())
        .call("get()", |once| once.get().copied())
        .auto(2)
        .check();
}
