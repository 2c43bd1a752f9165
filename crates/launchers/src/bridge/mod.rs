//! Bridge: the process on the host of the server that stands for a tool on another host. The runner starts it in the
//! place of the tool, with the tool's environment, standard input and channels. It starts the launcher, sends the call
//! through it, and passes on all that comes back.

mod conduct;
mod failure;
mod local;
mod payload;
mod questions;
mod streams;

pub use local::INHERITED;

use crate::plan::{Plan, Report};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The first word of the command line that makes this program the bridge.
pub const WORD: &str = "--launch-tool";

/// The exit code if there is none of the tool. The report says why.
const FAILED: u8 = 255;

/// Runs the call whose plan is in this file.
pub fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(plan) = words.next() else { return ExitCode::from(FAILED) };
    let Ok(plan) = Plan::read(Path::new(&plan)) else { return ExitCode::from(FAILED) };
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(conduct::conduct(&plan, &mut report));
            // A thread that still writes to a pipe that nobody reads must not keep us.
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(failure::Failure::Io(error)),
    };
    let code = ended.unwrap_or_else(|failure| {
        report.failed = Some(failure.to_string());
        FAILED
    });
    // Without a report the server has only the exit code.
    let _ = report.write(&plan.call_folder);
    ExitCode::from(code)
}
