//! HTTPS policy: what an operator allows.

use crate::hosts::HostRules;
use std::time::Duration;

/// No setting exceeds these limits.
const LONGEST: Duration = Duration::from_secs(60);
const LARGEST: u64 = 20 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct HttpsPolicy {
    pub hosts: HostRules,
    /// The timeout of the whole request: resolving, connecting, and reading the response. At most 60 s.
    pub timeout: Duration,
    /// At most 20 MiB are read.
    pub max_bytes: u64,
    pub user_agent: Option<String>,
}

impl Default for HttpsPolicy {
    fn default() -> Self {
        Self {
            hosts: HostRules::default(),
            timeout: Duration::from_secs(15),
            max_bytes: 10 * 1024 * 1024,
            user_agent: None,
        }
    }
}

impl HttpsPolicy {
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.min(LONGEST)
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes.min(LARGEST)
    }
}
