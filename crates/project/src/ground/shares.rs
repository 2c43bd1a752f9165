//! Work sharing between threads. If the system has no thread to spare, the calling thread does all the work.

use mcp_bash_files::shortage;
use parking_lot::Mutex;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// How many threads are useful for CPU-bound work.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Gives each of `threads` threads, this one included, an equal share of the items. The results come back in the order of
/// the items.
pub(crate) fn in_shares<I: Send, O: Send>(
    mut items: Vec<I>,
    threads: usize,
    work: impl Fn(Vec<I>) -> O + Sync,
) -> Vec<O> {
    let (share, work) = (items.len().div_ceil(threads), &work);
    thread::scope(|scope| {
        let mut others = Vec::new();
        while items.len() > share {
            let some = items.split_off(items.len() - share);
            others.push(Beside::start(scope, move || work(some)));
        }
        let own = work(items);
        std::iter::once(own).chain(others.into_iter().rev().map(Beside::finish)).collect()
    })
}

/// Does two things at once.
pub(crate) fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = Beside::start(scope, one);
        let other = other();
        (one.finish(), other)
    })
}

/// Work on another thread; or, if there is none, work that is still to be done.
enum Beside<'scope, F, O> {
    Started(ScopedJoinHandle<'scope, (O, Option<String>)>),
    Left(Option<F>),
}

impl<'scope, O: Send + 'scope, F: FnOnce() -> O + Send + 'scope> Beside<'scope, F, O> {
    fn start(scope: &'scope Scope<'scope, '_>, work: F) -> Self {
        // Shared, because a thread that cannot be started does not give its work back.
        let work = Arc::new(Mutex::new(Some(work)));
        let taken = Arc::clone(&work);
        let run = move || {
            let work = taken.lock().take().expect("nobody else takes the work of a thread that runs");
            shortage::during(work)
        };
        match Builder::new().spawn_scoped(scope, run) {
            Ok(thread) => Self::Started(thread),
            Err(_) => Self::Left(work.lock().take()),
        }
    }

    fn finish(self) -> O {
        match self {
            Self::Started(thread) => {
                let (done, met) = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                // Shortages are looked for on this thread.
                met.into_iter().for_each(shortage::note);
                done
            }
            Self::Left(work) => work.expect("a thread that was not started has taken nothing")(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_in_order() {
        for (count, threads) in [(0, 4), (1, 4), (4, 4), (5, 4), (9, 4), (100, 3), (100, 1)] {
            let items: Vec<usize> = (0..count).collect();
            let shares = in_shares(items.clone(), threads, |share| share);
            assert!(shares.len() <= threads, "{count} by {threads}");
            assert_eq!(shares.concat(), items, "{count} by {threads}");
        }
        assert_eq!(both(|| 1, || 2), (1, 2));
    }

    #[test]
    fn a_shortage_of_another_thread_is_one_of_this() {
        let meets = |some: Vec<usize>| {
            some.iter().filter(|item| **item == 9).for_each(|_| shortage::note("short".into()));
        };
        let (_, met) = shortage::during(|| in_shares((0..10).collect(), 4, meets));
        assert_eq!(met.as_deref(), Some("short"));
    }
}
