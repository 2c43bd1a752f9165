//! Logging: events for the operator and for clients, message observers, and metrics.

mod audience;
mod facts;
pub(crate) mod log;
mod log_file;
pub(crate) mod meter;
mod observer;
mod payloads;
mod start_warnings;
mod subscriber;
pub(crate) mod worker_news;

pub(crate) use facts::{Facts, SchemaRule};
pub use log::{Log, Operator, Style};
pub use meter::{EndedSession, ErrorType, Meter, OTHER, Operation};
pub(crate) use meter::{Measured, MeasuredReply, MeasuredSession};
pub use observer::Observer;
pub(crate) use observer::Observers;
pub(crate) use payloads::Payloads;
pub(crate) use subscriber::{ListChange, Subscriber};
