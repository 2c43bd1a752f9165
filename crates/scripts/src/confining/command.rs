//! Command line of a process that is being confined: on some systems another program starts it.

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux changes no command line"))]
pub(crate) struct CommandLine<'a> {
    pub(crate) program: &'a mut PathBuf,
    pub(crate) arguments: &'a mut Vec<OsString>,
}
