//! Stage: a proxy, servers behind it, and the network through which it finds them.
//!
//! The network resolves names as a test wishes. Addresses that are not of the loopback network lead to a server of the
//! test, so that a test reaches no other machine.

use crate::{Observer, Proxy, Reason, Refusal};
use mcp_bash_fetch::{Network, NetworkFuture};
use mcp_bash_sandbox::{Host, HostList};
use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A public address.
pub(super) const PUBLIC: &str = "93.184.216.34";

/// An address that never answers.
pub(super) const SILENT: &str = "93.184.216.35";

/// A name that is never resolved.
pub(super) const UNANSWERED: &str = "unanswered.example";

#[derive(Default)]
pub(super) struct TestNetwork {
    names: HashMap<String, Vec<IpAddr>>,
    /// The port of this machine to which addresses of other machines lead.
    server: Option<u16>,
    resolved: Mutex<Vec<String>>,
    connected: Mutex<Vec<SocketAddr>>,
}

impl Network for TestNetwork {
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>> {
        self.resolved.lock().unwrap().push(name.to_owned());
        if name == UNANSWERED {
            return Box::pin(pending());
        }
        Box::pin(async move { self.names.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }

    fn connect(&self, address: SocketAddr) -> NetworkFuture<'_, TcpStream> {
        self.connected.lock().unwrap().push(address);
        if address.ip().to_string() == SILENT {
            return Box::pin(pending());
        }
        match self.server {
            _ if address.ip().is_loopback() => Box::pin(TcpStream::connect(address)),
            Some(port) => Box::pin(TcpStream::connect((Ipv4Addr::LOCALHOST, port))),
            None => Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }),
        }
    }
}

/// What a proxy reports.
#[derive(Default)]
struct Reports {
    refusals: Mutex<Vec<Refusal>>,
    connected: Mutex<Vec<String>>,
}

impl Observer for Reports {
    fn refused(&self, refusal: Refusal) {
        self.refusals.lock().unwrap().push(refusal);
    }

    fn connected(&self, host: &Host, port: u16) {
        self.connected.lock().unwrap().push(format!("{host}:{port}"));
    }
}

/// A proxy that runs until it is dropped.
pub(super) struct Stage {
    pub(super) port: u16,
    network: Arc<TestNetwork>,
    reports: Arc<Reports>,
    pub(super) task: JoinHandle<()>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stage {
    /// A proxy with this list. All names in `names` have the addresses beside them; all addresses of other machines lead
    /// to the server at the port.
    pub(super) fn new(list: &[&str], names: &[(&str, &[&str])], server: Option<u16>) -> Self {
        let parsed = |addresses: &[&str]| addresses.iter().map(|address| address.parse().unwrap()).collect();
        let names = names.iter().map(|(name, addresses)| ((*name).to_owned(), parsed(addresses)));
        let network = Arc::new(TestNetwork { names: names.collect(), server, ..TestNetwork::default() });
        let reports = Arc::new(Reports::default());
        let proxy = Proxy::with(HostList::parse(list).unwrap(), reports.clone(), network.clone());
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move { drop(Arc::new(proxy).serve(listener).await) });
        Self { port, network, reports, task }
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.unwrap()
    }

    /// Sends bytes and returns everything that is answered. The client stays able to send.
    pub(super) async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut client = self.connect().await;
        client.write_all(bytes.as_ref()).await.unwrap();
        read_all(&mut client).await
    }

    /// A tunnel that was asked for with `CONNECT`.
    pub(super) async fn tunnel(&self, authority: &str) -> TcpStream {
        let mut client = self.connect().await;
        client.write_all(format!("CONNECT {authority} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
        let head = read_head(&mut client).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        client
    }

    pub(super) fn refusals(&self) -> Vec<Refusal> {
        self.reports.refusals.lock().unwrap().clone()
    }

    /// The hosts that the proxy reports as reached.
    pub(super) fn reached(&self) -> Vec<String> {
        self.reports.connected.lock().unwrap().clone()
    }

    /// The reasons of all refusals.
    pub(super) fn reasons(&self) -> Vec<Reason> {
        self.refusals().into_iter().map(|refusal| refusal.reason).collect()
    }

    pub(super) fn resolved(&self) -> Vec<String> {
        self.network.resolved.lock().unwrap().clone()
    }

    /// The addresses to which a connection was attempted.
    pub(super) fn connected(&self) -> Vec<String> {
        self.network.connected.lock().unwrap().iter().map(SocketAddr::to_string).collect()
    }
}

pub(super) async fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The head of an HTTP message, and no byte more.
pub(super) async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server that sends back what it receives, and `end` when its client has finished sending.
pub(super) async fn echo() -> u16 {
    serve(IpAddr::V4(Ipv4Addr::LOCALHOST), |mut stream| async move {
        let (mut from, mut to) = stream.split();
        tokio::io::copy(&mut from, &mut to).await?;
        to.write_all(b"end").await
    })
    .await
}

/// An HTTP server that answers every request with this text, and records heads and bodies. It leaves connections open
/// after an answer if that asks for it.
pub(super) struct HttpServer {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl HttpServer {
    pub(super) async fn start(answer: &str) -> Self {
        let (answer, requests) = (answer.to_owned(), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&requests);
        let port = serve(IpAddr::V4(Ipv4Addr::LOCALHOST), move |mut stream| {
            let (answer, noted) = (answer.clone(), Arc::clone(&noted));
            async move {
                loop {
                    let request = read_request(&mut stream).await?;
                    noted.lock().unwrap().push(request);
                    stream.write_all(answer.as_bytes()).await?;
                    if !answer.contains("keep-alive") {
                        return Ok(());
                    }
                }
            }
        })
        .await;
        Self { port, requests }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    Ok(head + &String::from_utf8_lossy(&body))
}

/// The port of a server that handles each connection in a task of its own.
pub(super) async fn serve<F>(address: IpAddr, handle: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> u16
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(handle(stream));
        }
    });
    port
}
