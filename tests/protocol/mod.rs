//! The protocol over standard input and output: messages, ids, handshakes, eras, notifications.

mod batches;
mod cancellation;
mod concurrency;
mod conformance_contents;
mod handshake;
mod ids;
mod inputs;
mod limits;
mod listen;
mod minimal;
mod pagination;
mod panics;
mod progress;
mod required_capabilities;
mod rmcp_client;
mod stateless;
mod stdout;
mod subscriptions;
mod trace_context;
mod wire;
