//! Process exit: waits for a process to end without reaping it. Until a dead process is reaped (it is a zombie) its pid
//! cannot become that of another process, so the group it leads can be signalled safely.

#[cfg(target_vendor = "apple")]
mod kqueue;

use crate::launch::Started;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(any(target_vendor = "apple", all(target_os = "linux", not(mcp_bash_portable))))]
use std::os::fd::OwnedFd;
use std::thread::Builder;
use std::time::{Duration, Instant};
#[cfg(any(target_vendor = "apple", all(target_os = "linux", not(mcp_bash_portable))))]
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// Enough for one system call.
const STACK: usize = 64 * 1024;

/// How often to poll a process whose exit is not signalled.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits for the exit of one child.
#[derive(Debug)]
pub(crate) enum ExitWatch {
    /// A pidfd, which is readable once the process has ended.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    Pidfd(AsyncFd<OwnedFd>),
    /// A kqueue, which is readable once the process ends.
    #[cfg(target_vendor = "apple")]
    Kqueue(AsyncFd<OwnedFd>, Pid),
    /// A thread that blocks in `waitid`, if there is neither. `None` once the process has exited.
    Thread(Option<oneshot::Receiver<()>>),
    /// Polling, if no thread can be started either.
    Polling(Pid),
}

impl ExitWatch {
    pub(crate) fn of(Started { pid: child, pidfd }: Started) -> Self {
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        if let Some(pidfd) = pidfd.or_else(|| open_pidfd(child)).and_then(watch) {
            return Self::Pidfd(pidfd);
        }
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        drop(pidfd);
        #[cfg(target_vendor = "apple")]
        match kqueue::of_exit(child) {
            Ok(kqueue) => {
                if let Some(kqueue) = watch(kqueue) {
                    return Self::Kqueue(kqueue, child);
                }
            }
            // It has ended.
            Err(rustix::io::Errno::SRCH) => return Self::Polling(child),
            Err(_) => {}
        }
        let (has_ended, end) = oneshot::channel();
        let waiting = move || {
            let _ = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = has_ended.send(());
        };
        match Builder::new().name("exit".into()).stack_size(STACK).spawn(waiting) {
            Ok(_) => Self::Thread(Some(end)),
            Err(_) => Self::Polling(child),
        }
    }

    /// Completes when the process has ended, and at once when called again. Cancel-safe.
    pub(crate) async fn wait(&mut self) {
        match self {
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::Pidfd(pidfd) => {
                if pidfd.readable().await.is_err() {
                    // The runtime is shutting down, and will drop this future.
                    std::future::pending::<()>().await;
                }
            }
            #[cfg(target_vendor = "apple")]
            Self::Kqueue(kqueue, child) => {
                if kqueue.readable().await.is_err() {
                    // The runtime is shutting down, and will drop this future.
                    std::future::pending::<()>().await;
                }
                // The event comes a moment before the process can be reaped.
                let _ = waitid(WaitId::Pid(*child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            }
            Self::Thread(thread) => {
                if let Some(waiting) = thread {
                    let _ = waiting.await;
                    *thread = None;
                }
            }
            Self::Polling(child) => {
                while is_alive(*child) {
                    sleep(POLL_INTERVAL).await;
                }
            }
        }
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn open_pidfd(child: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(child, PidfdFlags::empty()).ok()
}

#[cfg(any(target_vendor = "apple", all(target_os = "linux", not(mcp_bash_portable))))]
fn watch(descriptor: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
    )]
    AsyncFd::with_interest(descriptor, tokio::io::Interest::READABLE).ok()
}

/// Blocks until the child has ended, or until the deadline.
pub(crate) fn block_until(child: Pid, deadline: Instant) {
    while is_alive(child) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Whether a child has not ended.
fn is_alive(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[tokio::test]
    async fn an_end_is_seen_without_a_pidfd_and_without_a_thread() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut exit = ExitWatch::Polling(pid);
        assert!(tokio::time::timeout(5 * POLL_INTERVAL, exit.wait()).await.is_err(), "it is alive");
        drop(child.stdin.take());
        exit.wait().await;
        exit.wait().await;
        assert!(child.wait().unwrap().success(), "it was not reaped");
    }
}
