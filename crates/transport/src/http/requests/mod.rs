//! Requests: their checks and their handlers.

pub(in crate::http) mod accepts;
pub(in crate::http) mod body;
pub(in crate::http) mod endpoint;
pub(in crate::http) mod headers;
pub(in crate::http) mod incoming;
pub(in crate::http) mod message;
pub(in crate::http) mod old_sse;
pub(in crate::http) mod post;
pub(in crate::http) mod resource_metadata;
pub(in crate::http) mod respond;
pub(in crate::http) mod router;
pub(in crate::http) mod session_requests;
