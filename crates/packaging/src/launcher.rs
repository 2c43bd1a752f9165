//! Launchers: shell scripts that start the server of a package. They work in any POSIX shell, from any folder, through links
//! and with blanks in paths.

/// `run-server.sh` beside a vendored program.
pub const VENDORED_LAUNCHER: &str = include_str!("launchers/vendored.sh");

/// `bin/run-server.sh` of a bundle without a program.
pub const BUNDLED_LAUNCHER: &str = include_str!("launchers/bundled.sh");
