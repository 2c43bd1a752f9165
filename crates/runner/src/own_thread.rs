//! Runs blocking work on a thread of its own, so that it does not block a thread of the runtime.

use std::thread::Builder;
use tokio::sync::oneshot;

/// Enough for a few calls into the kernel.
const STACK: usize = 256 * 1024;

/// Does `work` with `value` on a thread of its own, and returns its result. Where the system has no thread
/// left, the work is done on this one: it has to be done.
pub(crate) async fn run<V: Send + 'static, T: Send + 'static>(value: V, work: fn(V) -> T) -> T {
    let (give_value, take_value) = std::sync::mpsc::channel();
    let (give_result, result) = oneshot::channel();
    let thread = Builder::new().name("blocking-work".into()).stack_size(STACK).spawn(move || {
        if let Ok(value) = take_value.recv() {
            let _ = give_result.send(work(value));
        }
    });
    drop(thread);
    match give_value.send(value) {
        Ok(()) => result.await.expect("the work does not panic"),
        // The thread could not be started.
        Err(unsent) => work(unsent.0),
    }
}
