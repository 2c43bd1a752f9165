//! Adopted orphans: orphans that have become children of this process. Zombies are reaped, and orphans of no running
//! call are killed.
//!
//! A script may fork as fast as it can, each process starting the next and exiting (a chain). So only two system calls
//! pass between listing a process and killing it. A process with a pending `KILL` cannot fork any more, and the
//! children of a process that has just ended are ours before we can reap it. So each pass over our children either ends
//! the chain or finds its next link among them, and a pass that finds nothing to do proves that nothing is left.

use super::proc;
use super::process::Process;
use crate::calls::CALLS;
use crate::mark::{CallNumber, Carried, OURS};
use crate::{system_calls, warden};
use parking_lot::{Mutex, MutexGuard};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};
use std::collections::HashMap;
use std::sync::{LazyLock, Once, OnceLock};
use std::time::{Duration, Instant};

/// How long to wait for a killed process to end before the next pass.
const PASS_TIMEOUT: Duration = Duration::from_millis(50);

/// The time limit of [`end`], if each pass finds more.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for a killed process in total. Only uninterruptible sleep takes longer, and the process is then not
/// waited for again.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The orphans that were killed and not reaped yet, with the time of the first `KILL`. Orphans are reaped only under
/// this lock, and their pids are not reused before they are reaped: so what a pass knows about a pid stays true.
static KILLED: LazyLock<Mutex<HashMap<Pid, Instant>>> = LazyLock::new(Mutex::default);

/// The children that this process had at its start: those of a shell that was replaced by this program (`exec`). They
/// belong to no call, and are left alone.
static INHERITED_CHILDREN: OnceLock<Vec<Pid>> = OnceLock::new();

/// Makes this process a subreaper, and gives it the mark of the server. Required before the first process is started.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        system_calls::settle_signals();
        // Without `/proc`, orphans could not be found, so they are left to init.
        if proc::is_readable() {
            let _ = set_child_subreaper(Some(getpid()));
        }
        LazyLock::force(&OURS);
        let _ = INHERITED_CHILDREN.set(proc::adopted());
    });
}

/// The outcome of one pass over our children.
#[derive(Debug, Default)]
struct Pass {
    reaped: usize,
    /// How many were killed, and the last of them.
    killed: usize,
    last_killed: Option<Pid>,
    /// The list of children changed during the pass.
    changed: bool,
}

impl Pass {
    fn found_nothing(&self) -> bool {
        self.reaped == 0 && self.killed == 0 && !self.changed
    }
}

/// Makes one pass without waiting. False when there may be processes left. Costs a microsecond when there are no
/// orphans.
pub(crate) fn end_without_waiting() -> bool {
    if proc::adopted_none(is_no_orphan) {
        return true;
    }
    // Another thread makes a pass, which may take a while.
    match KILLED.try_lock() {
        Some(mut killed) => pass(&mut killed).found_nothing(),
        None => false,
    }
}

/// Kills everything that is left of calls that have ended, and waits until it is reaped.
pub(crate) fn end() {
    let deadline = Instant::now() + END_TIMEOUT;
    loop {
        let pass = pass(&mut lock());
        let now = Instant::now();
        if pass.found_nothing() || now >= deadline {
            return;
        }
        if let Some(process) = pass.last_killed.filter(|_| pass.reaped == 0).and_then(Process::open) {
            process.wait(deadline.min(now + PASS_TIMEOUT));
        }
    }
}

/// Makes one pass, for long calls. True when orphans were reaped, so that it should be done again soon.
pub(crate) fn reap_and_kill() -> bool {
    !proc::adopted_none(is_no_orphan) && pass(&mut lock()).reaped > 0
}

/// Whether any process of the group is alive. Its leader is dead, so they are children of ours or descend
/// from one.
pub(crate) fn group_is_alive(leader: Pid) -> bool {
    let lives = |status: proc::Status| status.group == Some(leader) && !status.is_dead();
    !proc::adopted_none(is_no_orphan)
        && orphans().into_iter().any(|orphan| proc::status(orphan).is_some_and(lives))
}

