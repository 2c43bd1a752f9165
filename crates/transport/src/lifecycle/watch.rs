//! Watchdog thread: sleeps until something outside ends the server. It also does what blocks at shutdown, because it exists
//! already when the system may have no thread left.

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

/// How long the transport may take to notice that the server ends. Only an unresponsive system can make it take that long.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long after a panic it is looked again.
const AFTER_PANIC: Duration = Duration::from_millis(500);

/// Enough for what is done at the end.
const STACK: usize = 256 * 1024;

/// When the client was last heard, as milliseconds since the start.
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

/// What blocks when the server ends.
type LastDuty = Box<dyn FnOnce() + Send>;

/// The watching thread.
pub(crate) struct Watcher {
    duty: Arc<Mutex<Option<LastDuty>>>,
    wake: PipeWriter,
}

/// What is watched.
pub(crate) struct Watch<O> {
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// Where the client reads. A closed output is noticed even if nothing is written.
    pub(crate) output: Arc<O>,
    /// How often to look for the parent, where its end cannot be awaited. `None` where nobody looks for it.
    pub(crate) orphan_check: Option<Duration>,
    pub(crate) activity: Activity,
    pub(crate) idle_timeout: Option<Duration>,
    /// Whether nothing is being worked on.
    pub(crate) is_idle: Box<dyn Fn() -> bool + Send>,
    /// What to do if the transport does not notice that the server ends.
    pub(crate) give_up: fn(Ending) -> !,
}

impl Watcher {
    pub(crate) fn start<O: AsFd + Send + Sync + 'static>(watch: Watch<O>) -> io::Result<Self> {
        let duty = Arc::new(Mutex::new(None));
        let (woken, wake) = io::pipe()?;
        // Before the client has an answer: on the thread, which may start late, the parent could be gone already.
        let parent = watch.orphan_check.and_then(Parent::new);
        let thread = Thread { watch, parent, woken, duty: Arc::clone(&duty) };
        std::thread::Builder::new().name("watch".into()).stack_size(STACK).spawn(move || thread.run())?;
        Ok(Self { duty, wake })
    }

    /// Lets the watching thread do what blocks at the end, after which it watches no more.
    pub(crate) async fn finish(&self, duty: impl FnOnce() + Send + 'static) {
        let (done, is_done) = oneshot::channel::<()>();
        let duty: LastDuty = Box::new(move || {
            duty();
            drop(done);
        });
        *self.duty.lock() = Some(duty);
        let _ = (&self.wake).write_all(b"!");
        let _ = is_done.await;
    }
}

struct Thread<O> {
    watch: Watch<O>,
    parent: Option<Parent>,
    woken: PipeReader,
    duty: Arc<Mutex<Option<LastDuty>>>,
}

impl<O: AsFd> Thread<O> {
    fn run(mut self) {
        let decided = loop {
            // A panic of the idle check is caught and the check repeated: without this thread nothing ends the server.
            let event = catch_unwind(AssertUnwindSafe(|| self.wait()));
            let event = event.unwrap_or_else(|_| {
                std::thread::sleep(AFTER_PANIC);
                None
            });
            match event {
                Some(Event::LastDuty) => break None,
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
        let duty = self.duty.lock().take();
        if let Some(duty) = duty {
            duty();
        }
    }

    /// Waits until something happens, or it is time to look again.
    fn wait(&self) -> Option<Event> {
        let parent = self.parent.as_ref();
        let timeout = [parent.and_then(Parent::interval), self.silence_left()].into_iter().flatten().min();
        // Nothing is asked of the output but its end, which is always reported.
        let mut watched = vec![
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::from_borrowed_fd(self.watch.output.as_fd(), PollFlags::empty()),
        ];
        let handle = parent.and_then(|parent| parent.handle.as_ref());
        watched.extend(handle.map(|handle| PollFd::new(handle, PollFlags::IN)));
        let happened = poll(&mut watched, timeout.map(timespec).as_ref()).unwrap_or(0) > 0;
        let is_told =
            |index: usize| happened && watched.get(index).is_some_and(|fd| !fd.revents().is_empty());
        if is_told(0) {
            Some(Event::LastDuty)
        } else if is_told(1) {
            Some(Event::End(Ending::OutputClosed))
        } else if is_told(2) || parent.is_some_and(Parent::is_gone) {
            Some(Event::End(Ending::ParentDied))
        } else if self.is_silent_for_too_long() {
            Some(Event::End(Ending::Idle))
        } else {
            None
        }
    }

    fn is_woken_within(&self, patience: Duration) -> bool {
        poll(&mut [PollFd::new(&self.woken, PollFlags::IN)], Some(&timespec(patience)))
            .is_ok_and(|count| count > 0)
    }

    /// How long to wait before looking again whether the client is silent, with nothing of its own being worked on.
    fn silence_left(&self) -> Option<Duration> {
        let limit = self.watch.idle_timeout?;
        let left = limit.saturating_sub(self.watch.activity.silence());
        // A call that outlasts the limit is no idleness; its end starts no new wait, so look again in a while.
        let is_busy = left.is_zero() && !(self.watch.is_idle)();
        Some(if is_busy { limit.min(Duration::from_secs(1)) } else { left })
    }

    fn is_silent_for_too_long(&self) -> bool {
        self.watch.idle_timeout.is_some_and(|limit| self.watch.activity.silence() >= limit)
            && (self.watch.is_idle)()
    }
}

enum Event {
    /// The server ends, and there is something to be done.
    LastDuty,
    End(Ending),
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
