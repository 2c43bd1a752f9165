//! Offered: what the project offers: the snapshot that is served, its lists and schemas, resources and their
//! subscriptions.

mod added_arguments;
mod listing;
mod resources;
mod schemas;
mod served;
mod subscriptions;

pub(crate) use listing::Snapshot;
pub(crate) use resources::{Failure, Resources};
pub(crate) use schemas::{Broken, Schemas, Unfit};
pub use served::Served;
pub(crate) use subscriptions::{Subscriptions, Wanting};
