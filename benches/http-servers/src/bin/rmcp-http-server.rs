//! rmcp over HTTP: a server on the official Rust SDK, with one tool that runs a script.
//!
//!   rmcp-http-server THREADS SCRIPT

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use mcp_bash_bench_http_servers::serve;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::process::Command;

/// Runs its script, whatever tool is called.
#[derive(Clone)]
struct Runner {
    script: Arc<PathBuf>,
}

impl ServerHandler for Runner {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let output = Command::new(self.script.as_path()).output().await;
        let output = output.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let threads = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    let script = Arc::new(PathBuf::from(arguments.next().ok_or("SCRIPT is missing")?));
    let service: StreamableHttpService<Runner, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(Runner { script: Arc::clone(&script) }),
        Arc::default(),
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    serve(threads.ok_or("THREADS is a number")?, Router::new().nest_service("/mcp", service))
}
