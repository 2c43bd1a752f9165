//! The users that servers run as: the one who runs the tests, and one without privileges.

use std::fs;
use std::os::unix::fs::lchown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const NOBODY: u32 = 65534;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Identity {
    /// The user who runs the tests. Containers run them as root.
    Own,
    /// A user who owns nothing else. Only root can become another user.
    Nobody,
}

impl Identity {
    /// Those that the tests can run as.
    pub(super) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Own, Self::Nobody] } else { vec![Self::Own] }
    }

    pub(super) fn is_root(self) -> bool {
        self == Self::Own && is_root()
    }

    pub(super) fn uid(self) -> u32 {
        match self {
            Self::Own => rustix::process::geteuid().as_raw(),
            Self::Nobody => NOBODY,
        }
    }

    /// A command runs as this user.
    pub(super) fn runs(self, command: &mut Command) {
        if self == Self::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
    }

    /// A file, or a folder with everything in it, belongs to this user.
    pub(super) fn owns(self, path: &Path) {
        if self == Self::Own {
            return;
        }
        lchown(path, Some(NOBODY), Some(NOBODY)).expect("another owner");
        if path.is_dir() && !path.is_symlink() {
            for entry in fs::read_dir(path).expect("a folder") {
                self.owns(&entry.expect("an entry").path());
            }
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
