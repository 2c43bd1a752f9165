//! Commits: lines are made durable (`fdatasync`) before their answers are sent. Answers that wait at the same time share
//! one system call. The thread that does it starts with the first of them.

use parking_lot::{Condvar, Mutex};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread::Builder;

/// Sends an answer, if its line is durable, or does something else, if not.
pub(crate) type Then = Box<dyn FnOnce(io::Result<()>) + Send>;

#[derive(Default)]
pub(crate) struct Commits(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<CommitState>,
    changed: Condvar,
}

#[derive(Default)]
struct CommitState {
    waiting: Vec<(Arc<File>, Then)>,
    has_thread: bool,
    is_busy: bool,
    is_ended: bool,
}

impl Commits {
    /// Makes what was written to `file` so far durable, then calls `then`, on another thread.
    pub(crate) fn commit(&self, file: Arc<File>, then: Then) {
        let mut state = self.0.state.lock();
        if !state.has_thread {
            let shared = Arc::clone(&self.0);
            // If the system has no thread to give, it is done here.
            if Builder::new().name("audit".into()).spawn(move || shared.run()).is_err() {
                drop(state);
                return then(file.sync_data());
            }
            state.has_thread = true;
        }
        state.waiting.push((file, then));
        self.0.changed.notify_all();
    }

    /// Waits until nothing waits any more.
    pub(crate) fn flush(&self) {
        let mut state = self.0.state.lock();
        while !state.waiting.is_empty() || state.is_busy {
            self.0.changed.wait(&mut state);
        }
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        self.0.state.lock().is_ended = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            let waiting = std::mem::take(&mut state.waiting);
            if waiting.is_empty() {
                if state.is_ended {
                    return;
                }
                self.changed.wait(&mut state);
                continue;
            }
            state.is_busy = true;
            drop(state);
            let idle = Idle(self);
            commit_all(waiting);
            drop(idle);
            state = self.state.lock();
        }
    }
}

/// The thread is busy as long as this value lives, also if an answer panics.
struct Idle<'a>(&'a Shared);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_busy = false;
        if std::thread::panicking() {
            // The next commit starts another thread.
            state.has_thread = false;
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

/// Makes each file durable once.
fn commit_all(waiting: Vec<(Arc<File>, Then)>) {
    let mut last: Option<(Arc<File>, io::Result<()>)> = None;
    for (file, then) in waiting {
        let is_done = last.as_ref().is_some_and(|(done, _)| Arc::ptr_eq(done, &file));
        if !is_done {
            let synced = file.sync_data();
            last = Some((file, synced));
        }
        let outcome = match &last {
            Some((_, Err(error))) => Err(io::Error::new(error.kind(), error.to_string())),
            _ => Ok(()),
        };
        then(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_that_wait_go_on_before_a_flush_returns() {
        let (commits, done) = (Commits::default(), Arc::new(AtomicUsize::new(0)));
        let file = Arc::new(tempfile::tempfile().unwrap());
        for _ in 0..100 {
            let done = Arc::clone(&done);
            let count = move |synced: io::Result<()>| {
                assert!(synced.is_ok());
                done.fetch_add(1, Ordering::Relaxed);
            };
            commits.commit(Arc::clone(&file), Box::new(count));
        }
        commits.flush();
        assert_eq!(done.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn what_cannot_be_made_durable_is_an_error() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (_reader, writer) = rustix::pipe::pipe().unwrap();
        let commits = Commits::default();
        commits
            .commit(Arc::new(writer.into()), Box::new(move |synced| sender.send(synced.is_err()).unwrap()));
        assert!(receiver.recv().unwrap());
    }
}
