//! Watcher: terminates servers that hang or eat all memory, reports processes that outlive their calls, and reaps those
//! that lost their parents.

use crate::http::SERVERS;
use crate::peer::Peer;
use crate::proc;
use crate::process::signal_process;
use crate::project::STARTING;
use crate::run::{Run, TIMEOUT};
use crate::traces::Trace;
use crate::violations::Kind;
use crate::word::Word;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How long a process may be seen after the answer to its call: it should have exited, but the machine is
/// busy.
const AFTER_ANSWER: Duration = Duration::from_secs(3);

/// The same after a cancellation, which gives scripts a second to exit.
const AFTER_CANCELLATION: Duration = Duration::from_secs(6);

/// The memory limit of a server.
const MOST_MEMORY: u64 = 512 * 1024 * 1024;

/// Runs until `is_done`.
pub(crate) fn watch(run: &Run, is_done: &AtomicBool) {
    let mut told = BTreeSet::new();
    let mut round = 0;
    while !is_done.load(Ordering::Acquire) {
        for peer in run.peers() {
            watch_memory(&peer);
            watch_progress(&peer);
        }
        if round % 5 == 0 {
            watch_processes(run, &mut told);
            watch_traces(run, &mut told);
            reap_orphans(run);
        }
        round += 1;
        sleep(Duration::from_millis(100));
    }
}

fn condemn(peer: &Peer, kind: Kind, what: &str) {
    if !peer.has_ended() && !peer.is_condemned.swap(true, Ordering::AcqRel) {
        peer.violation(kind, &format!("{what}\n{}", proc::describe_threads(peer.pid)));
        peer.is_forced.store(true, Ordering::Release);
        signal_process(peer.pid, Signal::KILL);
    }
}

fn watch_memory(peer: &Peer) {
    if let Some(memory) = proc::memory(peer.pid).filter(|memory| *memory > MOST_MEMORY) {
        condemn(peer, Kind::Memory, &format!("it uses {} MiB", memory / 1024 / 1024));
    }
}

fn watch_progress(peer: &Peer) {
    let writing = *peer.writing_since.lock().unwrap_or_else(PoisonError::into_inner);
    if writing.is_some_and(|since| since.elapsed() > TIMEOUT) {
        condemn(peer, Kind::Hang, "it does not read");
    }
    let oldest = peer.ledger().oldest();
    if let Some((age, what)) = oldest
        && age > TIMEOUT
    {
        condemn(peer, Kind::Hang, &format!("no answer for {} s to {what}", age.as_secs()));
    }
}

fn watch_processes(run: &Run, told: &mut BTreeSet<Word>) {
    for process in proc::descendants(std::process::id()) {
        if process.is_dead {
            continue;
        }
        for word in process.words.iter().filter(|word| word.call > 0) {
            judge_sighting(run, *word, Duration::ZERO, &process.describe(), told);
        }
    }
}

fn watch_traces(run: &Run, told: &mut BTreeSet<Word>) {
    for trace in Trace::all(run) {
        judge_sighting(run, trace.word, trace.age, "a process that forks and ends, again and again", told);
    }
}

/// A trace of a call, and its age.
fn judge_sighting(run: &Run, word: Word, ago: Duration, what: &str, told: &mut BTreeSet<Word>) {
    let Some(peer) = run.peer(word.server).filter(|peer| !peer.has_ended()) else { return };
    let Some(over) = peer.ledger().over(word.call) else { return };
    let allowed = if over.was_cancelled { AFTER_CANCELLATION } else { AFTER_ANSWER };
    let lateness = over.since.elapsed().saturating_sub(ago);
    if lateness > allowed && told.insert(word) {
        let how = if over.was_cancelled { "cancelled" } else { "answered" };
        let lateness = lateness.as_secs_f32();
        let what = format!("{lateness:.1} s after the call {word} was {how} there is {what}");
        peer.violation(Kind::ProcessOutlivesCall, &what);
    }
}

/// Reaps orphans of killed servers. No other process would.
fn reap_orphans(run: &Run) {
    // No server is being started meanwhile, so every child that is not a server is an orphan.
    let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut servers: BTreeSet<u32> = run.peers().iter().map(|peer| peer.pid).collect();
    servers.extend(&*SERVERS.lock().unwrap_or_else(PoisonError::into_inner));
    let us = std::process::id();
    for process in proc::descendants(us) {
        let is_orphan = process.parent == us && process.is_dead && !servers.contains(&process.pid);
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()).filter(|_| is_orphan) {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}
