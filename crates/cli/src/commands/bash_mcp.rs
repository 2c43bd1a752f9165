//! `bash_mcp.sh`: under this name, as a link beside `tools/`, the program serves the folder of the link as the script of
//! that name did. Every executable is asked for its tools, tools can be called without a handshake, and words on the
//! command line mean nothing.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::serve::{self, Manner};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const NAME: &str = "bash_mcp.sh";

/// Whether the program was called by this name.
pub(crate) fn is_meant(called: &OsStr) -> bool {
    Path::new(called).file_name().is_some_and(|name| name == NAME)
}

pub(crate) fn run(called: &OsStr) -> Result<ExitCode, Error> {
    let common = Common { project_root: Some(folder(Path::new(called))), ..Common::default() };
    let manner = Manner {
        adjust: Some(&|settings| {
            settings.ask_all_executables = true;
            settings.needs_handshake = false;
        }),
        ..Manner::default()
    };
    serve::run_as(&common, &serve::Arguments::default(), &manner)
}

/// The folder that holds the link. A name without a folder was found in the search path.
fn folder(called: &Path) -> PathBuf {
    let beside = called.parent().filter(|folder| !folder.as_os_str().is_empty());
    let searched = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| folder.join(NAME).is_file())
    };
    beside.map(Path::to_owned).or_else(searched).unwrap_or_else(|| PathBuf::from("."))
}
