//! Shared parts of the servers here: a runtime, a free port, and a line that reports the port.

use std::error::Error;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

/// Serves `router` on a free port of this machine, with so many threads, and prints the address on standard
/// error.
pub fn serve(threads: usize, router: Router) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        eprintln!("Serving at http://{}/mcp", listener.local_addr()?);
        let listener = listener.tap_io(|stream| {
            // Without it, a small answer can wait for the acknowledgement of the previous one.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    })
}
