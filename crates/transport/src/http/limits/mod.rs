//! Limits: options, rates, connections and slow-client timeouts.

pub(in crate::http) mod connections;
pub(in crate::http) mod identity_options;
pub(in crate::http) mod options;
pub(in crate::http) mod rate;
pub(in crate::http) mod shared_rate;
pub(in crate::http) mod slow_client_timeout;
