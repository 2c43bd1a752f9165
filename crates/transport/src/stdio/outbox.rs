//! Outbox: the queue of outgoing messages. One thread writes at a time, and no sender waits.

mod queue;
#[cfg(test)]
mod tests;

use super::system::make_roomy;
use mcp_bash_budget::Budget;
use mcp_bash_server::{Reply, Stream, panic_on_purpose};
use parking_lot::{Condvar, Mutex};
use queue::{Queue, Takes, Writer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The queue to standard output. The task that flushes writes what the pipe takes without blocking; a thread that is started on
/// first use writes the rest.
pub(super) struct Outbox {
    shared: Arc<Shared>,
}

struct Shared {
    output: OwnedFd,
    queue: Mutex<Queue>,
    /// Signalled when messages are left to the writer thread.
    stalled: Condvar,
    /// Signalled when the queue became shorter, or the writer stopped.
    relieved: Condvar,
    /// Whether `finish` waits for `relieved`.
    is_finishing: AtomicBool,
    /// Backpressure limit in bytes: above it the outbox is clogged, until half of it is free again.
    limit: usize,
    is_clogged: AtomicBool,
    /// Notified when the outbox is no longer clogged: one for the read loop, one for the calls that were held back.
    has_room: Notify,
    has_relief: Notify,
    /// Why writing failed, although the client has not closed our output.
    failure: OnceLock<io::Error>,
    has_failed: Notify,
    /// Notified when the writer thread is needed and could not be started.
    lacks_thread: Notify,
}

/// The usual capacity of a pipe. Larger messages go to the writer thread without being copied.
const LARGE: usize = 64 * 1024;

enum Wrote {
    All,
    /// Only the first bytes, this many; the pipe is full.
    Part(usize),
    /// The client has closed the output, or writing failed.
    Dead,
}

impl Outbox {
    /// An outbox that is clogged above `limit` bytes. Queued messages are charged to `budget`.
    pub(super) fn new(output: OwnedFd, limit: usize, budget: &Arc<Budget>) -> Self {
        Self {
            shared: Arc::new(Shared {
                output,
                queue: Mutex::new(Queue::new(budget)),
                stalled: Condvar::new(),
                relieved: Condvar::new(),
                is_finishing: AtomicBool::new(false),
                limit,
                is_clogged: AtomicBool::new(false),
                has_room: Notify::new(),
                has_relief: Notify::new(),
                failure: OnceLock::new(),
                has_failed: Notify::new(),
                lacks_thread: Notify::new(),
            }),
        }
    }

    /// Why writing failed, although the client has not closed our output.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.shared.failure.get()
    }

    /// Completes when writing fails, although the client has not closed our output.
    pub(super) async fn failed(&self) {
        self.shared.has_failed.notified().await;
    }

    /// Completes when the writer thread could not be started. The outbox has to be flushed again.
    pub(super) async fn lack_of_thread(&self) {
        self.shared.lacks_thread.notified().await;
    }

    /// Flushes, and waits while the outbox is clogged.
    pub(super) async fn room(&self) {
        self.flush();
        while self.is_clogged() {
            self.shared.has_room.notified().await;
        }
    }

    /// Completes each time that the outbox is no longer clogged.
    pub(super) async fn relief(&self) {
        self.shared.has_relief.notified().await;
    }

    /// Whether the outbox is clogged, and the client has read nothing for `timeout`.
    pub(super) fn is_stuck(&self, timeout: Duration) -> bool {
        self.is_clogged() && self.shared.queue.lock().last_taken.elapsed() >= timeout
    }

    /// From now on only responses are queued, with the notifications that belong to their requests.
    pub(super) fn take_only_answers(&self) {
        self.shared.queue.lock().takes = Takes::Answers;
    }

    /// From now on no message is queued. Queued messages are still written.
    pub(super) fn take_nothing(&self) {
        self.shared.queue.lock().takes = Takes::Nothing;
    }

    /// Waits until everything is written. Gives up if the client reads nothing for `timeout`.
    pub(super) fn finish(&self, timeout: Duration) {
        self.flush();
        let mut queue = self.shared.queue.lock();
        self.shared.is_finishing.store(true, Ordering::Relaxed);
        let (mut unsent, mut deadline) = (queue.unsent(), Instant::now() + timeout);
        while queue.writer != Writer::Nobody && !queue.is_dead {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.shared.relieved.wait_for(&mut queue, left);
            if queue.unsent() < unsent {
                (unsent, deadline) = (queue.unsent(), Instant::now() + timeout);
            }
        }
    }
}

/// For the watchdog, which notices when the client closes the output.
impl AsFd for Outbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.output.as_fd()
    }
}

/// All requests share the single output stream.
impl Reply for Outbox {
    fn answer(&self, message: Vec<u8>) {
        self.push(message, &[Takes::Everything, Takes::Answers]);
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.push(message, &[Takes::Everything, Takes::Answers]);
    }

    fn end(&self) {}

    fn is_shared(&self) -> bool {
        true
    }
}

impl Stream for Outbox {
    fn notify(&self, message: Vec<u8>) {
        self.push(message, &[Takes::Everything]);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.push(message, &[Takes::Everything])
    }

