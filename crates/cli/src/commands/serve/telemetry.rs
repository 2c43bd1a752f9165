//! Telemetry of a server that serves: started if the environment names a collector.

use mcp_bash_server::{Network, Server};
use mcp_bash_telemetry::{Config, is_requested};
use mcp_bash_transport::http::{Address, Options};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;

/// Starts the export, if one is requested. `http` are the options of serving over HTTP.
pub(super) fn start(server: &Arc<Server>, http: Option<&Options>) {
    if !is_requested(|name| std::env::var_os(name).is_some()) {
        return;
    }
    let warn = |message: &str| server.log().event(LogLevel::Warning, "mcp.telemetry", message, &json!({}));
    let (config, problems) = Config::read(|name| std::env::var(name).ok());
    for problem in problems {
        warn(&problem.to_string());
    }
    let Some(config) = config else { return };
    if let Err(error) = server.start_telemetry(config, http.map_or(Network::STDIO, network)) {
        warn(&format!("nothing is exported: {error}"));
    }
}

/// How clients reach a server over HTTP: by its first address. Sockets of systemd are taken for TCP.
fn network(options: &Options) -> Network {
    let is_unix = matches!(options.addresses.first(), Some(Address::Unix(_)));
    Network { transport: if is_unix { "unix" } else { "tcp" }, is_http: true }
}
