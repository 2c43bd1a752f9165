//! TLS to the database. The certificate and its name are always verified.

use crate::{Address, DatabaseError};
use ring::digest::{SHA256, digest};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as RustlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the certificates of the system, and those that the address names.
    pub(crate) fn new(address: &Address) -> Result<Self, DatabaseError> {
        let mut roots = RootCertStore::empty();
        match &address.trusted {
            Some(path) => {
                let broken = |problem: String| DatabaseError::Certificate { path: path.clone(), problem };
                let certificates =
                    CertificateDer::pem_file_iter(path).map_err(|error| broken(error.to_string()))?;
                for certificate in certificates {
                    let certificate = certificate.map_err(|error| broken(error.to_string()))?;
                    roots.add(certificate).map_err(|error| broken(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(broken("there is no certificate in it".to_owned()));
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = Infallible;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Infallible> {
        // A socket in a folder has no name, and its server offers no TLS.
        let host = ServerName::try_from(host).ok().map(|host| host.to_owned());
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), host })
    }
}

pub(crate) struct Handshake {
    connector: TlsConnector,
    host: Option<ServerName<'static>>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let no_name = || {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "its host has no name that a certificate could have",
                )
            };
            let host = self.host.ok_or_else(no_name)?;
            self.connector.connect(host, stream).await.map(|stream| Encrypted(Box::new(stream)))
        })
    }
}

pub(crate) struct Encrypted<S>(Box<RustlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    /// Binds the password exchange to this connection, for certificates that are signed with SHA-256, as nearly all are.
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        match session.peer_certificates() {
            Some([first, ..]) if is_signed_with_sha256(first) => {
                ChannelBinding::tls_server_end_point(digest(&SHA256, first).as_ref().to_vec())
            }
            _ => ChannelBinding::none(),
        }
    }
}

/// Whether the algorithm that signed a certificate hashes with SHA-256: the object identifiers of RSA and ECDSA with it.
fn is_signed_with_sha256(certificate: &[u8]) -> bool {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
    let has = |name: &[u8]| certificate.windows(name.len()).any(|window| window == name);
    has(RSA) || has(ECDSA)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
