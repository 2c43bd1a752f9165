//! Offered: the served project: its snapshot, lists and schemas, its resources and their subscriptions.

mod added_arguments;
mod judging;
mod listing;
mod resources;
mod schemas;
mod served;
mod subscriptions;
mod tool_facts;

pub(crate) use judging::{Asker, Policed, PolicyRefusal, Ruling};
pub(crate) use listing::Snapshot;
pub(crate) use resources::{Failure, ResourceContent, Resources};
pub(crate) use schemas::{Broken, Schemas, Unfit};
pub use served::Served;
pub(crate) use subscriptions::{Follower, Subscriptions, Wanting};