    fn flush(&self) {
        let mut queue = self.shared.queue.lock();
        if queue.writer != Writer::Nobody || queue.is_empty() || queue.is_dead {
            return;
        }
        queue.writer = Writer::Flusher;
        loop {
            let Some(mut bytes) = queue.take_few(LARGE) else {
                self.hand_over(&mut queue);
                return;
            };
            drop(queue);
            let wrote = self.shared.write_now(&bytes);
            queue = self.shared.queue.lock();
            match wrote {
                Wrote::All => {
                    queue.wrote(bytes.len());
                    self.shared.relieve(&queue);
                    if queue.is_empty() {
                        bytes.clear();
                        queue.recycle(bytes);
                        queue.writer = Writer::Nobody;
                        return;
                    }
                }
                Wrote::Part(count) => {
                    queue.wrote(count);
                    bytes.drain(..count);
                    queue.put_back(bytes);
                    self.hand_over(&mut queue);
                    return;
                }
                Wrote::Dead => {
                    queue.die();
                    self.shared.relieve(&queue);
                    return;
                }
            }
        }
    }

    fn is_clogged(&self) -> bool {
        self.shared.is_clogged.load(Ordering::Acquire)
    }

    fn takes_notifications(&self) -> bool {
        self.shared.queue.lock().takes == Takes::Everything
    }
}

impl Outbox {
    /// Queues a message if the queue accepts one of `takes`. Returns whether it does.
    fn push(&self, message: Vec<u8>, takes: &[Takes]) -> bool {
        let mut queue = self.shared.queue.lock();
        if !takes.contains(&queue.takes) {
            return false;
        }
        queue.push(message);
        if queue.unsent() > self.shared.limit && !self.shared.is_clogged.load(Ordering::Relaxed) {
            queue.last_taken = Instant::now();
            self.shared.is_clogged.store(true, Ordering::Release);
        }
        true
    }

    /// Hands the queue over to the writer thread, and starts the thread on first use.
    fn hand_over(&self, queue: &mut Queue) {
        queue.writer = Writer::Thread;
        if queue.has_thread {
            self.shared.stalled.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("writer".into()).stack_size(64 * 1024);
        if thread.spawn(move || shared.run_writer()).is_ok() {
            queue.has_thread = true;
        } else {
            queue.writer = Writer::Nobody;
            self.shared.lacks_thread.notify_one();
        }
    }
}

impl Shared {
    /// Writes what the pipe takes without blocking: a pipe that reports room takes at least `PIPE_BUF` bytes.
    fn write_now(&self, bytes: &[u8]) -> Wrote {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut done = 0;
        while done < bytes.len() {
            let piece = &bytes[done..bytes.len().min(done + PIPE_BUF)];
            match self.wait_writable(Some(&at_once)) {
                Ok(true) => {}
                Ok(false) => return Wrote::Part(done),
                Err(_) => return Wrote::Dead,
            }
            match rustix::io::write(&self.output, piece) {
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Wrote::Part(done),
                Err(error) => {
                    self.note_failure(error);
                    return Wrote::Dead;
                }
            }
        }
        Wrote::All
    }

    /// Records a failed write, unless the client has closed the output.
    fn note_failure(&self, error: Errno) {
        if error != Errno::PIPE {
            self.fail(error.into());
        }
    }

    fn fail(&self, error: io::Error) {
        let _ = self.failure.set(error);
        self.has_failed.notify_one();
    }

    fn wait_writable(&self, timeout: Option<&Timespec>) -> Result<bool, Errno> {
        let mut output = [PollFd::new(&self.output, PollFlags::OUT)];
        match poll(&mut output, timeout) {
            Ok(0) | Err(Errno::INTR) => Ok(false),
            Ok(_) if output[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL) => Err(Errno::PIPE),
            Ok(_) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Body of the writer thread. After a panic it is unknown how much of a message was written, so nothing can follow.
    fn run_writer(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.write_queued())).is_err() {
            self.fail(io::Error::other("the thread that writes to standard output panicked"));
            let mut queue = self.queue.lock();
            queue.die();
            self.relieve(&queue);
        }
    }

    fn write_queued(&self) {
        panic_on_purpose("writer");
        let mut queue = self.queue.lock();
        loop {
            while queue.writer != Writer::Thread {
                self.stalled.wait(&mut queue);
            }
            let Some(bytes) = queue.take_first() else {
                queue.writer = Writer::Nobody;
                self.relieve(&queue);
                continue;
            };
            drop(queue);
            if bytes.len() > LARGE {
                make_roomy(&self.output);
            }
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                // This thread may block, so it does not poll the pipe first.
                match rustix::io::write(&self.output, &rest[..rest.len().min(LARGE)]) {
                    Ok(count) => {
                        rest = &rest[count..];
                        let mut queue = self.queue.lock();
                        queue.wrote(count);
                        queue.last_taken = Instant::now();
                        self.relieve(&queue);
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => drop(self.wait_writable(None)),
                    Err(error) => {
                        self.note_failure(error);
                        let mut queue = self.queue.lock();
                        queue.die();
                        return self.relieve(&queue);
                    }
                }
            }
            // Freed before the next piece is taken.
            drop(bytes);
            queue = self.queue.lock();
        }
    }

    /// Signals that the queue became shorter, and ends backpressure when half of the limit is free.
    fn relieve(&self, queue: &Queue) {
        if self.is_finishing.load(Ordering::Relaxed) {
            self.relieved.notify_all();
        }
        if self.is_clogged.load(Ordering::Relaxed) && queue.unsent() <= self.limit / 2 {
            self.is_clogged.store(false, Ordering::Release);
            self.has_room.notify_one();
            self.has_relief.notify_one();
        }
    }
}
