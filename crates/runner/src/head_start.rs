//! What the first call of a process needs, made before it comes: for a command that makes one call, and has other things to do
//! until then.

use crate::{cgroup, warden};

/// Starts the warden and makes a control group in a thread of its own. The first call waits for what is not ready by then.
pub fn prepare_first_call() {
    // Without a thread to spare the call does it itself.
    let _ = std::thread::Builder::new().name("head start".into()).spawn(|| {
        warden::ensure_running();
        cgroup::prepare();
    });
}
