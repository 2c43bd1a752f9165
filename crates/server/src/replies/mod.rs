//! Replies: where responses are sent, and how results are formed.

pub(crate) mod definitions;
mod members;
pub(crate) mod redacted;
mod redaction;
pub(crate) mod reply;
pub(crate) mod result_redaction;
pub(crate) mod script_errors;
pub(crate) mod shape;
mod short_paths;

pub(crate) use members::Members;
pub use redaction::{Redaction, Unshowable};
pub use reply::{Reply, Stream};
pub(crate) use shape::{Answer, Content, RenderedResult};
pub(crate) use short_paths::ShortPaths;
