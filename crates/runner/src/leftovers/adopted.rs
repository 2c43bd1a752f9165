//! The orphans we have adopted: the dead are reaped, and those that no living call owns are killed.
//!
//! A script may fork as fast as it can, each process starting the next and ending (a chain), so little happens between the
//! moment a process is seen and the moment it is killed: two system calls. A process with a pending `KILL` cannot fork any
//! more, and one that has just ended has handed its children to us before we can reap it; so each pass over our children
//! either ends the chain or finds its next link among them, and a pass that finds nothing to do has seen that nothing is
//! left.

use super::proc;
use super::process::Process;
use crate::calls::CALLS;
use crate::mark::{Carried, OURS};
use crate::{system_calls, warden};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for a process that was killed, before looking who else there is.
const ROUND: Duration = Duration::from_millis(50);

/// How long we go on, should there always be more.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a process that was killed may take to be gone. Only the kernel can make it take as long (uninterruptible
/// sleep), and nobody waits for it again.
const LONGEST_DEATH: Duration = Duration::from_secs(2);

/// The orphans that were killed and are not gone yet, with the time of the first blow. Only whoever holds this reaps
/// orphans, and before they are reaped nothing else can get their numbers: so what a pass has seen of a number stays
/// true.
static KILLED: LazyLock<Mutex<HashMap<Pid, Instant>>> = LazyLock::new(Mutex::default);

/// The children that this process had when it began: those of the shell that has become it (`exec`). They are nobody's
/// leftovers.
static OLDER: OnceLock<Vec<Pid>> = OnceLock::new();

/// Makes orphans come to us, and marks us. Needed before the first process is started.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        system_calls::settle_signals();
        // Without a table to find them in, orphans are better off elsewhere.
        if proc::is_there() {
            let _ = set_child_subreaper(Some(getpid()));
        }
        LazyLock::force(&OURS);
        let _ = OLDER.set(proc::adopted());
    });
}

/// What one pass over our children has done.
#[derive(Debug, Default)]
struct Pass {
    reaped: usize,
    /// How many were killed, and one of them.
    killed: usize,
    victim: Option<Pid>,
    /// The children changed while we looked.
    changed: bool,
}

impl Pass {
    fn found_nothing(&self) -> bool {
        self.reaped == 0 && self.killed == 0 && !self.changed
    }
}

/// Ends what is left of calls that have ended, as far as it takes no time. False when there may be more. Costs a
/// microsecond when nothing was left.
pub(crate) fn end_at_once() -> bool {
    if proc::adopted_none(is_no_orphan) {
        return true;
    }
    // Somebody else is at it and may take a while, which is not for us to wait for.
    match KILLED.try_lock() {
        Ok(mut killed) => pass(&mut killed).found_nothing(),
        Err(_) => false,
    }
}

/// Ends all that is left of calls that have ended, and waits until it is gone.
pub(crate) fn end() {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let pass = pass(&mut lock());
        let now = Instant::now();
        if pass.found_nothing() || now >= deadline {
            return;
        }
        if let Some(process) = pass.victim.filter(|_| pass.reaped == 0).and_then(Process::open) {
            process.wait(deadline.min(now + ROUND));
        }
    }
}

/// Reaps the dead, and kills what is nobody's, for calls that take long. True when there was so much to do that it
/// should be done again soon.
pub(crate) fn tidy() -> bool {
    !proc::adopted_none(is_no_orphan) && pass(&mut lock()).reaped > 0
}

/// Whether any process of the group is alive. Its leader is dead, so they are ours or descend from ours.
pub(crate) fn group_is_alive(leader: Pid) -> bool {
    let lives = |status: proc::Status| status.group == Some(leader) && !status.is_dead();
    !proc::adopted_none(is_no_orphan)
        && orphans().into_iter().any(|orphan| proc::status(orphan).is_some_and(lives))
}

/// Whether a child of ours is one that we have started ourselves, and look after elsewhere.
fn is_no_orphan(child: Pid) -> bool {
    warden::pid() == Some(child) || is_older(child) || CALLS.are_led_by(child)
}

fn is_older(child: Pid) -> bool {
    OLDER.get().is_some_and(|older| older.contains(&child))
}

/// What to do with a child of ours.
enum Fate {
    /// A living call owns it, or we have started it for ourselves, or it is not ours to judge.
    Live,
    Die,
}

fn pass(killed: &mut HashMap<Pid, Instant>) -> Pass {
    let mut pass = Pass::default();
    let orphans = orphans();
    for orphan in &orphans {
        let Some((fate, may_be_reaped)) = judge(*orphan) else { continue };
        if may_be_reaped && is_reaped(*orphan) {
            killed.remove(orphan);
            pass.reaped += 1;
            continue;
        }
        if matches!(fate, Fate::Die) && dies(*orphan, killed) {
            pass.killed += 1;
            pass.victim = Some(*orphan);
        }
    }
    if pass.reaped == 0 && pass.killed == 0 {
        // A child that another thread reaps while the list is read can hide its neighbour.
        pass.changed = self::orphans() != orphans;
    }
    pass
}

/// What is to become of a child, and whether it may be reaped if it is dead. `None` when it is gone.
fn judge(orphan: Pid) -> Option<(Fate, bool)> {
    if !OURS.is_on_limits() {
        // Only its environment tells whose it is. One that says nothing may be a process of our own.
        let call = OURS.in_environment(orphan);
        let fate = if call.is_some_and(|call| !CALLS.is_alive(call)) { Fate::Die } else { Fate::Live };
        return Some((fate, call.is_some_and(|call| CALLS.lets_reap(call, orphan))));
    }
    Some(match OURS.on_limits(orphan)? {
        Carried::Call(call) if CALLS.is_alive(call) => (Fate::Live, CALLS.lets_reap(call, orphan)),
        Carried::Call(call) => (Fate::Die, CALLS.lets_reap(call, orphan)),
        // Whoever has started it waits for it.
        Carried::Server => (Fate::Live, false),
        // It has taken off its mark, which nothing does by accident.
        Carried::Nothing => (Fate::Die, true),
    })
}

/// Asks a dead child how it ended, so that its number is free. False when it lives.
fn is_reaped(orphan: Pid) -> bool {
    matches!(waitid(WaitId::Pid(orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG), Ok(Some(_)))
}

/// Kills a child. False when it is not ours to kill, or does not die of it.
fn dies(orphan: Pid, killed: &mut HashMap<Pid, Instant>) -> bool {
    if kill_process(orphan, Signal::KILL) == Err(Errno::PERM) {
        return false;
    }
    killed.entry(orphan).or_insert_with(Instant::now).elapsed() < LONGEST_DEATH
}

/// Our children, but for those that are no orphans.
fn orphans() -> Vec<Pid> {
    // The leaders first: one that is reaped meanwhile is not in the list then, rather than unknown.
    let leaders = CALLS.leaders();
    let warden = warden::pid();
    let mut adopted = proc::adopted();
    adopted.retain(|pid| !leaders.contains(pid) && Some(*pid) != warden && !is_older(*pid));
    adopted
}

fn lock() -> MutexGuard<'static, HashMap<Pid, Instant>> {
    KILLED.lock().unwrap_or_else(PoisonError::into_inner)
}
