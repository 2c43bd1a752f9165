//! Thread placement: selects the threads for work. A little work runs on the thread that read its request, which starts a
//! process and sees it exit without waking another thread. More work runs on separate threads, so that the reading thread stays
//! free to answer. There are more of these threads than processors, because a thread that starts a process blocks until the
//! process runs its program, which needs a processor.

use super::free_threads::threads_are_free;
use parking_lot::Mutex;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};

/// The most work that runs on the reading thread. Work that has just been answered counts until it is dropped.
const LITTLE: usize = 2;

/// The number of threads per processor.
const THREADS: usize = 2;

/// How much a thread has to do for some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Passes a message to a worker and waits for the answer. Best run on the thread that reads the answer.
    Light,
    /// May start a process.
    Heavy,
}

pub(crate) struct Workplaces {
    /// Reads the output of workers, and runs background work.
    home: Handle,
    /// Created on first use, if the system has enough threads.
    others: OnceLock<Runtime>,
    is_being_made: Mutex<()>,
}

impl Workplaces {
    pub(crate) fn new(home: Handle) -> Self {
        Self { home, others: OnceLock::new(), is_being_made: Mutex::default() }
    }

    /// The runtime for new work, given how much work runs.
    pub(crate) fn for_one_of(&self, count: usize, weight: Weight) -> Handle {
        if weight == Weight::Light {
            return self.home.clone();
        }
        let others = (count > LITTLE).then(|| self.others()).flatten();
        let here = || Handle::try_current().unwrap_or_else(|_| self.home.clone());
        others.map_or_else(here, |others| others.handle().clone())
    }

    /// The separate threads. `None` while the system has no threads: the next call tries again.
    fn others(&self) -> Option<&Runtime> {
        if self.others.get().is_none() {
            let _making = self.is_being_made.try_lock()?;
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = (THREADS * processors).clamp(4, 32);
            if self.others.get().is_none() && threads_are_free(threads).is_ok() {
                let others = Builder::new_multi_thread().worker_threads(threads).enable_all().build().ok()?;
                let _ = self.others.set(others);
            }
        }
        self.others.get()
    }
}

impl Drop for Workplaces {
    fn drop(&mut self) {
        // The thread that drops this may be one of them, and cannot wait for the others.
        if let Some(others) = self.others.take() {
            others.shutdown_background();
        }
    }
}
