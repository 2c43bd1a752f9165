//! Reach: the proxy and the bridges by which a confined process reaches the hosts of its list.

use super::cell::Cell;
use mcp_bash_proxy::{Observer, Proxy, Refusal, bridge};
use mcp_bash_runner::Variables;
use mcp_bash_sandbox::{Host, HostList, Network};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// How many refusals are kept. One is enough to explain a failure.
const MAX_REFUSALS: usize = 16;

/// The open proxy and bridges of one process. They are closed when the value is dropped.
#[derive(Default)]
pub(crate) struct Reached {
    port: Option<u16>,
    tasks: Vec<AbortHandle>,
    reports: Option<Arc<Reports>>,
}

/// Receives the reports of the proxy and the bridges.
struct Reports {
    hosts: HostList,
    refusals: Mutex<Vec<Refusal>>,
    /// The entries of the list that were connected to.
    entries: Mutex<BTreeSet<String>>,
}

impl Observer for Reports {
    fn refused(&self, refusal: Refusal) {
        let mut refusals = self.refusals.lock();
        if refusals.len() < MAX_REFUSALS && !refusals.contains(&refusal) {
            refusals.push(refusal);
        }
    }

    fn connected(&self, host: &Host, port: u16) {
        if let Some(entry) = self.hosts.entry_of(host, port) {
            self.entries.lock().insert(entry);
        }
    }
}

impl Reached {
    /// Opens what the sockets of a cell lead to. The tasks run in `runtime`.
    pub(super) fn open(cell: &Cell, runtime: &Handle) -> io::Result<Self> {
        let Network::Hosts(hosts) = &cell.policy.network else { return Ok(Self::default()) };
        let reports = Reports { hosts: hosts.clone(), refusals: Mutex::default(), entries: Mutex::default() };
        let reports = Arc::new(reports);
        let mut reached = Self::default();
        reached.reports = Some(Arc::clone(&reports));
        if let Some((listener, port)) = cell.parts.proxy() {
            let proxy = Arc::new(Proxy::new(hosts.clone(), Arc::clone(&reports) as Arc<dyn Observer>));
            reached.tasks.push(runtime.spawn(proxy.serve(fresh(listener)?)).abort_handle());
            reached.port = Some(*port);
        }
        for (listener, port) in cell.parts.bridges() {
            let (port, reports) = (*port, Arc::clone(&reports));
            let connected = move || reports.connected(&Host::Address(Ipv4Addr::LOCALHOST.into()), port);
            reached.tasks.push(runtime.spawn(bridge(fresh(listener)?, port, connected)).abort_handle());
        }
        Ok(reached)
    }

    /// Sets the variables that make programs use the proxy.
    pub(super) fn set_variables(&self, variables: &mut Variables) {
        if let Some(port) = self.port {
            variables.extend(mcp_bash_proxy::variables(port));
        }
    }

    /// The connections that the proxy refused.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        self.reports.as_ref().map(|reports| reports.refusals.lock().clone()).unwrap_or_default()
    }

    /// The entries of the host list that were connected to.
    pub(super) fn entries(&self) -> BTreeSet<String> {
        self.reports.as_ref().map(|reports| reports.entries.lock().clone()).unwrap_or_default()
    }
}

/// The same socket, without pending connections of an earlier process.
fn fresh(listener: &TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    while listener.accept().is_ok() {}
    listener.try_clone()
}

impl Drop for Reached {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
