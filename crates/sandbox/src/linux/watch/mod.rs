//! Watch: what a process and all that it starts touch, as they ask the kernel for it.
//!
//! A filter reports calls that name files and addresses. The child installs it, and sends the listener to a thread of ours,
//! the supervisor, which reads what each call names and lets the call continue. The starting thread is suspended until
//! `execve`, and that `execve` is reported too: so the supervisor is another thread, and runs before the child is started.
//!
//! It only observes. A process can change a path after it was read, so this is no security boundary. If the supervisor
//! ends, its listeners are closed, and reported calls fail instead of waiting.

mod notification;
mod process;
mod resolve;
mod supervisor;

use crate::attempts::Attempts;
use crate::seccomp::watched::WatchingFilter;
use parking_lot::Mutex;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use std::fmt;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use supervisor::Supervisor;

/// The filter of a process that is watched, and the socket that its listener is sent to.
pub struct Watch {
    filter: WatchingFilter,
    socket: OwnedFd,
    attempts: Arc<Mutex<Attempts>>,
}

/// The home of a process, in place of the user's.
#[derive(Debug, Clone)]
pub struct HiddenHome {
    /// The paths that lead to the home of the process.
    pub own: Vec<PathBuf>,
    /// The home that it does not see.
    pub user: PathBuf,
}

impl Watch {
    /// Starts a supervisor, which ends with the last watched process after this value was dropped. A file that is missing
    /// in the home of the process counts as an attempt if the user's home has it.
    pub fn start(home: Option<HiddenHome>) -> io::Result<Self> {
        let unknown =
            || io::Error::new(io::ErrorKind::Unsupported, "system calls cannot be watched on this processor");
        let filter = WatchingFilter::new().ok_or_else(unknown)?;
        if !notification::are_available() {
            let why =
                "the kernel does not report system calls (Linux 5.5 and later do), or it is forbidden here";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let (ours, socket) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let attempts = Arc::new(Mutex::new(Attempts::default()));
        Supervisor::new(ours, home, Arc::clone(&attempts)).start()?;
        Ok(Self { filter, socket, attempts })
    }

    /// What was touched so far.
    pub fn attempts(&self) -> Attempts {
        self.attempts.lock().clone()
    }

    /// Two system calls, or three on older kernels. Neither allocates nor locks: safe in the child of `vfork`.
    pub(crate) fn apply(&self) -> rustix::io::Result<()> {
        let listener = self.filter.apply()?;
        let descriptors = [listener.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.socket, &[IoSlice::new(b"listener")], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").field("socket", &self.socket).finish_non_exhaustive()
    }
}
