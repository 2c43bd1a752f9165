//! HTTP load: many connections, each of which sends a request as soon as the previous one is answered.
//!
//! One thread drives all of them. More would take processor time from a server on a machine with few cores,
//! and one is enough: it spends no more time on a request than the cheapest measured server.

use std::io;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::message::Head;
use super::{HttpServer, Post};
use crate::Failure;
use crate::proc_usage::CpuTime;

/// The outcome.
#[derive(Debug, Default)]
pub struct Load {
    /// The time of each request.
    pub samples: Vec<Duration>,
    /// From the first request until the last answer.
    pub elapsed: Duration,
    /// The processor time of the server process in that time, without its children.
    pub cpu: Duration,
}

impl Load {
    /// Adds another turn of the same load.
    pub fn add(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
    }

    /// Requests per second.
    pub fn rate(&self) -> f64 {
        f64::from(self.count()) / self.elapsed.as_secs_f64()
    }

    pub fn cpu_per_request(&self) -> Duration {
        self.cpu / self.count().max(1)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.samples.len()).unwrap_or(u32::MAX)
    }
}

/// Sends requests to `path` for this long on so many connections. `post` makes the request of each connection
/// from its number, and every answer must contain `expected`.
pub fn load(
    server: &mut HttpServer,
    path: &str,
    connections: u32,
    duration: Duration,
    post: impl Fn(u32) -> Post,
    expected: &'static [u8],
) -> Result<Load, Failure> {
    server.begin_measure();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(|error| server.failure(&format!("the driver's runtime: {error}")))?;
    let host = server.address().to_string();
    let mut clients = runtime
        .block_on(async {
            let mut clients = Vec::new();
            for number in 1..=connections {
                let stream = TcpStream::connect(server.address()).await?;
                stream.set_nodelay(true)?;
                clients.push(Client::new(stream, post(number).render(&host, path), expected));
            }
            io::Result::Ok(clients)
        })
        .map_err(|error| server.failure(&format!("a connection: {error}")))?;
    // The first answer on a connection is not counted: the server has to prepare each connection.
    runtime.block_on(all(&mut clients, Duration::ZERO)).map_err(|what| server.failure(&what))?;

    let before = cpu_time(server)?;
    let (samples, elapsed) =
        runtime.block_on(all(&mut clients, duration)).map_err(|what| server.failure(&what))?;
    let cpu = cpu_time(server)?.since(before);
    Ok(Load { samples, elapsed, cpu })
}

fn cpu_time(server: &mut HttpServer) -> Result<CpuTime, Failure> {
    CpuTime::of(server.pid()).map_err(|error| server.failure(&format!("its processor time: {error}")))
}

/// Lets all clients send for this long, at least once each.
async fn all(clients: &mut Vec<Client>, duration: Duration) -> Result<(Vec<Duration>, Duration), String> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for client in clients.drain(..) {
        tasks.spawn(client.repeat_until(began + duration));
    }
    let mut samples = Vec::new();
    while let Some(outcome) = tasks.join_next().await {
        let (client, own) = outcome.map_err(|error| error.to_string())??;
        samples.extend(own);
        clients.push(client);
    }
    Ok((samples, began.elapsed()))
}

/// A connection and its request.
struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    expected: &'static [u8],
    received: Vec<u8>,
}

impl Client {
    fn new(stream: TcpStream, request: Vec<u8>, expected: &'static [u8]) -> Self {
        Self { stream, request, expected, received: Vec::with_capacity(8 * 1024) }
    }

    async fn repeat_until(mut self, end: Instant) -> Result<(Self, Vec<Duration>), String> {
        let mut samples = Vec::new();
        let mut began = Instant::now();
        loop {
            self.exchange().await?;
            let now = Instant::now();
            samples.push(now - began);
            if now >= end {
                return Ok((self, samples));
            }
            began = now;
        }
    }

    async fn exchange(&mut self) -> Result<(), String> {
        self.send().await.map_err(|error| format!("it takes no request: {error}"))?;
        self.received.clear();
        loop {
            self.read_more().await.map_err(|error| format!("the connection: {error}"))?;
            let Some(head) = Head::read(&self.received)? else { continue };
            if head.end(&self.received).is_some() {
                return self.check(head);
            }
        }
    }

    /// A request fits into the socket's buffer, so it is almost always written at once.
    async fn send(&mut self) -> io::Result<()> {
        let mut rest = &self.request[..];
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn read_more(&mut self) -> io::Result<()> {
        loop {
            self.stream.readable().await?;
            match self.stream.try_read_buf(&mut self.received) {
                Ok(0) => return Err(io::Error::other("it was closed")),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn check(&self, head: Head) -> Result<(), String> {
        if head.status == 200 && memchr::memmem::find(&self.received[head.length..], self.expected).is_some()
        {
            return Ok(());
        }
        let quoted = String::from_utf8_lossy(&self.received[..self.received.len().min(600)]);
        Err(format!("it answered «{quoted}»"))
    }
}
