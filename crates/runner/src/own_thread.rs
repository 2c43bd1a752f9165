//! Blocking work: runs it on a thread of its own, so that it does not block a thread of the runtime. (Tokio panics when
//! the system has no thread left.)

use std::sync::mpsc::channel;
use std::thread::Builder;
use tokio::sync::oneshot;

/// Only the part that is used takes memory.
const STACK: usize = 1024 * 1024;

/// Runs `work` on a thread of its own, and returns its result; `None` if it panics. If the system has no thread left,
/// the work runs on this one: it has to be done.
pub async fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (give_work, take_work) = channel();
    let (give_result, result) = oneshot::channel();
    let thread = Builder::new().name("blocking-work".into()).stack_size(STACK).spawn(move || {
        if let Ok(work) = take_work.recv() {
            let work: Box<dyn FnOnce() -> T + Send> = work;
            let _ = give_result.send(work());
        }
    });
    drop(thread);
    match give_work.send(Box::new(work)) {
        Ok(()) => result.await.ok(),
        // The thread could not be started.
        Err(unsent) => Some((unsent.0)()),
    }
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
    }
}
