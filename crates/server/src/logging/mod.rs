//! Logging: events for the operator and for clients, message observers, metrics, and the audit log.

mod audience;
mod audit_log;
mod audited;
mod error_type;
mod facts;
pub(crate) mod log;
mod log_file;
pub(crate) mod meter;
mod observer;
mod payloads;
mod start_warnings;
mod subscriber;
pub(crate) mod worker_news;

pub use audit_log::AuditLog;
pub(crate) use audited::{Audited, UnwrittenLine};
pub use error_type::ErrorType;
pub(crate) use facts::{Facts, SchemaRule};
pub use log::{Log, Operator, Style};
pub use meter::{EndedSession, Meter, OTHER, Operation};
pub(crate) use meter::{Measured, MeasuredReply, MeasuredSession};
pub use observer::Observer;
pub(crate) use observer::Observers;
pub(crate) use payloads::Payloads;
pub(crate) use subscriber::{ListChange, Subscriber};
