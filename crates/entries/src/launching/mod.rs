//! Launching: programs that stand between a client and ours, and are named in its entry: package runners, and `wsl.exe`.

mod package_runner;
mod wsl;

pub use package_runner::PackageRunner;
pub use wsl::{NoWindows, Windows};
