//! Command line of a process that is being confined. On some systems, the sandbox starts the process through another program.

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg_attr(
    all(target_os = "linux", not(mcp_bash_portable)),
    expect(dead_code, reason = "Linux changes no command line")
)]
pub(crate) struct CommandLine<'a> {
    pub(crate) program: &'a mut PathBuf,
    pub(crate) arguments: &'a mut Vec<OsString>,
}
