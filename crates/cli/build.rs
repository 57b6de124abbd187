//! Says whether this is a release build, which has the runtime inside. The compiler is not told the profile, cargo's scripts are.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    // `release` and every profile that inherits from it.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rustc-cfg=embedded");
    }
}
