//! Stack room: a thread with a stack that is deep enough.
//!
//! The validator recurses over the schema and the value at once. A schema that refers to itself, with a value nested as
//! deep as is allowed, needs more stack than the threads of a server have, and an overflow would kill the process. Such
//! a value gets a thread of its own, which is rare enough to make it when it is needed.

use std::thread;

/// The stack of such a thread. Only the used part takes memory.
pub(crate) const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Runs `work` on a thread with room. `None` if the system has no thread to spare.
pub(crate) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let roomy = thread::Builder::new().name("schema".to_owned()).stack_size(STACK_BYTES);
        let running = roomy.spawn_scoped(scope, work).ok()?;
        Some(running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
