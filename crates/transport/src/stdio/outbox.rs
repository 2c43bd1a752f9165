//! What goes out: one queue, one writer at a time, nobody who waits.

use mcp_bash_server::Channel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The queue to standard output. Whoever flushes writes what the pipe takes at once; the rest is written by a thread
/// that is started the first time it is needed.
pub(super) struct Outbox {
    shared: Arc<Shared>,
}

struct Shared {
    output: OwnedFd,
    queue: Mutex<Queue>,
    /// Something is left for the writer thread.
    stalled: Condvar,
    /// The queue became shorter, or nobody writes any more.
    relieved: Condvar,
    /// Somebody waits for that.
    is_finishing: AtomicBool,
    /// The same, for those who must not block.
    has_room: Notify,
    /// How much may be queued before we stop reading.
    limit: usize,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// What a flush could not write, for the writer thread.
    left_over: Vec<u8>,
    /// How much the writer thread has taken and not written yet.
    in_hand: usize,
    /// Somebody is writing, and will take what is queued meanwhile.
    writing: bool,
    has_thread: bool,
    /// The client has closed its end.
    dead: bool,
}

/// More than a pipe usually holds. So much is left to the writer thread, and not copied on its way there.
const LARGE: usize = 64 * 1024;

#[cfg(target_os = "linux")]
/// What a pipe may hold where we have a lot to say, as far as systems usually allow.
const ROOMY: usize = 1024 * 1024;

enum Wrote {
    All,
    /// Up to this byte; the pipe is full.
    Part(usize),
    /// Nobody will ever read it.
    Dead,
}

impl Outbox {
    pub(super) fn new(output: OwnedFd, limit: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                output,
                queue: Mutex::default(),
                stalled: Condvar::new(),
                relieved: Condvar::new(),
                is_finishing: AtomicBool::new(false),
                has_room: Notify::new(),
                limit,
            }),
        }
    }

    pub(super) fn output(&self) -> &OwnedFd {
        &self.shared.output
    }

    /// Flushes, and waits while more is queued than the limit allows.
    pub(super) async fn room(&self) {
        self.flush();
        while self.is_full() {
            self.shared.has_room.notified().await;
        }
    }

    fn is_full(&self) -> bool {
        let queue = self.shared.lock();
        queue.unsent() > self.shared.limit && !queue.dead
    }

    /// Waits until all is written, as long as the client takes something every `patience`.
    pub(super) fn finish(&self, patience: Duration) {
        self.flush();
        let mut queue = self.shared.lock();
        self.shared.is_finishing.store(true, Ordering::Relaxed);
        let (mut unsent, mut deadline) = (queue.unsent(), Instant::now() + patience);
        while queue.writing && !queue.dead {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.shared.relieved.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
            if queue.unsent() < unsent {
                (unsent, deadline) = (queue.unsent(), Instant::now() + patience);
            }
        }
    }
}

impl Channel for Outbox {
    fn push(&self, mut message: Vec<u8>) {
        let mut queue = self.shared.lock();
        if queue.dead {
            return;
        }
        message.push(b'\n');
        if queue.bytes.is_empty() && message.len() > LARGE {
            queue.bytes = message;
        } else {
            queue.bytes.extend_from_slice(&message);
        }
    }

    fn flush(&self) {
        let mut queue = self.shared.lock();
        if queue.writing || queue.bytes.is_empty() || queue.dead {
            return;
        }
        queue.writing = true;
        loop {
            let mut bytes = std::mem::take(&mut queue.bytes);
            if bytes.len() > LARGE {
                queue.left_over = bytes;
                self.hand_over(&mut queue);
                return;
            }
            drop(queue);
            let wrote = self.shared.write_now(&bytes);
            queue = self.shared.lock();
            match wrote {
                Wrote::All if queue.bytes.is_empty() => {
                    bytes.clear();
                    queue.recycle(bytes);
                    queue.writing = false;
                    break;
                }
                Wrote::All => {}
                Wrote::Part(count) => {
                    bytes.drain(..count);
                    queue.left_over = bytes;
                    self.hand_over(&mut queue);
                    return;
                }
                Wrote::Dead => {
                    queue.die();
                    break;
                }
            }
        }
        self.shared.relieve();
    }

    fn is_clogged(&self) -> bool {
        self.shared.lock().unsent() > self.shared.limit
    }
}

impl Outbox {
    /// Leaves the rest to the writer thread, which goes on as the one who writes.
    fn hand_over(&self, queue: &mut Queue) {
        if queue.has_thread {
            self.shared.stalled.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("writer".into()).stack_size(64 * 1024);
        if thread.spawn(move || shared.write_left_overs()).is_ok() {
            queue.has_thread = true;
        } else {
            queue.die();
        }
    }
}

impl Shared {
    /// Writes what the pipe takes without blocking: after it reports room it takes at least `PIPE_BUF` bytes.
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
                Err(_) => return Wrote::Dead,
            }
        }
        Wrote::All
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

    /// The life of the writer thread.
    fn write_left_overs(&self) {
        let mut queue = self.lock();
        loop {
            while queue.left_over.is_empty() {
                queue = self.stalled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let bytes = std::mem::take(&mut queue.left_over);
            queue.in_hand = bytes.len();
            drop(queue);
            if bytes.len() > LARGE {
                // Fewer turns for the two of us. Where it is not allowed, it takes more of them.
                #[cfg(target_os = "linux")]
                let _ = rustix::pipe::fcntl_setpipe_size(&self.output, ROOMY);
            }
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                // This thread may block, so the pipe need not be asked first.
                match rustix::io::write(&self.output, &rest[..rest.len().min(LARGE)]) {
                    Ok(count) => {
                        rest = &rest[count..];
                        self.lock().in_hand = rest.len();
                        self.relieve();
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => drop(self.wait_writable(None)),
                    Err(_) => {
                        self.lock().die();
                        self.relieve();
                        return;
                    }
                }
            }
            queue = self.lock();
            queue.left_over = std::mem::take(&mut queue.bytes);
            queue.in_hand = 0;
            queue.writing = !queue.left_over.is_empty();
            self.relieve();
        }
    }

    fn relieve(&self) {
        if self.is_finishing.load(Ordering::Relaxed) {
            self.relieved.notify_all();
        }
        self.has_room.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn unsent(&self) -> usize {
        self.bytes.len() + self.left_over.len() + self.in_hand
    }

    fn die(&mut self) {
        self.dead = true;
        self.bytes = Vec::new();
        self.left_over = Vec::new();
        self.in_hand = 0;
    }

    /// Keeps a buffer for the next messages, unless it has grown out of proportion.
    fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= 256 * 1024 {
            self.bytes = buffer;
        }
    }
}
