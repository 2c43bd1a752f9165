//! Serving: connections are accepted, served and drained.

pub(in crate::http) mod accept;
pub(in crate::http) mod connection_threads;
pub(in crate::http) mod drain;
pub(in crate::http) mod health_listener;
pub(in crate::http) mod serve;
