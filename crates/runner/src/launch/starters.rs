//! Starter threads: threads under a filter of system calls, which the processes that they start inherit. Otherwise each
//! process would install it, and the kernel compile it each time.
//!
//! The first process with a filter starts without them, so that a program that starts one process makes no thread for it.

#![expect(unsafe_code, reason = "no safe interface lends values to a thread that outlives them")]

use mcp_bash_sandbox::Filter;
use parking_lot::Mutex;
use rustix::thread::set_no_new_privs;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

/// The most threads per filter. A thread is suspended while its process starts.
const MOST: usize = 4;

/// Only pages that are used take memory.
const STACK: usize = 256 * 1024;

type Job = Box<dyn FnOnce() + Send>;

struct Starters {
    filter: Filter,
    count: usize,
    idle: Vec<Sender<Job>>,
}

/// One for each filter that a process was started with.
static STARTERS: Mutex<Vec<Starters>> = Mutex::new(Vec::new());

/// Runs `work` on a thread under `filter`. `None` if no such thread is free: then `work` was not run.
pub(super) fn under<T: Send + 'static>(filter: &Filter, work: impl FnOnce() -> T + Send) -> Option<T> {
    let starter = take(filter)?;
    let (give, done) = channel();
    let job = move || {
        let _ = give.send(catch_unwind(AssertUnwindSafe(work)));
    };
    let job: Box<dyn FnOnce() + Send + '_> = Box::new(job);
    // SAFETY: Only the lifetime of what `work` borrows is changed. This function returns after `recv`, which waits until
    // `work` has been consumed, or dropped with the job.
    let job: Job = unsafe { transmute(job) };
    // If the thread could not apply the filter, the job is dropped, here or with the channel.
    let _ = starter.send(job);
    done.recv().ok().map(|done| done.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// An idle thread, or a new one.
fn take(filter: &Filter) -> Option<Sender<Job>> {
    let mut all = STARTERS.lock();
    let Some(ours) = all.iter_mut().find(|starters| starters.filter == *filter) else {
        all.push(Starters { filter: filter.clone(), count: 0, idle: Vec::new() });
        return None;
    };
    if let Some(idle) = ours.idle.pop() {
        return Some(idle);
    }
    if ours.count == MOST {
        return None;
    }
    let (sender, jobs) = channel();
    let (own, filter) = (sender.clone(), filter.clone());
    let thread = Builder::new().name("starter".into()).stack_size(STACK);
    thread.spawn(move || serve(&filter, &own, &jobs)).ok()?;
    ours.count += 1;
    Some(sender)
}

fn serve(filter: &Filter, own: &Sender<Job>, jobs: &Receiver<Job>) {
    if set_no_new_privs(true).and_then(|()| filter.apply_inherited()).is_err() {
        return;
    }
    while let Ok(job) = jobs.recv() {
        job();
        if let Some(ours) = STARTERS.lock().iter_mut().find(|starters| starters.filter == *filter) {
            ours.idle.push(own.clone());
        }
    }
}
