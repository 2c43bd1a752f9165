//! Definitions: what function files and providers report about themselves.

pub(crate) mod failed_loads;
pub(crate) mod provider_list;
pub(crate) mod reading;
pub(crate) mod readings;
