//! Watchdog: terminates a server that has stopped answering, so that no driver hangs on one.
//!
//! A timeout on every read would cost the driver a system call per message. Instead one thread checks all running
//! servers once a second and kills those past their deadline; the blocked read then ends by itself.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

static WATCHED: LazyLock<Mutex<HashMap<Pid, Instant>>> = LazyLock::new(|| {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            kill_overdue();
        }
    });
    Mutex::new(HashMap::new())
});

/// A process that is watched until this is dropped.
///
/// It must be dropped before the process is reaped, because the id may belong to another process afterwards.
#[derive(Debug)]
pub(crate) struct Watch(Pid);

impl Watch {
    pub(crate) fn start(pid: Pid, patience: Duration) -> Self {
        let watch = Self(pid);
        watch.renew(patience);
        watch
    }

    /// Sets a new deadline, counted from now.
    pub(crate) fn renew(&self, patience: Duration) {
        watched().insert(self.0, Instant::now() + patience);
    }

    pub(crate) fn is_overdue(&self) -> bool {
        watched().get(&self.0).is_some_and(|&deadline| deadline < Instant::now())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        watched().remove(&self.0);
    }
}

fn watched() -> MutexGuard<'static, HashMap<Pid, Instant>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill_overdue() {
    let now = Instant::now();
    for (&pid, _) in watched().iter().filter(|&(_, &deadline)| deadline < now) {
        // This fails only if the process has already exited, which is the goal.
        let _ = kill_process(pid, Signal::KILL);
    }
}
