//! Own threads: blocking work outside the threads of the runtime. Idle threads are kept for a while and reused.
//! (Tokio's blocking pool panics if no thread can be started.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::oneshot;

/// Only pages that are used take memory.
const STACK: usize = 1024 * 1024;

/// How long an idle thread is kept.
const KEPT: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The idle threads, by number.
static IDLE: Mutex<Vec<(u64, Sender<Job>)>> = Mutex::new(Vec::new());

/// The number of the next thread.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Runs `work` on another thread, and returns its result, or `None` if it panics. If no thread can be started, `work`
/// runs on this one, and blocks it.
pub async fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (give, result) = oneshot::channel();
    let job = move || {
        let _ = give.send(work());
    };
    if let Err(job) = hand_over(Box::new(job)) {
        run(job);
    }
    result.await.ok()
}

/// Sends the job to an idle thread or to a new one. Returns it if no thread can be started.
fn hand_over(job: Job) -> Result<(), Job> {
    // The lock is not held while the job is sent.
    let idle = idle().pop();
    if let Some((_, thread)) = idle {
        return thread.send(job).map_err(|unsent| unsent.0);
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (sender, jobs) = channel();
    let own = sender.clone();
    let thread = Builder::new().name("blocking-work".into()).stack_size(STACK);
    // If it cannot be started, nothing receives the job.
    drop(thread.spawn(move || serve(number, &own, &jobs)));
    sender.send(job).map_err(|unsent| unsent.0)
}

fn serve(number: u64, own: &Sender<Job>, jobs: &Receiver<Job>) {
    loop {
        let job = jobs.recv_timeout(KEPT).ok().or_else(|| {
            let mut idle = idle();
            if let Some(place) = idle.iter().position(|(known, _)| *known == number) {
                idle.swap_remove(place);
                return None;
            }
            drop(idle);
            // It was just taken from the list: its job is about to arrive.
            jobs.recv().ok()
        });
        let Some(job) = job else { return };
        run(job);
        idle().push((number, own.clone()));
    }
}

/// A panic costs the result of its job alone, which is dropped.
fn run(job: Job) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}

fn idle() -> MutexGuard<'static, Vec<(u64, Sender<Job>)>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_elsewhere_and_a_panic_costs_its_result_alone() {
        let here = std::thread::current().id();
        let there = on_own_thread(|| std::thread::current().id()).await;
        assert!(there.is_some_and(|there| there != here));
        assert_eq!(on_own_thread(|| -> u8 { panic!("on purpose") }).await, None);
        assert_eq!(on_own_thread(|| 7).await, Some(7));
    }

    #[tokio::test]
    async fn much_work_at_once_is_all_done_and_its_threads_are_used_again() {
        for round in 0..20 {
            let work = (0..50_u32).map(|number| tokio::spawn(on_own_thread(move || number + round)));
            let work: Vec<_> = work.collect();
            for (number, done) in (0..).zip(work) {
                assert_eq!(done.await.unwrap(), Some(number + round));
            }
        }
        assert!(idle().len() < 20 * 50, "no thread was used again");
    }
}
