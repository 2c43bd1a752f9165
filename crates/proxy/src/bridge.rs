//! Bridge: a port of the namespace, connected with the same port of this machine.

use crate::connections::serve_each;
use crate::reach::{CONNECT_TIME, this_machine};
use crate::relay::relay;
use mcp_bash_fetch::{SystemNetwork, connect_to};
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Connects every client of the listener with `127.0.0.1:port`, or `[::1]:port` if that does not answer, until it is
/// dropped. Calls `connected` for each client.
pub async fn bridge(listener: TcpListener, port: u16, connected: impl Fn()) -> io::Result<Infallible> {
    serve_each(listener, move |client| {
        connected();
        carry(client, port)
    })
    .await
}

async fn carry(mut client: TcpStream, port: u16) {
    match timeout(CONNECT_TIME, connect_to(&SystemNetwork, &this_machine(port))).await {
        Ok(Ok(mut server)) => relay(&mut client, &mut server).await,
        // The client is connected already. A reset is the closest that it can get to a refused connection.
        _ => drop(client.set_zero_linger()),
    }
}
