//! Fetching: reads what a URI names, within limits, and nothing else.
//!
//! # Theory of operation
//!
//! Each kind of source has a type that holds what an operator has allowed, and one way to read:
//!
//! - [`Roots`] reads files beneath folders. The kernel resolves the path and refuses whatever leads out
//!   (`file/beneath.rs`), so that there is no moment between a check and its use. If it cannot, we go name by name
//!   ourselves (`file/walk.rs`).
//! - [`Https`] reads from allowed hosts. The URL is parsed strictly (`hosts/url.rs`), the host must be allowed
//!   (`hosts/rules.rs`), every address it has must be public (`hosts/address.rs`), and the connection goes to an
//!   address that was checked, not to the name (`hosts/vetted.rs`). Redirects are reported, not followed.
//! - [`Git`] reads a file from a repository, with the installed `git`, which gets the same restrictions as `Https`.
//! - [`OperatorClient`] asks servers that the operator names, such as the issuer of tokens: private addresses too.
//! - [`echo()`] returns what the URI itself contains.
//!
//! [`sniff()`] detects the type of bytes, and [`download()`] writes what [`Https`] reads to a file.
//!
//! # Decisions
//!
//! - Everything is refused unless it is allowed: without roots no file is read, and without a list of hosts none is
//!   reached.
//! - No setting opens private addresses to URIs of clients and projects. Tests reach a server of their own through the [`Network`], which takes the
//!   place of the operating system: after every decision.
//! - Certificates are those of the system. The operator maintains them, including a company's own authority, and no
//!   list of ours could become outdated inside a binary.
//! - We ask for no compression and accept none, so that the limit on size means what it says.
//! - Settings arrive as values. The environment only says where the system keeps its certificates and programs.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod download;
mod echo;
mod error;
mod file;
mod git;
mod hosts;
mod https;
mod operator_server;
mod sniff;
#[cfg(test)]
mod tests;

pub use download::{Download, DownloadError, Downloaded, download};
pub use echo::echo;
pub use error::{ErrorKind, FetchError};
pub use file::{FileContent, Roots};
pub use git::{Git, GitPolicy};
pub use hosts::{
    AddressError, HostList, HostListError, HostRules, Network, NetworkFuture, SystemNetwork, UrlError,
    connect_to, vetted,
};
pub use https::{Https, HttpsPolicy, Response, Trust};
pub use operator_server::{Answer, OperatorClient, OperatorUrl, Reply};
pub use sniff::{Sniffed, sniff};
