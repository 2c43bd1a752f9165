//! Reach: the proxy and the bridges by which a confined process reaches the hosts of its list.

use super::cell::Cell;
use mcp_bash_proxy::{Proxy, Refusal, bridge};
use mcp_bash_runner::Variables;
use mcp_bash_sandbox::Network;
use parking_lot::Mutex;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// How many refusals are remembered. One explains a failure.
const MAX_REFUSALS: usize = 16;

/// The open proxy and bridges of one process. They are closed when the value is dropped.
#[derive(Default)]
pub(crate) struct Reached {
    port: Option<u16>,
    tasks: Vec<AbortHandle>,
    refusals: Arc<Mutex<Vec<Refusal>>>,
}

impl Reached {
    /// Opens what the sockets of a cell lead to. The tasks run in `runtime`.
    pub(super) fn open(cell: &Cell, runtime: &Handle) -> io::Result<Self> {
        let mut reached = Self::default();
        if let (Some((listener, port)), Network::Hosts(hosts)) = (cell.parts.proxy(), &cell.policy.network) {
            let refusals = Arc::clone(&reached.refusals);
            let report = move |refusal| {
                let mut refusals = refusals.lock();
                if refusals.len() < MAX_REFUSALS && !refusals.contains(&refusal) {
                    refusals.push(refusal);
                }
            };
            let proxy = Arc::new(Proxy::new(hosts.clone(), Arc::new(report)));
            reached.tasks.push(runtime.spawn(proxy.serve(fresh(listener)?)).abort_handle());
            reached.port = Some(*port);
        }
        for (listener, port) in cell.parts.bridges() {
            reached.tasks.push(runtime.spawn(bridge(fresh(listener)?, *port)).abort_handle());
        }
        Ok(reached)
    }

    /// Tells programs to use the proxy.
    pub(super) fn set_variables(&self, variables: &mut Variables) {
        if let Some(port) = self.port {
            variables.extend(mcp_bash_proxy::variables(port));
        }
    }

    /// What the proxy refused.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        self.refusals.lock().clone()
    }
}

/// The same socket without the connections that an earlier process has left waiting.
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
