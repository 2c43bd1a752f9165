//! Thread placement: where work is done. While there is little, on the thread that reads: it starts a process and sees
//! it end without waking another. More than that is done by threads of their own, so that the one that reads stays free
//! to answer. There are more of them than processors, because whoever starts a process stands still until it runs its
//! program, which it does when it gets a processor.

use super::free_threads::threads_are_free;
use parking_lot::Mutex;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};

/// So little work at once is done on the thread that reads. What has just been answered counts until it has let go.
const LITTLE: usize = 2;

/// How many threads there are for each processor.
const THREADS: usize = 2;

/// How much a thread has to do for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It passes something on to a worker, and waits for the answer. Where that is read, it is best answered too.
    Light,
    /// It may start a process.
    Heavy,
}

pub(crate) struct Workplaces {
    reading: Handle,
    /// Made when it is first needed and the system has the threads for it.
    others: OnceLock<Runtime>,
    is_being_made: Mutex<()>,
}

impl Workplaces {
    pub(crate) fn new(reading: Handle) -> Self {
        Self { reading, others: OnceLock::new(), is_being_made: Mutex::default() }
    }

    /// The place for new work, of which there is so much then.
    pub(crate) fn for_one_of(&self, count: usize, weight: Weight) -> &Handle {
        if count <= LITTLE || weight == Weight::Light {
            return &self.reading;
        }
        self.others().map_or(&self.reading, Runtime::handle)
    }

    /// The threads for more than a little work. None while the system has none: the next work asks again.
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
        // Whoever drops this may be at work itself, and cannot wait for others.
        if let Some(others) = self.others.take() {
            others.shutdown_background();
        }
    }
}
