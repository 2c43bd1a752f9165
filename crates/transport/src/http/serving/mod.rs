//! Serving: accepts, serves and drains connections.

pub(in crate::http) mod accept;
pub(in crate::http) mod connection_threads;
pub(in crate::http) mod drain;
pub(in crate::http) mod health_listener;
pub(in crate::http) mod serve;
