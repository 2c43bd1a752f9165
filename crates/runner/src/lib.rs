//! One child process from start to end.
//!
//! # Theory of operation
//!
//! An [`Invocation`] says what to start and within which bounds. [`Runner::run`] starts it as the leader of a process
//! group of its own, feeds its standard input, reads both outputs side by side, passes on the lines it writes to its
//! side channel, and ends it at its deadline or when the caller cancels: `TERM` to the group, a grace period, `KILL`.
//! Whatever the way it ends, the group is killed before the [`Outcome`] is returned, so that nothing a script left in
//! the background outlives the call. A run that is dropped half-way takes its group with it. The runner knows every
//! group that is alive, so that a server that has to end can end them all.
//!
//! What leaves its group is not lost on Linux. Where we may have control groups, each call has one that is killed as a
//! whole (`cgroup`). And wherever a process goes, we adopt it when it is an orphan, it carries the mark of its call, and
//! what no living call owns is killed (`leftovers`). A call without any costs two microseconds for this. If we are
//! killed ourselves, a [`warden`] ends what is left.
//!
//! Nothing here knows what a tool is, or what the lines of the side channel mean.

mod aside;
mod ask;
mod call;
mod call_folder;
mod calls;
mod capture;
mod cgroup;
mod deadline;
mod exit;
mod invocation;
mod launch;
mod leftovers;
mod mark;
mod random;
mod remove;
mod run;
mod side_channel;
mod start;
mod state_dir;
#[cfg(target_os = "linux")]
mod system_calls;
mod variables;
pub mod warden;

pub use ask::{Question, Way};
pub use call_folder::CallFolder;
pub use cgroup::give_up as do_without_control_groups;
pub use invocation::{Ending, Input, Invocation, Outcome, Overrun, Patience, StartError, Talk};
pub use run::Runner;
pub use state_dir::StateDir;
pub use variables::Variables;
