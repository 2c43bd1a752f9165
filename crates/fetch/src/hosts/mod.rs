//! Which hosts may be reached, and at which addresses.

mod address;
mod host;
mod network;
mod rules;
mod url;
mod vetted;

pub use address::not_public;
pub use host::{Host, HostError};
pub use network::{Answer, Network, SystemNetwork};
pub(crate) use rules::Settings;
pub use rules::{HostList, HostListError, HostRules};
pub use url::{HttpsUrl, UrlError};
pub(crate) use vetted::vetted;
