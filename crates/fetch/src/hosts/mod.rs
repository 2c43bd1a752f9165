//! Hosts: which hosts may be reached, and at which addresses.

mod address;
mod host;
mod network;
mod rules;
mod url;
mod vetted;

#[cfg(test)]
pub(crate) use address::not_public;
pub(crate) use host::Host;
pub use host::HostError;
pub use network::{Network, NetworkFuture, SystemNetwork};
pub(crate) use rules::Settings;
pub use rules::{HostList, HostListError, HostRules};
pub(crate) use url::HttpsUrl;
pub use url::UrlError;
pub(crate) use vetted::vetted;
