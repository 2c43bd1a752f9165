//! One call: the process that leads it, and what has to be done so that nothing of it is left.

use crate::calls::{CALLS, RunnerId};
use crate::cgroup::{self, CallGroup};
use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::mark::{self, Number, OURS};
use crate::{aside, leftovers, warden};
use rustix::process::{Pid, Signal, WaitStatus};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How long a leader that was killed may take to be gone. Only the kernel can make it take as long.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often to look whether the group of a dead leader is gone.
const INTERVAL: Duration = Duration::from_millis(5);

/// A call. When this value is dropped, whatever the reason, every process of the call is killed.
#[derive(Debug)]
pub(crate) struct Call {
    number: Number,
    pid: Pid,
    is_over: bool,
    exit: Exit,
    /// There until the call is over, where it has one.
    group: Option<CallGroup>,
    watched: Option<warden::Watched>,
}

impl Call {
    /// Starts the process, as long as the runner has not ended.
    pub(crate) fn start(runner: RunnerId, mut launch: Launch, ended: &AtomicBool) -> io::Result<Self> {
        leftovers::prepare();
        warden::keep_watch();
        let number = CALLS.enter(runner);
        launch.environment.set(mark::VARIABLE, OURS.value(number));
        let group = cgroup::take();
        let started = launch.start(number, group.as_ref());
        let started = match started {
            Ok(started) => started,
            Err(error) => {
                CALLS.leave(number);
                group.into_iter().for_each(CallGroup::give_back);
                return Err(error);
            }
        };
        let pid = started.pid;
        CALLS.set_leader(number, pid);
        let call =
            Self { number, pid, is_over: false, exit: Exit::of(started), group, watched: warden::watch(pid) };
        // Asked now that whoever ends all calls does not overlook this one: it is either killed there or here.
        if ended.load(Ordering::Acquire) {
            return Err(io::Error::other("the server is ending"));
        }
        Ok(call)
    }

    /// Completes when the leader has ended. Safe to drop half-way.
    pub(crate) async fn exited(&mut self) {
        self.exit.wait().await;
    }

    /// Tells the whole group to end, and kills it if it has not after `grace`.
    pub(crate) async fn terminate(&mut self, grace: Duration) {
        CALLS.signal(self.number, Signal::TERM);
        let gone = async {
            self.exit.wait().await;
            while leftovers::group_is_alive(self.pid) {
                sleep(INTERVAL).await;
            }
        };
        if timeout(grace, gone).await.is_err() {
            CALLS.signal(self.number, Signal::KILL);
            let _ = timeout(PATIENCE, self.exit.wait()).await;
        }
    }

    /// Kills what the leader has left behind, and asks it how it ended. `None` if it has not, which only the kernel
    /// can be the reason of.
    pub(crate) async fn finish(mut self) -> Option<WaitStatus> {
        CALLS.set_ending(self.number);
        if self.group.as_ref().is_some_and(|group| !group.is_empty()) || !leftovers::end_at_once() {
            CALLS.signal(self.number, Signal::KILL);
            self.group = aside::run(self.group.take(), end_rest).await;
        }
        self.leave()
    }

    fn leave(&mut self) -> Option<WaitStatus> {
        // Before the number of the leader can be another's.
        self.watched = None;
        self.is_over = true;
        self.group.take().into_iter().for_each(CallGroup::give_back);
        CALLS.leave(self.number)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            CALLS.set_ending(self.number);
            CALLS.signal(self.number, Signal::KILL);
            exit::block_until(self.pid, Instant::now() + PATIENCE);
            self.group = end_rest(self.group.take());
            self.leave();
        }
    }
}

/// Ends what is left of a call whose leader has ended, in its control group and elsewhere, and waits until it is gone.
fn end_rest(group: Option<CallGroup>) -> Option<CallGroup> {
    if let Some(group) = group.as_ref().filter(|group| !group.is_empty()) {
        group.kill();
    }
    leftovers::end();
    group
}

/// Ends all calls of a runner: `TERM`, and `KILL` to what is left after `grace`.
pub(crate) fn end_all(runner: RunnerId, grace: Duration) {
    CALLS.signal_all(runner, Signal::TERM);
    CALLS.wait_until_left(runner, Instant::now() + grace);
    CALLS.signal_all(runner, Signal::KILL);
    let deadline = Instant::now() + PATIENCE;
    for leader in CALLS.leaders_of(runner) {
        exit::block_until(leader, deadline);
    }
    leftovers::end();
    if CALLS.are_all_of(runner) {
        cgroup::remove_all();
        warden::dismiss();
    }
}
