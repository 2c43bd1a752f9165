//! Hostile HTTP clients: they achieve nothing, and do not keep other clients from being served.

mod limits;
mod requests;
mod strangers;

use crate::harness::http::{HttpServer, stateless_message};
use crate::harness::metrics::{WITH_METRICS, gauge, metrics_address};
use crate::harness::{Project, wait_until};
use serde_json::json;
use std::net::SocketAddr;

/// A server under attack, and its resources at the start.
struct Target {
    server: HttpServer,
    project: Project,
    metrics: SocketAddr,
    descriptors: usize,
    held_bytes: u64,
}

/// At most this many descriptors are kept open for reuse.
const MOST_DESCRIPTORS_KEPT: usize = 4;

impl Target {
    fn new() -> Self {
        Self::with(&[], &[])
    }

    /// A server with a tool that leaves a mark, and limits that can be reached.
    fn with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let project = Project::with_hi().tool("mark", "#!/bin/sh\necho called >>called\n");
        let patience = [("MCPBASH_HTTP_HEADER_TIMEOUT", "2"), ("MCPBASH_HTTP_STALL_TIMEOUT", "2")];
        let server = HttpServer::start_with(
            project.root(),
            &[&WITH_METRICS, arguments].concat(),
            &[&patience[..], environment].concat(),
        );
        let metrics = metrics_address(&server);
        // Reusable resources exist after the first call.
        server.expect_service();
        server.ask("tools/call", &json!({ "name": "hi", "arguments": {} }));
        let (descriptors, held_bytes) = (server.descriptors(), held_bytes(metrics));
        Self { server, project, metrics, descriptors, held_bytes }
    }

    /// Sends bytes, and returns the statuses of all answers until the server closes the connection.
    fn statuses(&self, bytes: &[u8]) -> Vec<u16> {
        let mut http = self.server.connect();
        // The server may close the connection before everything is sent.
        let _ = http.try_send(bytes);
        statuses(&http.rest())
    }

    fn status(&self, bytes: &[u8]) -> u16 {
        let mut http = self.server.connect();
        http.send(bytes);
        http.head().status
    }

    /// Nothing got in, other clients are served, and the resources of the attack are released.
    fn expect_unharmed(self) {
        self.server.expect_service();
        assert!(!self.project.path("called").exists(), "a tool was called");
        wait_until("the descriptors to be closed", || {
            (self.server.descriptors() <= self.descriptors + MOST_DESCRIPTORS_KEPT).then_some(())
        });
        wait_until("what is held to be let go of", || {
            (held_bytes(self.metrics) <= self.held_bytes).then_some(())
        });
        let log = self.server.finish();
        assert!(!log.contains("panic"), "{log}");
    }
}

/// The bytes that the server holds for its clients.
fn held_bytes(metrics: SocketAddr) -> u64 {
    gauge(metrics, "mcp_server_held_bytes")
}

/// The statuses of all answers on a connection.
fn statuses(said: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(said);
    let lines = text.split("\r\n").filter_map(|line| line.rsplit_once("HTTP/1.1 "));
    lines.filter_map(|(_, status)| status.get(..3)?.parse().ok()).collect()
}

/// A harmless message, and the head of its request.
fn discover() -> String {
    stateless_message(1, "server/discover", &json!({})).to_string()
}

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                    Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
                    Mcp-Method: server/discover\r\n";
