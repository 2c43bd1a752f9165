//! Reads what a URI names, within limits, and nothing else.
//!
//! # Theory of operation
//!
//! Each kind of source has a type that holds what an operator has allowed, and one way to read:
//!
//! - [`Roots`] reads files beneath folders. The kernel resolves the path and refuses whatever leads out
//!   (`file/beneath.rs`), so that there is no moment between a check and its use. Where it cannot, we go from name to
//!   name ourselves (`file/walk.rs`).
//! - [`Https`] reads from hosts that are allowed. The URL is read strictly (`hosts/url.rs`), the host must be allowed
//!   (`hosts/rules.rs`), every address it has must be public (`hosts/address.rs`), and the connection goes to an
//!   address that was looked at, not to the name (`hosts/vetted.rs`). Redirects are reported, not followed.
//! - [`Git`] reads a file from a repository, by the installed `git`, which is told as much as `Https` does itself.
//! - [`echo()`] reads what the URI itself says.
//!
//! [`sniff()`] says what bytes are, and [`download()`] puts what [`Https`] reads into a file.
//!
//! # Decisions
//!
//! - What is not allowed is refused: without roots no file is read, and without a list of hosts none is reached.
//! - There is no setting that opens private addresses. Tests reach a server of their own through the [`Network`], which
//!   stands where the operating system does: after everything was decided.
//! - Certificates are those of the system. They are what the operator maintains, a company's own authority included,
//!   and no list of ours could become old inside of a binary.
//! - We ask for no compression and take none, so that the limit on size means what it says.
//! - Settings arrive as values. The environment only says where the system keeps its certificates and programs.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod download;
mod echo;
mod error;
mod file;
mod git;
mod hosts;
mod https;
mod sniff;
#[cfg(test)]
mod tests;

pub use download::{Download, DownloadError, Downloaded, download};
pub use echo::echo;
pub use error::{ErrorKind, FetchError};
pub use file::{FileContent, Roots};
pub use git::{Git, GitPolicy};
pub use hosts::{
    HostError, HostList, HostListError, HostRules, Network, NetworkFuture, SystemNetwork, UrlError,
};
pub use https::{Https, HttpsPolicy, Response, Trust};
pub use sniff::{Sniffed, sniff};
