//! Supervisor: the thread that receives reported calls, notes what they name, and lets them continue.

use super::HiddenHome;
use super::notification::Notification;
use super::process::WatchedProcess;
use super::resolve::{Unread, attempt};
use crate::attempts::Attempts;
use crate::seccomp::watched::named_by;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

pub(super) struct Supervisor {
    /// Receives the listeners. `None` after the last one.
    socket: Option<OwnedFd>,
    /// One for each process that was started under the watch.
    listeners: Vec<Listener>,
    home: Option<HiddenHome>,
    attempts: Arc<Mutex<Attempts>>,
}

struct Listener {
    descriptor: OwnedFd,
    /// Whether the child has not run its program yet: its first call does that.
    is_before_program: bool,
}

impl Supervisor {
    pub(super) fn new(socket: OwnedFd, home: Option<HiddenHome>, attempts: Arc<Mutex<Attempts>>) -> Self {
        Self { socket: Some(socket), listeners: Vec::new(), home, attempts }
    }

    pub(super) fn start(mut self) -> io::Result<()> {
        let watch = move || while self.waits_for_next() {};
        std::thread::Builder::new().name("access-trace".into()).spawn(watch).map(drop)
    }

    /// Waits, and does what there is to do. False if nothing can come any more.
    fn waits_for_next(&mut self) -> bool {
        let waiting = self.listeners.iter().map(|listener| &listener.descriptor).chain(&self.socket);
        let mut waiting: Vec<PollFd<'_>> =
            waiting.map(|descriptor| PollFd::new(descriptor, PollFlags::IN)).collect();
        if waiting.is_empty() {
            return false;
        }
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
        let events: Vec<PollFlags> = waiting.iter().map(PollFd::revents).collect();
        let (of_listeners, of_socket) = events.split_at(self.listeners.len());
        let mut ended = Vec::new();
        for (index, events) in of_listeners.iter().enumerate() {
            if events.contains(PollFlags::IN) {
                let listener = &mut self.listeners[index];
                let is_before_program = std::mem::take(&mut listener.is_before_program);
                if self.supervise(self.listeners[index].descriptor.as_fd(), is_before_program).is_err() {
                    // Closed, it fails the calls that it would report, so that no process waits for ever.
                    ended.push(index);
                }
            } else if !events.is_empty() {
                ended.push(index);
            }
        }
        for index in ended.into_iter().rev() {
            self.listeners.remove(index);
        }
        if of_socket.first().is_some_and(|events| !events.is_empty())
            && let Some(socket) = &self.socket
        {
            match received(socket.as_fd()) {
                Some(descriptor) => self.listeners.push(Listener { descriptor, is_before_program: true }),
                None => self.socket = None,
            }
        }
        true
    }

    /// Receives one call, and lets it continue. Fails if the kernel does not let calls continue.
    fn supervise(&self, listener: BorrowedFd<'_>, is_before_program: bool) -> rustix::io::Result<()> {
        // Its process may have been killed meanwhile.
        let Ok(call) = Notification::receive(listener) else { return Ok(()) };
        let process = WatchedProcess::of(call.thread);
        for named in named_by(call.number) {
            let found = match &process {
                Some(process) => attempt(process, *named, &call.arguments, self.home.as_ref()),
                None => Err(Unread),
            };
            // Another process may have the number of one that was killed.
            if !call.is_valid(listener) {
                return Ok(());
            }
            let mut attempts = self.attempts.lock();
            match found {
                Ok(Some(attempt)) => attempts.add(attempt),
                Ok(None) => {}
                // The child still shares the memory of the server, which no one may read. It runs the script itself.
                Err(Unread) if is_before_program => {}
                Err(Unread) => attempts.unread += 1,
            }
        }
        call.resume(listener)
    }
}

/// The next listener. `None` if no more can come.
fn received(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut text = [0; 16];
    rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })
    .ok()?;
    control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    })
}
