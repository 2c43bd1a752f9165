//! Watchdog thread: waits for external reasons to shut down. It also runs the blocking part of the shutdown, because it already
//! exists when the system may have no thread left.

use super::{Ending, Lifecycle};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, getppid};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long the transport may take to react to a shutdown. Only an unresponsive system can make it take that long.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Delay before the checks resume after a panic.
const PANIC_DELAY: Duration = Duration::from_millis(500);

/// Stack size; enough for the shutdown work.
const STACK: usize = 256 * 1024;

/// Time of the client's last message, in milliseconds since the start.
#[derive(Clone)]
pub(crate) struct Activity {
    start: Instant,
    last: Arc<AtomicU64>,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), last: Arc::default() }
    }

    pub(crate) fn note(&self) {
        self.last.store(millis(self.start.elapsed()), Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        self.start.elapsed().saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }
}

/// The blocking part of the shutdown.
type ShutdownWork = Box<dyn FnOnce() + Send>;

/// Handle to the watchdog thread.
pub(crate) struct Watcher {
    work: Arc<Mutex<Option<ShutdownWork>>>,
    wake: PipeWriter,
}

/// What the watchdog thread watches.
pub(crate) struct Watch<O> {
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// The output that the client reads. A closed output is noticed even if nothing is written.
    pub(crate) output: Arc<O>,
    /// How often to check that the parent is alive, if its exit cannot be awaited. `None` disables the check.
    pub(crate) orphan_check: Option<Duration>,
    pub(crate) activity: Activity,
    pub(crate) idle_timeout: Option<Duration>,
    /// Whether no request is in progress.
    pub(crate) is_idle: Box<dyn Fn() -> bool + Send>,
    /// Called if the transport does not react to the shutdown.
    pub(crate) give_up: fn(Ending) -> !,
}

impl Watcher {
    pub(crate) fn start<O: AsFd + Send + Sync + 'static>(watch: Watch<O>) -> io::Result<Self> {
        let work = Arc::new(Mutex::new(None));
        let (woken, wake) = io::pipe()?;
        // The parent is looked up before the client gets any response: by the time the thread runs, it could be gone already.
        let parent = watch.orphan_check.and_then(Parent::new);
        let thread = Thread { watch, parent, woken, work: Arc::clone(&work) };
        std::thread::Builder::new().name("watch".into()).stack_size(STACK).spawn(move || thread.run())?;
        Ok(Self { work, wake })
    }

    /// Runs `work`, which may block, on the watchdog thread, which then exits.
    pub(crate) async fn finish(&self, work: impl FnOnce() + Send + 'static) {
        let (done, is_done) = oneshot::channel::<()>();
        let work: ShutdownWork = Box::new(move || {
            work();
            drop(done);
        });
        *self.work.lock() = Some(work);
        let _ = (&self.wake).write_all(b"!");
        let _ = is_done.await;
    }
}

struct Thread<O> {
    watch: Watch<O>,
    parent: Option<Parent>,
    woken: PipeReader,
    work: Arc<Mutex<Option<ShutdownWork>>>,
}

impl<O: AsFd> Thread<O> {
    fn run(mut self) {
        let decided = loop {
            // If the idle check panics, the wait is repeated: without this thread, a dead parent or an idle client would go
            // unnoticed.
            let event = catch_unwind(AssertUnwindSafe(|| self.wait()));
            let event = event.unwrap_or_else(|_| {
                std::thread::sleep(PANIC_DELAY);
                None
            });
            match event {
                Some(Event::ShutdownWork) => break None,
                Some(Event::End(ending)) => break Some(ending),
                None => {}
            }
        };
        if let Some(ending) = decided {
            self.watch.lifecycle.end(ending);
            if !self.is_woken_within(TIMEOUT) {
                (self.watch.give_up)(ending);
            }
        }
        let _ = self.woken.read(&mut [0]);
        let work = self.work.lock().take();
        if let Some(work) = work {
            work();
        }
    }

    /// Waits until something happens, or until the next check is due.
    fn wait(&self) -> Option<Event> {
        let parent = self.parent.as_ref();
        let timeout = [parent.and_then(Parent::interval), self.silence_left()].into_iter().flatten().min();
        // No events are requested for the output: errors and hangups are always reported.
        let mut watched = vec![
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::from_borrowed_fd(self.watch.output.as_fd(), PollFlags::empty()),
        ];
        let handle = parent.and_then(|parent| parent.handle.as_ref());
        watched.extend(handle.map(|handle| PollFd::new(handle, PollFlags::IN)));
        let happened = poll(&mut watched, timeout.map(timespec).as_ref()).unwrap_or(0) > 0;
        let is_ready =
            |index: usize| happened && watched.get(index).is_some_and(|fd| !fd.revents().is_empty());
        if is_ready(0) {
            Some(Event::ShutdownWork)
        } else if is_ready(1) {
            Some(Event::End(Ending::OutputClosed))
        } else if is_ready(2) || parent.is_some_and(Parent::is_gone) {
            Some(Event::End(Ending::ParentDied))
        } else if self.is_silent_for_too_long() {
            Some(Event::End(Ending::Idle))
        } else {
            None
        }
    }

    fn is_woken_within(&self, timeout: Duration) -> bool {
        poll(&mut [PollFd::new(&self.woken, PollFlags::IN)], Some(&timespec(timeout)))
            .is_ok_and(|count| count > 0)
    }

    /// How long to wait before the next check whether the client is idle: it sends nothing, and no request is in progress.
    fn silence_left(&self) -> Option<Duration> {
        let limit = self.watch.idle_timeout?;
        let left = limit.saturating_sub(self.watch.activity.silence());
        // A call that outlasts the limit is not idleness. Its end does not wake this thread, so check again soon.
        let is_busy = left.is_zero() && !(self.watch.is_idle)();
        Some(if is_busy { limit.min(Duration::from_secs(1)) } else { left })
    }

    fn is_silent_for_too_long(&self) -> bool {
        self.watch.idle_timeout.is_some_and(|limit| self.watch.activity.silence() >= limit)
            && (self.watch.is_idle)()
    }
}

enum Event {
    /// The server shuts down, and there is work to run.
    ShutdownWork,
    End(Ending),
}

/// The parent process.
struct Parent {
    pid: Pid,
    /// A pidfd, readable when the parent is gone; `None` where the system has no pidfds.
    handle: Option<OwnedFd>,
    interval: Duration,
}

impl Parent {
    /// `None` if there is no parent to watch: we are orphaned from the start, or it is outside our PID namespace.
    fn new(interval: Duration) -> Option<Self> {
        let pid = getppid().filter(|pid| !pid.is_init())?;
        Some(Self { pid, handle: parent_handle(pid), interval })
    }

    /// How often to poll, if the parent's exit cannot be awaited.
    fn interval(&self) -> Option<Duration> {
        self.handle.is_none().then_some(self.interval)
    }

    fn is_gone(&self) -> bool {
        getppid() != Some(self.pid)
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn parent_handle(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn parent_handle(_pid: Pid) -> Option<OwnedFd> {
    None
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
