//! `cargo selvedge test --manifest-path examples/yanked/Cargo.toml`

use selvedge::object;

/// Whoever waits for an initialisation that fails panics, because it thinks that cannot be.
#[test]
#[should_panic(expected = "panic: ")]
fn spin_once_panics_when_another_initialisation_fails() {
    object(spin::Once::<u32>::new)
        .call("try_call_once(fail)", |once| once.try_call_once(|| Err("no")).copied())
        .call("try_call_once(1)", |once| once.try_call_once(|| Ok::<_, &str>(1)).copied())
        .call("get()", |once| once.get().copied())
        .auto(2)
        .check();
}
