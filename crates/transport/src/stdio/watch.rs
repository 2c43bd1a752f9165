//! Waits for what ends a server from outside, in one thread that sleeps until something happens.

use super::ending::{Ending, Finish};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, getppid};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When the client was last heard, as milliseconds since the start.
pub(super) struct Activity {
    start: Instant,
    last: Arc<AtomicU64>,
}

impl Activity {
    pub(super) fn note(&self) {
        self.last.store(millis(self.start.elapsed()), Ordering::Relaxed);
    }
}

/// Starts the watching thread.
pub(super) fn start(finish: Arc<Finish>) -> io::Result<Activity> {
    let activity = Activity { start: Instant::now(), last: Arc::default() };
    let idle = Idleness {
        start: activity.start,
        last: Arc::clone(&activity.last),
        limit: finish.server().settings().idle_timeout,
    };
    let parent = finish.server().settings().orphan_check.and_then(Parent::new);
    std::thread::Builder::new()
        .name("watch".into())
        .stack_size(64 * 1024)
        .spawn(move || watch(&finish, parent.as_ref(), &idle))?;
    Ok(activity)
}

fn watch(finish: &Finish, parent: Option<&Parent>, idle: &Idleness) -> ! {
    loop {
        let timeout = [parent.and_then(Parent::interval), idle.left(finish)].into_iter().flatten().min();
        // Nothing is asked of the output but its end, which is always reported.
        let mut watched = vec![PollFd::new(finish.outbox().output(), PollFlags::empty())];
        let handle = parent.and_then(|parent| parent.handle.as_ref());
        watched.extend(handle.map(|handle| PollFd::new(handle, PollFlags::IN)));
        let happened = poll(&mut watched, timeout.map(timespec).as_ref()).unwrap_or(0) > 0;

        if happened && !watched[0].revents().is_empty() {
            finish.end(Ending::OutputClosed);
        }
        if happened || parent.is_some_and(Parent::is_gone) {
            finish.end(Ending::ParentDied);
        }
        if idle.is_over(finish) {
            finish.end(Ending::Idle);
        }
    }
}

/// The process that started us.
struct Parent {
    pid: Pid,
    /// Readable when the parent is gone, where the system has such a thing.
    handle: Option<OwnedFd>,
    interval: Duration,
}

impl Parent {
    /// `None` where there is no parent to lose: we are an orphan from the start, or it is outside our namespace.
    fn new(interval: Duration) -> Option<Self> {
        let pid = getppid().filter(|pid| !pid.is_init())?;
        Some(Self { pid, handle: parent_handle(pid), interval })
    }

    /// How often to look, where the end cannot be awaited.
    fn interval(&self) -> Option<Duration> {
        self.handle.is_none().then_some(self.interval)
    }

    fn is_gone(&self) -> bool {
        getppid() != Some(self.pid)
    }
}

#[cfg(target_os = "linux")]
fn parent_handle(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn parent_handle(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// How long the client has been silent, with nothing of its own being worked on.
struct Idleness {
    start: Instant,
    last: Arc<AtomicU64>,
    limit: Option<Duration>,
}

impl Idleness {
    fn silent(&self) -> Duration {
        self.start.elapsed().saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }

    /// How long to wait before looking again.
    fn left(&self, finish: &Finish) -> Option<Duration> {
        let limit = self.limit?;
        let left = limit.saturating_sub(self.silent());
        // A call that outlasts the limit is no idleness; its end starts no new wait, so look again in a while.
        Some(if left.is_zero() && !is_idle(finish, limit) { limit.min(Duration::from_secs(1)) } else { left })
    }

    fn is_over(&self, finish: &Finish) -> bool {
        self.limit.is_some_and(|limit| self.silent() >= limit && is_idle(finish, limit))
    }
}

/// Whether nothing goes on for the client, or nothing can because it has not read for so long.
fn is_idle(finish: &Finish, limit: Duration) -> bool {
    finish.connection().is_idle() || finish.outbox().is_stuck(limit)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
