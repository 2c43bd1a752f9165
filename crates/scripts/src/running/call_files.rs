//! Call files: the files through which a tool and the server communicate besides its pipes. A script creates them if it needs
//! them; most do not. They are in the folder of the call, where a script may replace them by anything, so only regular files
//! are opened here, and each is read up to a limit.

use mcp_bash_runner::CallFolder;
use mcp_bash_secrets::KnownSecrets;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// The longest error that is read, in bytes.
const LONGEST_ERROR: u64 = 1024 * 1024;

/// The longest list of files that is read, in bytes.
const LONGEST_LIST: u64 = 1024 * 1024;

/// The files of one call. Dropping this value removes them.
pub(crate) struct CallFiles {
    folder: CallFolder,
    known_secrets: Arc<KnownSecrets>,
}

impl CallFiles {
    /// Reads redact `known_secrets`.
    pub(crate) fn new(folder: CallFolder, known_secrets: Arc<KnownSecrets>) -> Self {
        Self { folder, known_secrets }
    }

    pub(crate) fn folder(&self) -> &CallFolder {
        &self.folder
    }

    /// Where a script writes a JSON-RPC error, if it wants one.
    pub(crate) fn error(&self) -> PathBuf {
        self.folder.path().join("error")
    }

    /// Where a script lists files that belong to its result.
    pub(crate) fn resources(&self) -> PathBuf {
        self.folder.path().join("resources")
    }

    /// The file that appears when the call is cancelled.
    pub(crate) fn cancel(&self) -> PathBuf {
        self.folder.path().join("cancel")
    }

    pub(crate) fn signal_cancellation(&self) {
        // If the file exists, it signals the same, and is not opened. The script is about to be terminated anyway.
        let _ = mcp_bash_files::create_new(&self.cancel(), 0o600);
    }

    /// The error that the script left. Called after its exit.
    pub(crate) fn own_error(&self) -> Option<String> {
        let error = mcp_bash_files::read_text(&self.error(), LONGEST_ERROR).ok()?;
        Some(self.known_secrets.redacted_text(error))
    }

    /// The list of files that the script left, or why it cannot be read. Called after its exit.
    pub(crate) fn list_of_resources(&self) -> io::Result<Option<String>> {
        match mcp_bash_files::read_text(&self.resources(), LONGEST_LIST) {
            Ok(list) => Ok(Some(list)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
