//! Network, as the operating system offers it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use tokio::net::TcpStream;

pub type NetworkFuture<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Resolves names and connects to addresses. It decides nothing: every address it is asked to connect to was checked
/// before.
pub trait Network: Send + Sync {
    /// All addresses of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>>;

    fn connect(&self, address: SocketAddr) -> NetworkFuture<'_, TcpStream>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {
    fn resolve<'a>(&'a self, name: &'a str) -> NetworkFuture<'a, Vec<IpAddr>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 443)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> NetworkFuture<'_, TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}
