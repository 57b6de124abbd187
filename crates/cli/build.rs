//! Puts the runtime, the shared library that tests are linked with, into the binaries of a release build, so that `cargo install` gives
//! all there is.
//!
//! Cargo cannot hand the library of a dependency to a crate that wants its bytes, so it is built once more here, into a directory of its
//! own. Builds for development do without: there the library lies beside the executable, and it is always the newest.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What goes into the library besides its own sources.
const CRATES: [&str; 6] = ["runtime", "driver", "explore", "lineup", "history", "selvedge"];

fn main() {
    let crates = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(variable("OUT_DIR"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", crates.join("../Cargo.lock").display());
    for name in CRATES {
        println!("cargo:rerun-if-changed={}", crates.join(name).join("src").display());
        println!("cargo:rerun-if-changed={}", crates.join(name).join("Cargo.toml").display());
    }
    let controlled = variable("CARGO_CFG_TARGET_ARCH") == "x86_64" && variable("CARGO_CFG_TARGET_OS") == "linux";
    let wanted = controlled && variable("PROFILE") == "release" && variable("HOST") == variable("TARGET");
    let library = out.join("libselvedge_runtime.so");
    if wanted {
        build(&crates.join("runtime/Cargo.toml"), &out.join("target"), &library);
    } else {
        std::fs::write(&library, b"").expect("OUT_DIR can be written");
    }
    println!("cargo:rustc-env=SELVEDGE_EMBEDDED={}", library.display());
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn build(manifest: &Path, target: &Path, library: &Path) {
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--lib", "--quiet", "--manifest-path"]).arg(manifest);
    cargo.arg("--target-dir").arg(target);
    // A lint that wraps the compiler wants no second look, and where debug information points is of no use there.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER").env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    let status = cargo.status();
    assert!(status.as_ref().is_ok_and(|status| status.success()), "the runtime could not be built: {status:?}");
    let built = target.join("release/libselvedge_runtime.so");
    std::fs::copy(&built, library).expect("the runtime was built");
}
