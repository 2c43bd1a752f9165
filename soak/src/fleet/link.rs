//! Link: the connections between two sides, which can be cut and healed while they are in use.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// The delay of each piece on a slow link.
const DELAY: Duration = Duration::from_millis(200);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Open,
    /// Connections are closed, and new ones are refused.
    Refusing,
    /// Nothing arrives, and nobody is told. It is delivered when the link is open again, as TCP does.
    Silent,
    Slow,
}

#[derive(Debug, Default)]
pub(super) struct Link {
    mode: Mutex<Mode>,
    changed: Condvar,
    sockets: Mutex<Vec<Weak<UnixStream>>>,
}

impl Link {
    pub(super) fn set(&self, mode: Mode) {
        *lock(&self.mode) = mode;
        self.changed.notify_all();
        if mode == Mode::Refusing {
            for socket in lock(&self.sockets).drain(..).filter_map(|socket| socket.upgrade()) {
                close(&socket);
            }
        }
    }

    pub(super) fn refuses(&self) -> bool {
        *lock(&self.mode) == Mode::Refusing
    }

    /// Passes bytes in both directions until one side closes.
    pub(super) fn join(self: &Arc<Self>, near: UnixStream, far: UnixStream) {
        let (near, far) = (Arc::new(near), Arc::new(far));
        let mut sockets = lock(&self.sockets);
        sockets.retain(|socket| socket.strong_count() > 0);
        sockets.extend([Arc::downgrade(&near), Arc::downgrade(&far)]);
        drop(sockets);
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (link, from, to) = (Arc::clone(self), Arc::clone(from), Arc::clone(to));
            thread::spawn(move || link.pass(&from, &to));
        }
    }

    fn pass(&self, mut from: &UnixStream, mut to: &UnixStream) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if !self.lets_through() || to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // A side that closes is only gone when the link lets that through.
        self.lets_through();
        close(from);
        close(to);
    }

    /// Holds a piece back for as long as the mode says. False if it is lost.
    fn lets_through(&self) -> bool {
        let mut mode = lock(&self.mode);
        while *mode == Mode::Silent {
            mode = self.changed.wait(mode).unwrap_or_else(PoisonError::into_inner);
        }
        let mode = *mode;
        if mode == Mode::Slow {
            thread::sleep(DELAY);
        }
        mode != Mode::Refusing
    }
}

/// Calls of a `UnixStream` work with any socket, so links need no other type.
pub(super) fn as_socket(stream: TcpStream) -> UnixStream {
    // Small messages go both ways.
    let _ = stream.set_nodelay(true);
    UnixStream::from(OwnedFd::from(stream))
}

fn close(socket: &UnixStream) {
    let _ = socket.shutdown(Shutdown::Both);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link between two sockets, with the free end of each.
    fn linked() -> (Arc<Link>, UnixStream, UnixStream) {
        let link = Arc::<Link>::default();
        let ((mine, near), (far, theirs)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        link.join(near, far);
        (link, mine, theirs)
    }

    #[test]
    fn a_silent_link_delivers_when_it_is_open_again() {
        let (link, mut mine, mut theirs) = linked();
        link.set(Mode::Silent);
        mine.write_all(b"late").unwrap();
        theirs.set_nonblocking(true).unwrap();
        assert!(theirs.read(&mut [0]).is_err(), "nothing arrives");
        theirs.set_nonblocking(false).unwrap();
        link.set(Mode::Open);
        let mut arrived = [0; 4];
        theirs.read_exact(&mut arrived).unwrap();
        assert_eq!(&arrived, b"late");
    }

    #[test]
    fn a_refusing_link_closes_both_sides() {
        let (link, mut mine, mut theirs) = linked();
        link.set(Mode::Refusing);
        assert!(link.refuses());
        for side in [&mut mine, &mut theirs] {
            assert_eq!(side.read(&mut [0]).unwrap(), 0);
        }
    }
}
