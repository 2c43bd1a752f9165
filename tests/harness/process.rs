//! Looking at the process table.

use std::path::Path;
use std::time::{Duration, Instant};

/// Whether a process is there and not only waiting to be reaped.
pub(crate) fn exists(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    Path::new(&format!("/proc/{pid}")).exists() && state.is_some_and(|state| state != 'Z')
}

pub(crate) fn wait_until_gone(pid: u32) {
    wait_until(&format!("process {pid} to go"), || (!exists(pid)).then_some(()));
}

/// Looks again and again until `look` finds something. Fails the test after ten seconds.
pub(crate) fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
