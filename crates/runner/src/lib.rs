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
//! What leaves its group is not lost on Linux: we adopt orphans, each carries a mark of its call in its environment,
//! and those that no living call owns are killed (`leftovers`). A call without any costs a microsecond for this. If we
//! are killed ourselves, a [`warden`] ends what is left.
//!
//! Nothing here knows what a tool is, or what the lines of the side channel mean.

mod call;
mod calls;
mod capture;
mod deadline;
mod desk;
mod exit;
mod invocation;
mod launch;
mod leftovers;
mod mark;
mod random;
mod run;
mod side_channel;
mod start;
mod state_dir;
mod variables;
pub mod warden;

pub use desk::{Question, Way};
pub use invocation::{Ending, Input, Invocation, Outcome, Overrun, Patience, StartError};
pub use run::Runner;
pub use state_dir::StateDir;
pub use variables::Variables;
