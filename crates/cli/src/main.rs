//! `selvedge`: the command line.

fn main() {
    selvedge_cli::main()
}
