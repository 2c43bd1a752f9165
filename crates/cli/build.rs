//! Build script: passes on the target triple, which only build scripts know.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").expect("cargo names the target");
    // Tests have this variable too: with the prefix of settings, they would be told that it is none.
    println!("cargo::rustc-env=BUILD_TARGET={target}");
}
