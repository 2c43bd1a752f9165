//! Launchers: tools that run on other hosts, started by ssh, a scheduler or any other command.
//!
//! A launcher is a command that starts a POSIX shell elsewhere, with standard input, output and error connected to it.
//! The runner starts this program as the *bridge* (`bridge`), which starts that command and does the rest over the three
//! streams. The shell receives the *supervisor* (`remote/supervisor.sh`) and evaluates it. The supervisor unpacks the
//! files of the call, runs the tool, and reports by *frames* (`frames.rs`) between the lines of standard error. For the
//! runner, the bridge is the tool: limits, cancellation, progress and questions need no other path.
//!
//! The command line of a launcher holds nothing of a call except its id. Arguments, variables and words of the tool cross
//! over standard input, so no shell on the way parses them.

mod boot;
pub mod bridge;
mod commands;
mod declaration;
mod error;
mod files;
mod frames;
mod launcher;
mod launchers;
mod members;
mod plan;
mod random;
mod tar;

pub use commands::Commands;
pub use declaration::Declaration;
pub use error::LauncherError;
pub use files::Files;
pub use launcher::{Kind, Launcher};
pub use launchers::{Launchers, READY};
pub use plan::{Plan, Report, Sdk};
