//! Hosts: which hosts may be reached, and at which addresses.

mod address;
mod network;
mod rules;
mod url;
mod vetted;

#[cfg(test)]
pub(crate) use address::not_public;
pub use network::{Network, NetworkFuture, SystemNetwork};
pub(crate) use rules::Settings;
pub use rules::{HostList, HostListError, HostRules};
pub(crate) use url::HttpsUrl;
pub use url::UrlError;
pub(crate) use vetted::public_addresses;
pub use vetted::{AddressError, connect_to, vetted};
