//! Wire format: JSON-RPC 2.0 messages, ids, errors, the table of MCP revisions, and the framing of messages as lines.
//!
//! # Theory of operation
//!
//! A connection hands its bytes to [`Lines`], which cuts them into lines of bounded length. [`decode`] reads one line
//! in a single pass: the [`Scanner`] checks that it is JSON within the limits, and records the positions of the
//! envelope's members. Nothing else is interpreted. Everything that is passed on (`params`, ids, tokens) is a [`Raw`]
//! slice of the line, so that key order, large integers and `1.10` survive. A reader of members of `params` takes an
//! [`Object`] view of it, which costs one more pass and no copy.
//!
//! Everything here is a pure function of its input: there is no runtime, no file, no clock.

mod cursor;
mod error;
mod id;
mod level;
mod lines;
mod message;
mod meta;
mod object;
mod raw;
mod revision;
mod scan;
pub mod surrogates;
pub mod write;

pub use cursor::Cursor;
pub use error::{RpcError, code, in_part};
pub use id::Id;
pub use level::LogLevel;
pub use lines::{Line, Lines};
pub use message::{
    Decoded, Incoming, Notification, Refusal, Request, Response, decode, decode_element, refuse_oversized,
};
pub use meta::{RequestMeta, keys};
pub use object::{Object, ObjectError};
pub use raw::{Raw, RawBuf};
pub use revision::{Era, Revision};
pub use scan::{Limits, ScanError, Scanner};
