//! HTTPS: reads from allowed hosts.

mod exchange;
mod policy;
mod trust;

pub use exchange::Response;
pub use policy::HttpsPolicy;
pub use trust::Trust;

use crate::error::FetchError;
use crate::hosts::{HttpsUrl, Network, Settings, SystemNetwork, vetted};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

/// The connect timeout of one address, so that a dead address does not use up the time of the others.
const CONNECT_TIME: Duration = Duration::from_secs(5);

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
        let addresses = vetted(&*self.network, url).await?;
        let tls = if let Some(tls) = self.tls.get() {
            tls
        } else {
            let tls = self.trust.client_config().await?;
            self.tls.get_or_init(|| tls)
        };
        let stream = self.connect(url, addresses).await?;
        exchange::get(url, policy, stream, Arc::clone(tls)).await
    }

    async fn connect(&self, url: &HttpsUrl, addresses: Vec<SocketAddr>) -> Result<TcpStream, FetchError> {
        let mut failure = io::Error::from(io::ErrorKind::NotConnected);
        for address in addresses {
            match timeout(CONNECT_TIME, self.network.connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = error,
                Err(elapsed) => failure = elapsed.into(),
            }
        }
        Err(FetchError::Unreachable { host: url.authority(), error: failure })
    }
}
