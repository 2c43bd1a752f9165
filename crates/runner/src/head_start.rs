//! What the first call of a process needs, made before it comes: for a command that makes one call, and has other things to do
//! until then.

use crate::{cgroup, warden};

/// Starts the warden and makes a control group, each in a thread of its own: both wait for processes. The first call waits
/// for what is not ready by then.
pub fn prepare_first_call() {
    in_a_thread(|| {
        in_a_thread(warden::ensure_running);
        cgroup::prepare();
    });
}

/// Without a thread to spare the call does it itself.
fn in_a_thread(work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new().name("head start".into()).spawn(work);
}
