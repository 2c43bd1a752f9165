//! The files that a tool and we talk through beside its pipes. Scripts make them if they have something to say;
//! most have not. They stand in the folder of the call, where a script may put anything in their place, so nothing is
//! opened here that is no plain file, and nothing is read without a limit.

use mcp_bash_runner::CallFolder;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The longest error that is read, in bytes.
const LONGEST_ERROR: u64 = 1024 * 1024;

/// The longest list of files that is read, in bytes.
const LONGEST_LIST: u64 = 1024 * 1024;

/// The files of one call. They vanish with this value.
pub(crate) struct CallFiles {
    folder: CallFolder,
}

impl CallFiles {
    pub(crate) fn new(folder: CallFolder) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &CallFolder {
        &self.folder
    }

    /// Where a script leaves a JSON-RPC error, if it wants one.
    pub(crate) fn error(&self) -> PathBuf {
        self.folder.path().join("error")
    }

    /// Where a script names files that belong to its result.
    pub(crate) fn resources(&self) -> PathBuf {
        self.folder.path().join("resources")
    }

    /// What appears when nobody waits for the script any more.
    pub(crate) fn cancel(&self) -> PathBuf {
        self.folder.path().join("cancel")
    }

    pub(crate) fn tell_of_cancellation(&self) {
        // What stands there already tells it as well, and is not opened. It is about to be told to end anyway.
        let _ = mcp_bash_files::create_new(&self.cancel(), 0o600);
    }

    /// What the script, which has ended, left where errors are.
    pub(crate) fn own_error(&self) -> Option<String> {
        mcp_bash_files::read_text(&self.error(), LONGEST_ERROR).ok()
    }

    /// What the script, which has ended, left where it names files; or why that cannot be read.
    pub(crate) fn list_of_resources(&self) -> io::Result<Option<String>> {
        match mcp_bash_files::read_text(&self.resources(), LONGEST_LIST) {
            Ok(list) => Ok(Some(list)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
