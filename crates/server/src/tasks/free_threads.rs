//! Thread availability: checks whether the system can start threads. A runtime does not: if it cannot start a thread, it panics
//! or waits for ever.

use std::io;
use std::sync::mpsc::channel;
use std::thread::Builder;

/// Enough for a thread that only waits.
const STACK: usize = 64 * 1024;

/// Starts this many threads at once, and stops them. An error if one could not be started.
pub(crate) fn threads_are_free(count: usize) -> io::Result<()> {
    let start = |_| {
        let (keep, wait) = channel::<()>();
        let thread = Builder::new().stack_size(STACK).spawn(move || wait.recv())?;
        Ok((keep, thread))
    };
    let (mut started, mut missing) = (Vec::new(), Ok(()));
    for thread in (0..count).map(start) {
        match thread {
            Ok(thread) => started.push(thread),
            Err(error) => {
                missing = Err(error);
                break;
            }
        }
    }
    for (keep, thread) in started {
        drop(keep);
        let _ = thread.join();
    }
    missing
}
