//! Streamable HTTP: sessions, streams, callers, rights, hostile clients, metrics.

mod basics;
mod caller_names;
pub(crate) mod callers;
mod consent;
mod doors;
mod half_close;
mod headers;
mod hostile;
mod metrics;
mod open_files;
mod parked;
mod rights;
mod rmcp;
mod roles;
mod sessions;
mod tokens;
