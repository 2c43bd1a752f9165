//! A kqueue that reports the end of one process.

#![expect(unsafe_code, reason = "no safe interface adds an event to a kqueue")]

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::io::{self, FdFlags, fcntl_setfd};
use rustix::process::Pid;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use std::time::Duration;

/// Is readable once the process ends, and stays so. `SRCH` if it has ended.
pub(super) fn of_exit(child: Pid) -> io::Result<OwnedFd> {
    let kqueue = kqueue()?;
    fcntl_setfd(&kqueue, FdFlags::CLOEXEC)?;
    let exit = EventFilter::Proc { pid: child, flags: ProcessEvents::EXIT };
    let event = Event::new(exit, EventFlags::ADD, null_mut());
    // SAFETY: The event names no descriptor that could be closed while the kqueue watches it.
    unsafe { kevent(&kqueue, &[event], &mut [] as &mut [Event; 0], Some(Duration::ZERO))? };
    Ok(kqueue)
}
