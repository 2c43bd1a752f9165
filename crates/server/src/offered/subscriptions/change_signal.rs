//! Change signal: how the server detects that a resource has changed.

use crate::offered::resources::find;
use crate::offered::served::Served;
use mcp_bash_project::{WatchedFile, provider_script};
use mcp_bash_uri::FileUri;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[derive(Debug)]
pub(super) enum ChangeSignal {
    /// The file system reports changes.
    File(WatchedFile),
    /// It cannot change.
    Fixed,
    /// Nothing reports changes, so the resource is polled.
    Other,
}

impl ChangeSignal {
    pub(super) fn of(served: &Served, uri: &str) -> Self {
        let snapshot = served.snapshot();
        let paths = &snapshot.catalog.paths;
        let Some(found) = find(&snapshot, uri, None) else { return Self::Fixed };
        if provider_script(paths, &found.provider).is_some() {
            return Self::Other;
        }
        match (&*found.provider, FileUri::parse(found.read_as(uri))) {
            ("echo", _) => Self::Fixed,
            // An absolute path replaces the project's root.
            ("file", Ok(file)) => {
                Self::File(WatchedFile::new(paths.root.join(OsStr::from_bytes(file.unix()))))
            }
            _ => Self::Other,
        }
    }
}
