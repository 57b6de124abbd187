//! `cargo selvedge`: tests of Rust code under every schedule, built and run by cargo.

fn main() {
    selvedge_cli::cargo::main()
}
