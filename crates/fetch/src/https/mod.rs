//! HTTPS: reads from allowed hosts.

pub(crate) mod exchange;
mod policy;
mod trust;

pub use exchange::Response;
pub use policy::HttpsPolicy;
pub use trust::Trust;

use crate::error::FetchError;
use crate::hosts::{HttpsUrl, Network, Settings, SystemNetwork, connect_to, public_addresses};
use std::sync::{Arc, OnceLock};
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

const SETTINGS: Settings = Settings { allow: "MCPBASH_HTTPS_ALLOW_HOSTS", deny: "MCPBASH_HTTPS_DENY_HOSTS" };

pub struct Https {
    policy: HttpsPolicy,
    network: Arc<dyn Network>,
    trust: Trust,
    /// Made when it is first needed: reading the certificates of the system takes a while.
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Https {
    pub fn new(policy: HttpsPolicy) -> Self {
        Self::with(policy, Arc::new(SystemNetwork), Trust::System)
    }

    /// Uses another network and other certificates than the system's.
    pub fn with(policy: HttpsPolicy, network: Arc<dyn Network>, trust: Trust) -> Self {
        Self { policy, network, trust, tls: OnceLock::new() }
    }

    pub fn policy(&self) -> &HttpsPolicy {
        &self.policy
    }

    /// The response to a `GET`, if it is a success.
    pub async fn get(&self, url: &str) -> Result<Response, FetchError> {
        self.get_by(url, &self.policy).await
    }

    /// The same with another policy.
    pub(crate) async fn get_by(&self, url: &str, policy: &HttpsPolicy) -> Result<Response, FetchError> {
        let url = HttpsUrl::parse(url)
            .map_err(|error| FetchError::Url { url: url.chars().take(200).collect(), error })?;
        policy.hosts.check(&url, SETTINGS)?;
        let within = policy.timeout();
        let host = url.authority();
        timeout(within, self.fetch(&url, policy)).await.unwrap_or(Err(FetchError::TimedOut {
            host,
            within,
            setting: "MCPBASH_HTTPS_TIMEOUT",
        }))
    }

    async fn fetch(&self, url: &HttpsUrl, policy: &HttpsPolicy) -> Result<Response, FetchError> {
        let addresses = public_addresses(&*self.network, url).await?;
        let tls = if let Some(tls) = self.tls.get() {
            tls
        } else {
            let tls = self.trust.client_config().await?;
            self.tls.get_or_init(|| tls)
        };
        let stream = connect_to(&*self.network, &addresses)
            .await
            .map_err(|error| FetchError::Unreachable { host: url.authority(), error })?;
        exchange::get(url, policy, stream, Arc::clone(tls)).await
    }
}
