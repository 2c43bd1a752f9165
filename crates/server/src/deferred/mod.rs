//! Deferred calls: tasks of the protocol. A task is the inner request of its own client, so that rights, policies, consent,
//! limits and the audit log treat it like any call. Its reply (`task_reply.rs`) passes messages of the call to its keeper
//! (`keeper.rs`), the only writer of the task's record. Every other request reads the record, and posts notes for the keeper,
//! which may be in another process. If a limit applies to the task, its keeper first waits for its turn (`waiting.rs`).

mod keeper;
#[cfg(test)]
mod keeper_tests;
mod location;
mod place;
mod table;
mod task_reply;
mod turns;
mod view;
mod waiting;

pub(crate) use keeper::{Begin, Keeper};
pub use place::StorePlace;
pub(crate) use place::open_stores;
pub(crate) use table::{Deferred, NewTask, NotMade};
pub(crate) use task_reply::TaskReply;
pub(crate) use view::{View, owner_of};
