//! Relay: bytes of both directions, between a confined process and a server.

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

/// Relays until both sides have finished sending. When one side finishes, the other one is notified, and may go on.
pub(crate) async fn relay(client: &mut TcpStream, server: &mut TcpStream) {
    for stream in [&*client, &*server] {
        // Without this, small messages would wait for the acknowledgement of earlier ones.
        let _ = stream.set_nodelay(true);
    }
    // An error means that one side is gone; dropping both streams tells the other one.
    let _ = copy_bidirectional(client, server).await;
}
