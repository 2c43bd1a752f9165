//! Head start: makes in advance what the first call of a process needs, for a command that makes one call and has other
//! things to do until then.

use crate::cgroup;

/// Makes a control group, on a thread of its own because it waits for a process. The first call waits for it if it has
/// begun, and makes its own otherwise.
pub fn prepare_first_call() {
    // Without a spare thread the call does it itself.
    let _ = std::thread::Builder::new().name("head start".into()).spawn(cgroup::prepare);
}
