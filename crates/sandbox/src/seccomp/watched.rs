//! The watching filter: which calls are reported, and which of their arguments name what they touch.
//!
//! It denies nothing. A filter that denies wins over it, so that a denied call is not reported.

#[cfg_attr(not(test), expect(clippy::wildcard_imports, reason = "most of the table"))]
use super::calls::*;
use super::decision::Decision::{Allow, Notify};
use super::decision::by_pointer;
use super::{install, program};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What a call does to the path that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// This argument has the flags of `open`.
    Open(u8),
    /// This argument leads to a `struct open_how`, which begins with the flags.
    OpenAsToldBy(u8),
    /// Opens it for writing, and creates it if it does not exist.
    OpenNew,
    Run,
    /// Creates it, if it does not exist.
    Make,
    /// Creates it, and replaces an existing one.
    Replace,
    Remove,
    Truncate,
    /// Asks whether it exists.
    Look,
}

/// What a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A path, below the folder with the descriptor of an argument if there is one.
    Path { folder: Option<u8>, path: u8, how: How },
    /// The address that a socket is connected to, and its length.
    Peer { address: u8, length: u8 },
    /// The address that a socket gets.
    Own { address: u8, length: u8 },
}

/// A compiled filter that reports calls.
#[derive(Clone)]
pub(crate) struct WatchingFilter {
    instructions: Arc<[libc::sock_filter]>,
}

const fn path(path: u8, how: How) -> Named {
    Named::Path { folder: None, path, how }
}

const fn below(folder: u8, path: u8, how: How) -> Named {
    Named::Path { folder: Some(folder), path, how }
}

const WATCHED: &[(Call, &[Named])] = &[
    (OPEN, &[path(0, How::Open(1))]),
    (OPENAT, &[below(0, 1, How::Open(2))]),
    (OPENAT2, &[below(0, 1, How::OpenAsToldBy(2))]),
    (CREAT, &[path(0, How::OpenNew)]),
    (EXECVE, &[path(0, How::Run)]),
    (EXECVEAT, &[below(0, 1, How::Run)]),
    (MKDIR, &[path(0, How::Make)]),
    (MKDIRAT, &[below(0, 1, How::Make)]),
    (MKNOD, &[path(0, How::Make)]),
    (MKNODAT, &[below(0, 1, How::Make)]),
    (LINK, &[path(1, How::Make)]),
    (LINKAT, &[below(2, 3, How::Make)]),
    (SYMLINK, &[path(1, How::Make)]),
    (SYMLINKAT, &[below(1, 2, How::Make)]),
    (RENAME, &[path(0, How::Remove), path(1, How::Replace)]),
    (RENAMEAT, &[below(0, 1, How::Remove), below(2, 3, How::Replace)]),
    (RENAMEAT2, &[below(0, 1, How::Remove), below(2, 3, How::Replace)]),
    (UNLINK, &[path(0, How::Remove)]),
    (UNLINKAT, &[below(0, 1, How::Remove)]),
    (RMDIR, &[path(0, How::Remove)]),
    (TRUNCATE, &[path(0, How::Truncate)]),
    (ACCESS, &[path(0, How::Look)]),
    (FACCESSAT, &[below(0, 1, How::Look)]),
    (FACCESSAT2, &[below(0, 1, How::Look)]),
    (STAT, &[path(0, How::Look)]),
    (LSTAT, &[path(0, How::Look)]),
    (NEWFSTATAT, &[below(0, 1, How::Look)]),
    (STATX, &[below(0, 1, How::Look)]),
    (CONNECT, &[Named::Peer { address: 1, length: 2 }]),
    (SENDTO, &[Named::Peer { address: 4, length: 5 }]),
    (BIND, &[Named::Own { address: 1, length: 2 }]),
];

/// What the call with this number names.
pub(crate) fn named_by(number: u32) -> &'static [Named] {
    let architecture = Architecture::of_this_build();
    let is_it = |call: Call| architecture.and_then(|architecture| architecture.number(call)) == Some(number);
    WATCHED.iter().find(|(call, _)| is_it(*call)).map_or(&[], |(_, named)| named)
}

impl WatchingFilter {
    /// `None` on processors whose system calls the table does not have.
    pub(crate) fn new() -> Option<Self> {
        let architecture = Architecture::of_this_build()?;
        let rules: Vec<_> = WATCHED
            .iter()
            .filter_map(|(call, _)| {
                // Most calls of `sendto` are those of `send`, without an address.
                let decision = if *call == SENDTO { by_pointer(4, Allow, &Notify) } else { Notify };
                Some((architecture.number(*call)?, decision))
            })
            .collect();
        Some(Self { instructions: program::compile(architecture, &rules).into() })
    }

    /// Puts the calling thread under the filter, and returns the listener that its calls are reported to. Safe in the child
    /// of `vfork`.
    pub(crate) fn apply(&self) -> rustix::io::Result<OwnedFd> {
        install::install_listening(&self.instructions)
    }
}
