//! Running call: the process that leads its process group (the leader), and the steps that kill every process of the
//! call when it is over.

use crate::calls::{CALLS, RunnerId};
use crate::cgroup::{self, CallGroup};
use crate::child::Process;
use crate::exit::{self, ExitWatch};
use crate::launch::Launch;
use crate::mark::{self, CallNumber, OURS};
use crate::own_thread::on_own_thread;
use crate::worker::{Footprint, FrameSender};
use crate::{ProcessEnding, leftovers, warden};
use rustix::process::{Pid, Signal, WaitStatus};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How long to wait for a leader to end after `KILL`. Only uninterruptible sleep in the kernel takes so long.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// How often to check whether the group of a dead leader still has living processes.
const GROUP_CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Delay before the pipes are first read: 1 ms for each running call. Most scripts have ended by then, and
/// all their output is read in one go; with many calls at once each of them takes longer.
const FIRST_READ_DELAY: Duration = Duration::from_millis(1);

/// A call whose process has been started. When this value is dropped, every process of the call is killed.
#[derive(Debug)]
pub(crate) struct RunningCall {
    number: CallNumber,
    pid: Pid,
    /// It was removed from [`CALLS`], and its leader reaped.
    has_left: bool,
    exit: ExitWatch,
    /// The control group, if there is one, until the call has left.
    group: Option<CallGroup>,
    watched: Option<warden::WatchedGroup>,
}

impl RunningCall {
    /// Starts the process, unless the runner has ended. `worker` is the input of a process that serves many calls.
    pub(crate) fn start(
        runner: RunnerId,
        mut launch: Launch,
        worker: Option<Arc<FrameSender>>,
        ended: &AtomicBool,
    ) -> io::Result<Self> {
        leftovers::prepare();
        warden::ensure_running();
        let number = CALLS.enter(runner, worker);
        launch.environment.set(mark::VARIABLE, OURS.value(number));
        let started = cgroup::take(launch.group_limits()).and_then(|group| {
            match launch.start(number, group.as_ref()) {
                Ok(started) => Ok((started, group)),
                Err(error) => {
                    group.into_iter().for_each(CallGroup::give_back);
                    Err(error)
                }
            }
        });
        let (started, group) = started.inspect_err(|_| {
            CALLS.leave(number);
        })?;
        let pid = started.pid;
        CALLS.set_leader(number, pid);
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        leftovers::note_leader(number, pid);
        let call = Self {
            number,
            pid,
            has_left: false,
            exit: ExitWatch::of(started),
            group,
            watched: warden::watch(pid),
        };
        // Checked after the call was added: `end_all` either finds it in the table or has set the flag before.
        if ended.load(Ordering::Acquire) {
            return Err(io::Error::other("the server is ending"));
        }
        Ok(call)
    }

    /// Signals its whole group.
    pub(crate) fn signal(&self, signal: Signal) {
        CALLS.signal(self.number, signal);
    }

    /// The memory of a worker, and the processes it has started.
    pub(crate) fn footprint(&self) -> Footprint {
        Footprint::of(self.pid, self.number, self.group.as_ref())
    }

    fn leave(&mut self) -> Option<WaitStatus> {
        // Before the leader is reaped, because its pid can then be reused.
        self.watched = None;
        self.has_left = true;
        self.group.take().into_iter().for_each(CallGroup::give_back);
        CALLS.leave(self.number)
    }
}

impl Process for RunningCall {
    async fn exited(&mut self) {
        self.exit.wait().await;
    }

    async fn terminate(&mut self, grace: Duration) {
        CALLS.signal(self.number, Signal::TERM);
        let gone = async {
            self.exit.wait().await;
            while leftovers::group_is_alive(self.pid) {
                sleep(GROUP_CHECK_INTERVAL).await;
            }
        };
        if timeout(grace, gone).await.is_err() {
            CALLS.signal(self.number, Signal::KILL);
            let _ = timeout(KILL_TIMEOUT, self.exit.wait()).await;
        }
    }

    async fn finish(mut self) -> ProcessEnding {
        CALLS.set_ending(self.number);
        if self.group.as_ref().is_some_and(|group| !group.is_empty()) || !leftovers::end_without_waiting() {
            CALLS.signal(self.number, Signal::KILL);
            let group = self.group.take();
            self.group = on_own_thread(move || kill_rest(group)).await.flatten();
        }
        // Without a status the leader has not ended (uninterruptible sleep).
        self.leave().map_or(ProcessEnding::Signalled(0), ending_of)
    }

    fn first_read_delay(&self) -> Duration {
        FIRST_READ_DELAY * u32::try_from(CALLS.count()).unwrap_or(u32::MAX)
    }

    /// Restarts the warden if it has died, and reaps orphans.
    fn upkeep(&self) -> bool {
        warden::ensure_running();
        leftovers::reap_and_kill()
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.has_left {
            CALLS.set_ending(self.number);
            CALLS.signal(self.number, Signal::KILL);
            exit::block_until(self.pid, Instant::now() + KILL_TIMEOUT);
            self.group = kill_rest(self.group.take());
            self.leave();
        }
    }
}

/// Kills what is left of a call whose leader has ended, in its control group and elsewhere, and waits until it has
/// ended.
fn kill_rest(group: Option<CallGroup>) -> Option<CallGroup> {
    if let Some(group) = group.as_ref().filter(|group| !group.is_empty()) {
        group.kill();
    }
    leftovers::end();
    group
}

/// How long a worker may take to clean up after its input was closed.
const WORKER_GRACE: Duration = Duration::from_secs(2);

/// How long it may take after `TERM`, if it has not ended by then.
const LAST_GRACE: Duration = Duration::from_millis(500);

/// Terminates all calls of a runner: `TERM`, and `KILL` to what is left after `grace`. The input of workers is closed
/// first, so that they can clean up.
pub(crate) fn end_all(runner: RunnerId, grace: Duration) {
    let deadline = Instant::now() + grace;
    let workers = CALLS.close_workers(runner);
    CALLS.signal_calls(runner, Signal::TERM);
    if !workers.is_empty() {
        block_until_all(&workers, WORKER_GRACE);
        CALLS.signal_all(runner, Signal::TERM);
        block_until_all(&workers, LAST_GRACE);
    }
    CALLS.wait_until_left(runner, deadline);
    CALLS.signal_all(runner, Signal::KILL);
    let deadline = Instant::now() + KILL_TIMEOUT;
    for leader in CALLS.leaders_of(runner) {
        exit::block_until(leader, deadline);
    }
    leftovers::end();
    if CALLS.all_belong_to(runner) {
        cgroup::remove_all();
        warden::dismiss();
    }
}

/// Blocks until all have ended, for `most` at most.
fn block_until_all(leaders: &[Pid], most: Duration) {
    let deadline = Instant::now() + most;
    for leader in leaders {
        exit::block_until(*leader, deadline);
    }
}

fn ending_of(status: WaitStatus) -> ProcessEnding {
    match status.exit_status() {
        Some(code) => ProcessEnding::Exited(code),
        None => ProcessEnding::Signalled(status.terminating_signal().unwrap_or(0)),
    }
}
