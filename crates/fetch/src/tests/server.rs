//! Test server, and the network through which it is found.
//!
//! The network resolves and connects as a test wishes. It comes after every decision, so that a server on this machine
//! can be reached at an address that all checks take for public.

use crate::{Https, HttpsPolicy, Network, NetworkFuture, Trust};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;

/// The public address of the server.
pub(super) const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));

pub(super) struct Request {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub(super) enum Reply {
    /// These bytes, and then the connection closes.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing, while the connection stays open.
    Stall(Vec<u8>),
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes())
    }
}

/// A complete answer.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> Reply {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into()
}

pub(super) struct Server {
    pub(super) port: u16,
    pub(super) certificate: CertificateDer<'static>,
    pub(super) certificate_pem: String,
    heads: Arc<Mutex<Vec<String>>>,
    arrivals: Arc<Semaphore>,
    departures: Arc<Semaphore>,
}

impl Server {
    /// Answers requests to this name, each on its own connection, until the test is over.
    pub(super) async fn start(name: &str, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let certificate = cert.der().clone();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], signing_key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (arrivals, departures) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (come, gone) = (Arc::clone(&arrivals), Arc::clone(&departures));
        let (noted, reply) = (Arc::clone(&heads), Arc::new(reply));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, noted, reply) = (acceptor.clone(), Arc::clone(&noted), Arc::clone(&reply));
                let (arrivals, departures) = (Arc::clone(&come), Arc::clone(&gone));
                tokio::spawn(async move {
                    let mut stream = acceptor.accept(stream).await?;
                    let request = read_request(&mut stream).await?;
                    noted.lock().unwrap().push(request.head.clone());
                    match reply(&request) {
                        Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
                        Reply::Stall(bytes) => {
                            stream.write_all(&bytes).await?;
                            stream.flush().await?;
                            arrivals.add_permits(1);
                            // However it ends, the client has disconnected.
                            let _ = stream.read_to_end(&mut Vec::new()).await;
                            departures.add_permits(1);
                        }
                    }
                    stream.shutdown().await
                });
            }
        });
        Self { port, certificate, certificate_pem: cert.pem(), heads, arrivals, departures }
    }

    /// The heads of the requests so far.
    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Waits until a client is kept waiting.
    pub(super) async fn arrival(&self) {
        Self::event(&self.arrivals).await;
    }

    /// Waits until a client that was kept waiting has disconnected.
    pub(super) async fn departure(&self) {
        Self::event(&self.departures).await;
    }

    async fn event(events: &Semaphore) {
        let event = tokio::time::timeout(Duration::from_secs(60), events.acquire()).await;
        event.expect("it has not happened in a minute").unwrap().forget();
    }

    pub(super) fn network(&self) -> Arc<TestNetwork> {
        TestNetwork::new(vec![vec![PUBLIC]], Some(self.port))
    }

    /// A client that trusts this server, and finds it under any name.
    pub(super) fn https(&self, policy: HttpsPolicy) -> Https {
        Https::with(policy, self.network(), Trust::Only(vec![self.certificate.clone()]))
    }
}

async fn read_request(stream: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut request = Request { head, body: bytes[end + 4..].to_vec() };
    let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while request.body.len() < length {
        stream.read_buf(&mut request.body).await?;
    }
    Ok(request)
}

/// Gives its answers in order, then repeats the last one, and records what it is asked.
pub(super) struct TestNetwork {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    port: Option<u16>,
    resolved: Mutex<Vec<String>>,
    connected: Mutex<Vec<SocketAddr>>,
}

impl TestNetwork {
    /// With a port, all addresses lead to that port of this machine. Without one, no address answers.
    pub(super) fn new(answers: Vec<Vec<IpAddr>>, port: Option<u16>) -> Arc<Self> {
        let answers = Mutex::new(answers.into());
        Arc::new(Self { answers, port, resolved: Mutex::default(), connected: Mutex::default() })
    }

    pub(super) fn resolved(&self) -> Vec<String> {
        self.resolved.lock().unwrap().clone()
    }

    pub(super) fn connected(&self) -> Vec<SocketAddr> {
        self.connected.lock().unwrap().clone()
    }
}

impl Network for TestNetwork {
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>> {
        self.resolved.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }

    fn connect(&self, address: SocketAddr) -> NetworkFuture<'_, TcpStream> {
        self.connected.lock().unwrap().push(address);
        match self.port {
            Some(port) => Box::pin(TcpStream::connect((Ipv4Addr::LOCALHOST, port))),
            None => Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }),
        }
    }
}
