//! TLS: a certificate and its key, read again when the files change.

use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_public, read_secret};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error(transparent)]
    File(#[from] GuardedFileError),
    #[error("`{}` holds no certificate; it should have lines such as `-----BEGIN CERTIFICATE-----`", .0.display())]
    NoCertificate(PathBuf),
    #[error(
        "`{}` holds no key that can be read; it should have lines such as `-----BEGIN PRIVATE KEY-----`, and not be encrypted",
        .0.display()
    )]
    NoKey(PathBuf),
    #[error("`{}` and `{}` cannot be used together: {error}", certificate.display(), key.display())]
    Unusable { certificate: PathBuf, key: PathBuf, error: rustls::Error },
}

pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
    report: Report,
}

struct Current {
    acceptor: TlsAcceptor,
    changes: Changes,
}

impl Tls {
    /// `report` is told of a new certificate that cannot be used.
    pub(crate) fn open(certificate: &Path, key: &Path, report: Report) -> Result<Self, TlsError> {
        let changes = Changes::of(&[certificate, key]);
        let acceptor = acceptor(certificate, key)?;
        let current = Mutex::new(Current { acceptor, changes });
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current, report })
    }

    /// What encrypts the next connection: by the newest certificate that can be used.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor_at(Instant::now())
    }

    fn acceptor_at(&self, now: Instant) -> TlsAcceptor {
        let mut current = self.current.lock();
        if current.changes.are_there(now) {
            match acceptor(&self.certificate, &self.key) {
                Ok(acceptor) => current.acceptor = acceptor,
                // The two files may be replaced one after the other; the second change is seen too.
                Err(error) => {
                    (self.report)(format!("the certificate from before stays in use: {error}"));
                    if matches!(&error, TlsError::File(file) if file.is_shortage()) {
                        current.changes.look_again();
                    }
                }
            }
        }
        current.acceptor.clone()
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read_public(certificate)?).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| TlsError::NoCertificate(certificate.to_owned()))?;
    let private =
        PrivateKeyDer::from_pem_slice(&read_secret(key)?).map_err(|_| TlsError::NoKey(key.to_owned()))?;
    let unusable =
        |error| TlsError::Unusable { certificate: certificate.to_owned(), key: key.to_owned(), error };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests;
