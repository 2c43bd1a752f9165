//! The binary as its users meet it: real processes, real pipes, one module for each feature.

mod batches;
mod cancellation;
mod concurrency;
mod demo;
mod diagnostics;
mod discovery;
mod endings;
mod guard;
mod handshake;
mod harness;
mod health;
mod limits;
mod minimal;
mod panics;
mod policy;
mod progress;
mod reference;
mod registration;
mod results;
mod rmcp_client;
mod startup;
mod stateless;
mod stdout;
mod wire;
