//! Thread placement: where work is done. While there is little, on the thread that reads: it starts a process and sees
//! it end without waking another. More than that is done by threads of their own, so that the one that reads stays free
//! to answer. There are more of them than processors, because whoever starts a process stands still until it runs its
//! program, which it does when it gets a processor.

use std::sync::OnceLock;
use std::sync::mpsc::channel;
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
    /// Made when it is first needed, if the system lets us.
    others: OnceLock<Option<Runtime>>,
}

impl Workplaces {
    pub(crate) fn new(reading: Handle) -> Self {
        Self { reading, others: OnceLock::new() }
    }

    /// The place for new work, of which there is so much then.
    pub(crate) fn for_one_of(&self, count: usize, weight: Weight) -> &Handle {
        if count <= LITTLE || weight == Weight::Light {
            return &self.reading;
        }
        let others = self.others.get_or_init(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = (THREADS * processors).clamp(4, 32);
            system_gives(threads)
                .then(|| Builder::new_multi_thread().worker_threads(threads).enable_all().build().ok())
                .flatten()
        });
        others.as_ref().map_or(&self.reading, Runtime::handle)
    }
}

/// Whether so many threads can be had, all at once. The runtime takes it for granted, and panics where it is not so.
fn system_gives(threads: usize) -> bool {
    let start = |_| {
        let (keep, wait) = channel::<()>();
        let thread = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || wait.recv());
        thread.ok().map(|thread| (keep, thread))
    };
    let started: Vec<_> = (0..threads).map_while(start).collect();
    let are_all_there = started.len() == threads;
    for (keep, thread) in started {
        drop(keep);
        let _ = thread.join();
    }
    are_all_there
}

impl Drop for Workplaces {
    fn drop(&mut self) {
        // Whoever drops this may be at work itself, and cannot wait for others.
        if let Some(others) = self.others.take().flatten() {
            others.shutdown_background();
        }
    }
}
