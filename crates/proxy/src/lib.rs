//! Proxy: the only way out of a network namespace whose tool declares a list of hosts.
//!
//! # Theory of operation
//!
//! A confined process sees a loopback interface and nothing else. On it, a socket of ours listens: it was created inside
//! the namespace, and is served by a task outside it.
//!
//! - [`Proxy::serve`] accepts connections (`connections.rs`). The first byte of each says whether it is SOCKS5
//!   (`socks.rs`) or HTTP (`http/`): a `CONNECT`, or a plain request with an absolute URL.
//! - The requested host must be listed. Then its name is resolved, here and once, and every address is judged; the
//!   connection goes to an address that was judged (`reach.rs`).
//! - Bytes are relayed until both sides have finished (`relay.rs`).
//! - A refusal is reported in the words of the protocol, and to the owner of the proxy ([`Observer`]), because many
//!   programs hide the words of a proxy.
//! - [`bridge()`] connects a port of the namespace with the same port of this machine, for programs that do not use a
//!   proxy, such as clients of databases.
//! - [`variables()`] are the environment variables that make programs use the proxy.
//!
//! # Decisions
//!
//! - A name that is not listed is not resolved: a query to a DNS server can carry data out as well.
//! - An address that is not public is reached only if the list names that very address.
//! - The proxy does not look into tunnels. Who may reach a host may send it anything, under any TLS server name.
//! - A connection lasts as long as the future that serves it, without an idle timeout: the call has one.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod bridge;
mod connections;
mod http;
mod proxy;
mod reach;
mod refusal;
mod relay;
mod request;
mod socks;
#[cfg(test)]
mod tests;
mod variables;

pub use bridge::bridge;
pub use proxy::{Observer, Proxy};
pub use refusal::{Reason, Refusal};
pub use variables::variables;
