//! Starts processes that are marked from their first moment on.
//!
//! A process that is marked only when it runs may have started others before. So this process wears the mark of the
//! call itself while it starts the leader, which has it from there. It can wear but one at a time, and therefore has
//! but one child at a time: until the child is born, which takes the kernel some microseconds, and not until it runs
//! its program, which can take as long as it likes.

use super::proc;
use crate::mark::{Number, OURS};
use rustix::process::Pid;
use rustix::thread::gettid;
use std::io;
use std::process::Child;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often to look whether the child of another is born.
const INTERVAL: Duration = Duration::from_micros(100);

/// How long to wait for a turn. Without the lists we look at, a start counts until it has succeeded, and a file system
/// that does not answer could make it last for ever.
const PATIENCE: Duration = Duration::from_secs(1);

static TURN: Mutex<Option<Turn>> = Mutex::new(None);
static OVER: Condvar = Condvar::new();

/// Whose mark this process wears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    call: Number,
    /// The thread that starts the leader of the call.
    thread: Pid,
}

/// Starts a process with the mark of its call.
pub(crate) fn start_marked(call: Number, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let turn = Turn { call, thread: gettid() };
    turn.begin();
    let child = start();
    turn.end();
    child
}

impl Turn {
    fn begin(self) {
        let deadline = Instant::now() + PATIENCE;
        let mut current = lock();
        while let Some(other) = *current
            && !other.has_a_child()
            && Instant::now() < deadline
        {
            current = OVER.wait_timeout(current, INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        *current = Some(self);
        OURS.put_on_us(self.call);
    }

    /// Takes the mark off, unless another one is worn by now.
    fn end(self) {
        let mut current = lock();
        if *current == Some(self) {
            *current = None;
            OURS.put_on_us(0);
            OVER.notify_one();
        }
    }

    /// Whether the child is born, and has the mark.
    fn has_a_child(self) -> bool {
        // Children are listed in the order of their birth.
        proc::children_of_our(self.thread).into_iter().rev().any(|child| OURS.is_on(child, self.call))
    }
}

fn lock() -> MutexGuard<'static, Option<Turn>> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
