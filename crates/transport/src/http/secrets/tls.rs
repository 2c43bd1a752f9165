//! TLS: the server certificate, its key and the authorities of client certificates, read again when their files change.

use crate::http::limits::identity_options::{CertificateName, ClientCertificates};
use crate::http::limits::options::TlsFiles;
use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_public, read_secret};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

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
    #[error("`{}` cannot be used to verify client certificates: {words}", path.display())]
    Authorities { path: PathBuf, words: String },
    #[error("`{}` holds no list of revoked certificates; it should have lines such as `-----BEGIN X509 CRL-----`", .0.display())]
    NoRevocationList(PathBuf),
}

pub(crate) struct Tls {
    files: TlsFiles,
    current: Mutex<Current>,
    report: Report,
}

struct Current {
    acceptor: TlsAcceptor,
    changes: Changes,
}

impl Tls {
    /// `report` receives the error if changed files cannot be used.
    pub(crate) fn open(files: &TlsFiles, report: Report) -> Result<Self, TlsError> {
        let clients = files.clients.as_ref();
        let mut paths = vec![&*files.certificate, &*files.key];
        paths.extend(clients.map(|clients| &*clients.authorities));
        paths.extend(clients.and_then(|clients| clients.revoked.as_deref()));
        let changes = Changes::of(&paths);
        let current = Mutex::new(Current { acceptor: acceptor(files)?, changes });
        Ok(Self { files: files.clone(), current, report })
    }

    /// Which part of a client certificate names the caller.
    pub(crate) fn client_name(&self) -> CertificateName {
        self.files.clients.as_ref().map(|clients| clients.name).unwrap_or_default()
    }

    /// The acceptor for the next connection, with the newest usable certificate.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor_at(Instant::now())
    }

    fn acceptor_at(&self, now: Instant) -> TlsAcceptor {
        let mut current = self.current.lock();
        if current.changes.detected(now) {
            match acceptor(&self.files) {
                Ok(acceptor) => current.acceptor = acceptor,
                // Certificate and key may be replaced one after the other; the second change is detected too.
                Err(error) => {
                    (self.report)(format!("the previous certificates stay in use: {error}"));
                    if matches!(&error, TlsError::File(file) if file.is_shortage()) {
                        current.changes.invalidate();
                    }
                }
            }
        }
        current.acceptor.clone()
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read_public(path)?).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or_else(|| TlsError::NoCertificate(path.to_owned()))
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let TlsFiles { certificate, key, clients } = files;
    let chain = certificates(certificate)?;
    let private =
        PrivateKeyDer::from_pem_slice(&read_secret(key)?).map_err(|_| TlsError::NoKey(key.to_owned()))?;
    let unusable =
        |error| TlsError::Unusable { certificate: certificate.to_owned(), key: key.to_owned(), error };
    let provider = Arc::new(ring::default_provider());
    let clients = clients.as_ref().map(|clients| verifier(clients, &provider)).transpose()?;
    let verifies = clients.is_some();
    let clients = clients.unwrap_or_else(WebPkiClientVerifier::no_client_auth);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_client_cert_verifier(clients).with_single_cert(chain, private))
        .map_err(unusable)?;
    if verifies {
        // Session resumption is disabled: a resumed session would not verify the client certificate again, even if it was
        // revoked since.
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Creates the verifier of client certificates.
fn verifier(
    clients: &ClientCertificates,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let unusable = |words: String| TlsError::Authorities { path: clients.authorities.clone(), words };
    let mut roots = RootCertStore::empty();
    for authority in certificates(&clients.authorities)? {
        roots.add(authority).map_err(|error| unusable(error.to_string()))?;
    }
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    if let Some(path) = &clients.revoked {
        let lists: Result<Vec<_>, _> =
            CertificateRevocationListDer::pem_slice_iter(&read_public(path)?).collect();
        let lists = lists.ok().filter(|lists| !lists.is_empty());
        let lists = lists.ok_or_else(|| TlsError::NoRevocationList(path.clone()))?;
        builder = builder.with_crls(lists).only_check_end_entity_revocation();
    }
    if clients.is_optional {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests;
