//! Head start: prepares the first call of a process, for a command that makes one call and has other work to do before
//! it.

use crate::cgroup;

/// Creates a control group on a thread of its own, because its test waits for a process. A first call that arrives
/// meanwhile waits for it; one that arrived before has made its own.
pub fn prepare_first_call() {
    // If no thread can be started, the call creates the group itself.
    let _ = std::thread::Builder::new().name("head start".into()).spawn(cgroup::prepare);
}
