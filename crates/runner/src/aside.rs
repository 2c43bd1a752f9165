//! Work that blocks, done where it does not keep a thread of the runtime from its own.

use std::thread::Builder;
use tokio::sync::oneshot;

/// Enough for a few calls into the kernel.
const STACK: usize = 256 * 1024;

/// Does `work` with `value` on a thread of its own, and returns what came of it. Where the system gives us no thread, it
/// is done here and now: late is better than never.
pub(crate) async fn run<V: Send + 'static, T: Send + 'static>(value: V, work: fn(V) -> T) -> T {
    let (give_value, take_value) = std::sync::mpsc::channel();
    let (give_result, result) = oneshot::channel();
    let thread = Builder::new().name("aside".into()).stack_size(STACK).spawn(move || {
        if let Ok(value) = take_value.recv() {
            let _ = give_result.send(work(value));
        }
    });
    drop(thread);
    match give_value.send(value) {
        Ok(()) => result.await.expect("what is done aside does not panic"),
        // There is no thread that would take it.
        Err(unsent) => work(unsent.0),
    }
}
