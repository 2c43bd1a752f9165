//! The metrics of a server over HTTP.

use super::http::{Http, HttpServer, Response, request};
use super::{Project, wait_until};
use std::net::{SocketAddr, TcpStream};

/// The arguments of a server with metrics on a free port.
pub(crate) const WITH_METRICS: [&str; 2] = ["--metrics", "127.0.0.1:0"];

/// A server, and the address of its metrics.
pub(crate) fn start_with(project: &Project, environment: &[(&str, &str)]) -> (HttpServer, SocketAddr) {
    let server = HttpServer::start_with(project.root(), &WITH_METRICS, environment);
    let address = metrics_address(&server);
    (server, address)
}

pub(crate) fn metrics_address(server: &HttpServer) -> SocketAddr {
    wait_until("the address of the metrics", || {
        let log = server.log();
        let address = log.lines().find_map(|line| line.strip_prefix("Metrics at http://"))?;
        address.strip_suffix("/metrics")?.parse().ok()
    })
}

pub(crate) fn get(address: SocketAddr, path: &str, accept: &str) -> Response {
    let mut http = Http::new(TcpStream::connect(address).expect("a connection"));
    http.send(&request("GET", path, &[("Accept", accept)], b""));
    http.response()
}

/// The value of the only sample whose name starts with this and that has all these labels.
pub(crate) fn sample<'t>(text: &'t str, name: &str, labels: &[&str]) -> Option<&'t str> {
    let is_meant = |line: &&str| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
            && labels.iter().all(|label| line.contains(label))
    };
    let mut found = text.lines().filter(is_meant);
    let line = found.next()?;
    assert!(found.next().is_none(), "{name} {labels:?} is not the only one in\n{text}");
    Some(line.rsplit_once(' ')?.1)
}

/// The current value of a gauge.
pub(crate) fn gauge(address: SocketAddr, name: &str) -> u64 {
    let text = get(address, "/metrics", "*/*").text();
    let value = sample(&text, name, &[]).unwrap_or_else(|| panic!("no {name} in\n{text}"));
    value.parse().expect("a number")
}
