//! The end of a process, awaited without reaping it: its number stays its own until we have asked how it ended, and
//! until then the group it leads can be signalled without a doubt about whose it is.

use crate::launch::Started;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio::task::JoinHandle;

/// The coming end of one of our children.
#[derive(Debug)]
pub(crate) enum Exit {
    /// Readable once the process has ended.
    #[cfg(target_os = "linux")]
    Handle(AsyncFd<OwnedFd>),
    /// A thread that waits for it, where the system has no such handles, until it has.
    Thread(Option<JoinHandle<()>>),
}

impl Exit {
    pub(crate) fn of(Started { pid: child, handle }: Started) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(handle) = handle.or_else(|| handle_of(child)).and_then(watched) {
            return Self::Handle(handle);
        }
        #[cfg(not(target_os = "linux"))]
        drop(handle);
        Self::Thread(Some(tokio::task::spawn_blocking(move || {
            let _ = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        })))
    }

    /// Completes when the process has ended, and ever after. Safe to drop half-way.
    pub(crate) async fn wait(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Handle(handle) => {
                if handle.readable().await.is_err() {
                    // The runtime is going, and we with it.
                    std::future::pending::<()>().await;
                }
            }
            Self::Thread(thread) => {
                if let Some(waiting) = thread {
                    let _ = waiting.await;
                    *thread = None;
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn handle_of(child: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(child, PidfdFlags::empty()).ok()
}

#[cfg(target_os = "linux")]
fn watched(handle: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
    )]
    AsyncFd::with_interest(handle, tokio::io::Interest::READABLE).ok()
}

/// Blocks until one of our children has ended, or until the deadline.
pub(crate) fn block_until(child: Pid, deadline: Instant) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while matches!(waitid(WaitId::Pid(child), options), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(200));
    }
}
