//! Connection threads: each has a runtime of its own. A connection stays on one thread, with its requests, the child processes
//! of their calls and its responses, so a call wakes no other thread. (With one multi-threaded runtime, a call moves between
//! threads, and each move wakes another processor.)

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

pub(in crate::http) struct ConnectionThreads {
    threads: Vec<ConnectionThread>,
    /// The threads exit when it is dropped.
    _end: watch::Sender<()>,
}

#[derive(Clone)]
pub(in crate::http) struct ConnectionThread {
    runtime: Handle,
    connections: Arc<AtomicUsize>,
}

impl ConnectionThreads {
    /// Starts the threads. The thread of `first` is one of them. If the system lacks threads, there are fewer.
    pub(in crate::http) fn start(first: Handle, count: usize) -> Self {
        let (end, is_over) = watch::channel(());
        let others = (1..count).map_while(|_| start(is_over.clone()).ok());
        let threads = [first].into_iter().chain(others).map(ConnectionThread::new).collect();
        Self { threads, _end: end }
    }

    /// The thread with the fewest connections.
    pub(in crate::http) fn least_busy(&self) -> &ConnectionThread {
        let connections = |thread: &&ConnectionThread| thread.connections.load(Ordering::Relaxed);
        self.threads
            .iter()
            .min_by_key(connections)
            .unwrap_or_else(|| unreachable!("there is at least one thread"))
    }
}

impl ConnectionThread {
    fn new(runtime: Handle) -> Self {
        Self { runtime, connections: Arc::default() }
    }

    /// Counts a connection until the returned value is dropped.
    pub(in crate::http) fn enter(&self) -> ThreadPlace {
        self.connections.fetch_add(1, Ordering::Relaxed);
        ThreadPlace(Arc::clone(&self.connections))
    }

    pub(in crate::http) fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

/// Counts one connection of its thread until it is dropped.
pub(in crate::http) struct ThreadPlace(Arc<AtomicUsize>);

impl Drop for ThreadPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn start(mut is_over: watch::Receiver<()>) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let run = move || {
        // Completes when the sender is dropped, which sends nothing.
        let _ = runtime.block_on(is_over.changed());
        runtime.shutdown_background();
    };
    thread::Builder::new().name("connections".into()).spawn(run)?;
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::ThreadId;

    async fn thread_of(thread: &ConnectionThread) -> ThreadId {
        thread.runtime().spawn(async { thread::current().id() }).await.unwrap()
    }

    #[tokio::test]
    async fn each_connection_goes_to_the_thread_with_the_fewest() {
        let threads = ConnectionThreads::start(Handle::current(), 3);
        let mut places = Vec::new();
        let mut ids = Vec::new();
        for _ in 0..3 {
            let thread = threads.least_busy();
            places.push(thread.enter());
            ids.push(thread_of(thread).await);
        }
        assert_eq!(ids[0], thread::current().id());
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
        drop(places.remove(1));
        assert_eq!(thread_of(threads.least_busy()).await, ids[1]);
    }

    #[tokio::test]
    async fn a_thread_ends_with_its_owner() {
        let threads = ConnectionThreads::start(Handle::current(), 2);
        let task = threads.threads[1].runtime().spawn(std::future::pending::<()>());
        drop(threads);
        assert!(task.await.unwrap_err().is_cancelled());
    }
}
