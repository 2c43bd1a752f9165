//! Runner: one child process from start to exit.
//!
//! # Theory of operation
//!
//! An [`Invocation`] says what to start and within which limits. [`Runner::run`] starts it as the leader of a process
//! group of its own, feeds its standard input, reads both outputs at the same time, passes on the lines it writes to
//! its side channel, and terminates it at its deadline or when the caller cancels: `TERM` to the group, a grace period,
//! `KILL`. However the process ends, its group is killed before the [`Outcome`] is returned, so that nothing a script
//! left in the background outlives the call. When the future of a run is dropped, its group is killed too. The runner
//! knows every live group, so that a server that shuts down can terminate them all.
//!
//! On Linux, processes that leave their group are found as well. If control groups (cgroup v2) are available, each call
//! has one that is killed as a whole (`cgroup`). Orphans become children of this process, which is a subreaper; each
//! carries the mark of its call, and an orphan that belongs to no running call is killed (`leftovers`). A call that
//! leaves no orphan spends two microseconds on this. If this process is killed itself, a [`warden`] kills what is left.
//!
//! This crate knows neither tools nor the meaning of the lines on the side channel.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod ask;
mod calls;
mod capture;
mod cgroup;
mod child;
mod deadline;
mod exit;
#[cfg(any(test, feature = "fake-child"))]
pub mod fake_child;
mod folders;
mod head_start;
mod invocation;
mod launch;
mod leftovers;
mod line_buffer;
mod mark;
mod outcome;
mod own_thread;
mod question;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod quick_exit;
mod random;
mod run;
mod running_call;
mod side_channel;
mod signals;
mod start;
mod supervise;
mod system_calls;
mod variables;
pub mod warden;
mod worker;

pub use calls::processes_started;
pub use cgroup::{
    are_there as has_control_groups, give_up as do_without_control_groups, note_memory_kills,
    powers as group_powers,
};
pub use deadline::Deadline;
pub use folders::call_folder::CallFolder;
pub use folders::dead_servers::is_in_removed_folder;
pub use folders::private_folder::touch;
pub use folders::remove::remove_folder;
pub use folders::state_dir::StateDir;
pub use head_start::prepare_first_call;
pub use invocation::{Input, Invocation, Talk, TimeLimits};
pub use outcome::{Outcome, Overrun, ProcessEnding, StartError};
pub use own_thread::on_own_thread;
pub use question::{AnswerLine, AskedThrough, Question};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub use quick_exit::release_watches_in_background;
pub use run::Runner;
pub use signals::signal_name;
pub use variables::Variables;
pub use worker::{
    Frame, FrameFault, FrameSender, NotTaken, Stream, WorkerEvent, WorkerInvocation, WorkerProcess,
};
