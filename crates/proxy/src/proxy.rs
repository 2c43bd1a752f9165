//! The proxy: from the first byte of a connection to its last.

use crate::connections::serve_each;
use crate::reach::{Failure, reach};
use crate::refusal::Refusal;
use crate::relay::relay;
use crate::request::{NoRequest, Protocol, Request};
use crate::{http, socks};
use mcp_bash_fetch::{Network, SystemNetwork};
use mcp_bash_sandbox::{Host, HostList};
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

/// The time from the start of a connection to the end of its request.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// The time that a client has to read why it was refused.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// What a proxy reports. A process can cause any number of reports.
pub trait Observer: Send + Sync {
    fn refused(&self, refusal: Refusal);

    /// A host of the list was connected to.
    fn connected(&self, host: &Host, port: u16);
}

/// A proxy that reaches the hosts of one list.
pub struct Proxy {
    hosts: HostList,
    observer: Arc<dyn Observer>,
    network: Arc<dyn Network>,
}

impl Proxy {
    pub fn new(hosts: HostList, observer: Arc<dyn Observer>) -> Self {
        Self::with(hosts, observer, Arc::new(SystemNetwork))
    }

    /// Uses another network than the system's.
    pub fn with(hosts: HostList, observer: Arc<dyn Observer>, network: Arc<dyn Network>) -> Self {
        Self { hosts, observer, network }
    }

    /// Serves the clients of a listener until it is dropped, which ends their connections. It returns only if the socket
    /// cannot be used.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<Infallible> {
        serve_each(listener, |client| Arc::clone(&self).converse(client)).await
    }

    async fn converse(self: Arc<Self>, mut client: TcpStream) {
        let (protocol, failure) = match read_request(&mut client).await {
            Ok(request) => match reach(&*self.network, &self.hosts, &request.target).await {
                Ok(server) => {
                    self.observer.connected(&request.target.host, request.target.port);
                    return exchange(client, server, &request).await;
                }
                Err(failure) => (request.protocol, failure),
            },
            Err(NoRequest::Refused(protocol, refusal)) => (protocol, Failure::Refused(refusal)),
            Err(NoRequest::NotUnderstood(answer)) => return close(client, &answer).await,
            Err(NoRequest::Lost) => return,
        };
        let answer = match protocol {
            Protocol::Socks => socks::failed(&failure),
            Protocol::Tunnel | Protocol::Forward => http::failed(&failure),
        };
        if let Failure::Refused(refusal) = failure {
            // Before the answer, so that the report is there when the process has ended.
            self.observer.refused(refusal);
        }
        close(client, &answer).await;
    }
}

async fn read_request(client: &mut TcpStream) -> Result<Request, NoRequest> {
    let deadline = Instant::now() + HEADER_TIME;
    let first = timeout_at(deadline, client.read_u8()).await.map_err(io::Error::from)??;
    if first == socks::VERSION {
        return timeout_at(deadline, socks::read(client)).await.map_err(io::Error::from)?;
    }
    let request = timeout_at(deadline, http::read(client, first)).await;
    request.unwrap_or_else(|_| Err(NoRequest::NotUnderstood(http::timed_out())))
}

async fn exchange(mut client: TcpStream, mut server: TcpStream, request: &Request) {
    let accepted: &[u8] = match request.protocol {
        Protocol::Socks => &socks::CONNECTED,
        Protocol::Tunnel => http::CONNECTED,
        Protocol::Forward => b"",
    };
    if client.write_all(accepted).await.is_ok() && server.write_all(&request.first_bytes).await.is_ok() {
        match request.protocol {
            Protocol::Forward => http::relay_response(&mut client, &mut server).await,
            Protocol::Socks | Protocol::Tunnel => relay(&mut client, &mut server).await,
        }
    }
}

/// Sends the last bytes to a client. What it still sends is read and dropped: closing the socket before would discard
/// these bytes if the client has not read them yet.
async fn close(mut client: TcpStream, last: &[u8]) {
    let closing = async {
        client.write_all(last).await?;
        client.shutdown().await?;
        copy(&mut client, &mut sink()).await
    };
    let _ = timeout(CLOSING_TIME, closing).await;
}
