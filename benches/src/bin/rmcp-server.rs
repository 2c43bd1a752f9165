//! rmcp over stdio: a minimal server on the official Rust SDK, in the fastest stdio mode that the SDK offers.
//!
//! It answers `initialize` and `ping` and has no tools, so this measures the SDK's own loop. The choices
//! below measured best: `stdio_pipes` keeps reads and writes on the reactor, while the plain `stdio` passes
//! each of them to a blocking thread, and a single-threaded runtime saves the wake-ups between workers.

use std::error::Error;

use rmcp::model::ServerConfig;
use rmcp::transport::stdio_pipes;
use rmcp::{ServerHandler, ServiceExt};

/// A server without features: every default of the SDK applies, including `ping`.
struct Silent;

impl ServerHandler for Silent {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let service = Silent.serve(stdio_pipes()).await?;
        service.waiting().await?;
        Ok(())
    })
}
