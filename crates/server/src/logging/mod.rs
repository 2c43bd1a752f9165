//! Logging: events for the operator and for clients, message observers, metrics, spans, and the audit log.

mod audience;
mod audit_log;
mod audited;
mod child_span;
mod error_type;
pub(crate) mod exported_metrics;
mod facts;
pub(crate) mod log;
mod log_file;
mod measurements;
pub(crate) mod meter;
mod observer;
mod payloads;
mod refusal_lines;
mod request_span;
mod start_warnings;
mod subscriber;
mod tracer;
pub(crate) mod worker_news;

pub use audit_log::AuditLog;
pub(crate) use audited::{Audited, FollowedResource, Related, UnwrittenLine};
pub(crate) use child_span::ChildSpan;
pub use error_type::ErrorType;
pub(crate) use exported_metrics::Moment;
pub(crate) use facts::{Facts, SchemaRule};
pub use log::{Log, Operator, Style};
pub use measurements::{ErrorLabel, MeasuredOperation, Measurements, OperationKind};
pub use meter::{EndedSession, Meter, OTHER, Operation};
pub(crate) use meter::{Measured, MeasuredReply, MeasuredSession};
pub use observer::Observer;
pub(crate) use observer::Observers;
pub(crate) use payloads::Payloads;
pub(crate) use request_span::RequestSpan;
pub(crate) use subscriber::{ListChange, Subscriber};
pub use tracer::Network;
pub(crate) use tracer::Tracer;