/// Whether an orphan that carries the mark of this call is alive.
pub(crate) fn has_orphans_of(call: CallNumber) -> bool {
    let is_of_call = |orphan: Pid| {
        if OURS.is_on_limits() {
            OURS.on_limits(orphan) == Some(Carried::Call(call))
        } else {
            OURS.in_environment(orphan) == Some(call)
        }
    };
    let lives = |orphan: Pid| proc::status(orphan).is_some_and(|status| !status.is_dead());
    !proc::adopted_none(is_no_orphan)
        && orphans().into_iter().any(|orphan| is_of_call(orphan) && lives(orphan))
}

/// Whether a child is not an orphan of a call: the leader of a call, the warden, or inherited.
fn is_no_orphan(child: Pid) -> bool {
    warden::pid() == Some(child) || is_inherited(child) || CALLS.is_leader(child)
}

fn is_inherited(child: Pid) -> bool {
    INHERITED_CHILDREN.get().is_some_and(|inherited| inherited.contains(&child))
}

/// What to do with an orphan.
enum Verdict {
    /// It belongs to a running call, or the server has started it for itself, or its origin is unknown.
    Keep,
    Kill,
}

fn pass(killed: &mut HashMap<Pid, Instant>) -> Pass {
    let mut pass = Pass::default();
    let orphans = orphans();
    for orphan in &orphans {
        let Some((verdict, may_be_reaped)) = judge(*orphan) else { continue };
        if may_be_reaped && reap(*orphan) {
            killed.remove(orphan);
            pass.reaped += 1;
            continue;
        }
        if matches!(verdict, Verdict::Kill) && kill_orphan(*orphan, killed) {
            pass.killed += 1;
            pass.last_killed = Some(*orphan);
        }
    }
    if pass.reaped == 0 && pass.killed == 0 {
        // A child that another thread reaps while the list is read can hide its neighbour.
        pass.changed = self::orphans() != orphans;
    }
    pass
}

/// What to do with an orphan, and whether it may be reaped if it is a zombie. `None` when there is no such
/// process.
fn judge(orphan: Pid) -> Option<(Verdict, bool)> {
    if !OURS.is_on_limits() {
        // Only its environment can show which call it belongs to. Without a mark there it may be a process that the
        // server has started.
        let call = OURS.in_environment(orphan);
        let verdict =
            if call.is_some_and(|call| !CALLS.is_alive(call)) { Verdict::Kill } else { Verdict::Keep };
        return Some((verdict, call.is_some_and(|call| CALLS.may_be_reaped(call, orphan))));
    }
    Some(match OURS.on_limits(orphan)? {
        Carried::Call(call) if CALLS.is_alive(call) => (Verdict::Keep, CALLS.may_be_reaped(call, orphan)),
        Carried::Call(call) => (Verdict::Kill, CALLS.may_be_reaped(call, orphan)),
        // The code that has started it reaps it.
        Carried::Server => (Verdict::Keep, false),
        // It has lowered its limit, which never happens by accident.
        Carried::Nothing => (Verdict::Kill, true),
    })
}

/// Reaps an orphan. False when it is alive.
fn reap(orphan: Pid) -> bool {
    matches!(waitid(WaitId::Pid(orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG), Ok(Some(_)))
}

/// Kills an orphan. False when we may not, or when it is still alive long after the first `KILL`.
fn kill_orphan(orphan: Pid, killed: &mut HashMap<Pid, Instant>) -> bool {
    if kill_process(orphan, Signal::KILL) == Err(Errno::PERM) {
        return false;
    }
    killed.entry(orphan).or_insert_with(Instant::now).elapsed() < KILL_TIMEOUT
}

/// Our children that may be orphans of a call.
fn orphans() -> Vec<Pid> {
    // The leaders are read first: one that is reaped meanwhile is then missing in the list of children, and
    // not taken for an orphan.
    let leaders = CALLS.leaders();
    let warden = warden::pid();
    let mut adopted = proc::adopted();
    adopted.retain(|pid| !leaders.contains(pid) && Some(*pid) != warden && !is_inherited(*pid));
    adopted
}

fn lock() -> MutexGuard<'static, HashMap<Pid, Instant>> {
    KILLED.lock()
}
