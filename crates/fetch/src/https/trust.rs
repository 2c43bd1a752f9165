//! Trusted certificates, by which a server is recognised.

use crate::error::FetchError;
use mcp_bash_runner::on_own_thread;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

#[derive(Debug, Clone)]
pub enum Trust {
    /// Those that the system trusts. `SSL_CERT_FILE` and `SSL_CERT_DIR` say where they are, as for other programs.
    System,
    /// These and no others.
    Only(Vec<CertificateDer<'static>>),
}

impl Trust {
    /// The certificates of a PEM file and no others. `None` if there is none in it.
    pub fn only_pem(pem: &[u8]) -> Option<Self> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        certificates.ok().filter(|certificates| !certificates.is_empty()).map(Self::Only)
    }

    /// The settings of connections that recognise servers by these certificates.
    pub async fn client_config(&self) -> Result<Arc<ClientConfig>, FetchError> {
        let mut roots = RootCertStore::empty();
        match self {
            Self::System => {
                let loaded = on_own_thread(rustls_native_certs::load_native_certs).await;
                let loaded = loaded.ok_or(FetchError::NoCertificates)?;
                roots.add_parsable_certificates(loaded.certs);
            }
            Self::Only(certificates) => {
                roots.add_parsable_certificates(certificates.iter().cloned());
            }
        }
        if roots.is_empty() {
            return Err(FetchError::NoCertificates);
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider speaks the versions it brings along")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
