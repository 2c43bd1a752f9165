//! The orphans we have adopted: the dead are buried, and those that no living call owns are killed.

use super::owner::Owner;
use super::proc;
use super::process::{Process, kill_tree};
use crate::calls::CALLS;
use crate::mark::OURS;
use crate::warden;
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// How long one round of killing waits for its victims, before it looks who else there is.
const ROUND: Duration = Duration::from_millis(50);

/// How long we go on, should there always be more.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many victims of a round are waited for. Others get their turn in the next.
const AWAITED: usize = 64;

/// Whose the orphans are that have been looked at. Only whoever holds this buries orphans, and before they are buried
/// nothing else can get their numbers: so what is known of a number stays true.
static OWNERS: LazyLock<Mutex<HashMap<Pid, Owner>>> = LazyLock::new(Mutex::default);

/// Makes orphans come to us, and marks us. Needed before the first call.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without a table to find them in, orphans are better off elsewhere.
        if proc::is_there() {
            let _ = set_child_subreaper(Some(getpid()));
        }
        OURS.put_on_us();
    });
}

/// Whether anything may be left of calls that have ended. Costs a microsecond when there is not.
pub(crate) fn may_exist() -> bool {
    if proc::adopted_none(is_no_orphan) {
        return false;
    }
    if !proc::is_there() {
        return true;
    }
    // Somebody else is at it and may take a while, which is not for us to wait for.
    let Ok(owners) = OWNERS.try_lock() else { return true };
    orphans().iter().any(|orphan| !owners.get(orphan).is_some_and(Owner::is_alive))
}

/// Kills all that is left of calls that have ended.
pub(crate) fn end() {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let doomed = round(Purpose::End);
        let now = Instant::now();
        if doomed.is_empty() || now >= deadline {
            return;
        }
        for process in &doomed {
            process.wait(deadline.min(now + ROUND));
        }
    }
}

/// Does the same without keeping a thread of the runtime from its work.
pub(crate) async fn end_aside() {
    let _ = tokio::task::spawn_blocking(end).await;
}

/// Whether a child of ours is one that we have started ourselves, and look after elsewhere.
fn is_no_orphan(child: Pid) -> bool {
    warden::pid() == Some(child) || CALLS.are_led_by(child)
}

/// Buries the dead, for calls that take long and leave many.
pub(crate) fn tidy() {
    if !proc::adopted_none(is_no_orphan) {
        round(Purpose::Tidy);
    }
}

/// Whether any process of the group is alive. Its leader is dead, so they are ours or descend from ours.
pub(crate) fn group_is_alive(leader: Pid) -> bool {
    let lives = |status: proc::Status| status.group == Some(leader) && !status.is_dead();
    !proc::adopted_none(is_no_orphan)
        && orphans().into_iter().any(|orphan| proc::status(orphan).is_some_and(lives))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Tidy,
    End,
}

/// Goes through all orphans once. Returns some of those that it has killed.
fn round(purpose: Purpose) -> Vec<Process> {
    let mut owners = lock();
    let mut known = HashMap::new();
    let (mut dead, mut doomed) = (Vec::new(), Vec::new());
    for orphan in orphans() {
        let Some(status) = proc::status(orphan) else { continue };
        let mut owner = match owners.remove(&orphan) {
            Some(owner) => owner.again(orphan, status),
            None => Owner::of(orphan, status),
        };
        if status.is_dead() && owner.lets_bury() {
            dead.push(orphan);
            continue;
        }
        if purpose == Purpose::End
            && !owner.is_alive()
            && let Some(process) = Process::open(orphan)
        {
            owner = owner.after(kill_tree(&process));
            if doomed.len() < AWAITED && !owner.is_alive() {
                doomed.push(process);
            }
        }
        known.insert(orphan, owner);
    }
    bury(&dead);
    *owners = known;
    doomed
}

fn bury(dead: &[Pid]) {
    // Once more, for those that were being started when we looked first.
    let leaders = CALLS.leaders();
    for orphan in dead.iter().filter(|orphan| !leaders.contains(orphan)) {
        let _ = waitid(WaitId::Pid(*orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// Our children, but for those that are no orphans.
fn orphans() -> Vec<Pid> {
    // The leaders first: one that is buried meanwhile is not in the list then, rather than unknown.
    let leaders = CALLS.leaders();
    let warden = warden::pid();
    let mut adopted = proc::adopted();
    adopted.retain(|pid| !leaders.contains(pid) && Some(*pid) != warden);
    adopted
}

fn lock() -> MutexGuard<'static, HashMap<Pid, Owner>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}
