//! Mechanisms of a cell on Linux: namespaces, a Landlock ruleset and a system call filter.

use super::cell::CellFolders;
use super::command::CommandLine;
use mcp_bash_sandbox::{
    Access, Confinement, Filter, FilterChoices, LandlockRights, Namespaces, Network, Plan, Policy,
    ProcessLimit, Reach, Ruleset,
};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The port of the proxy in a network namespace, which has no other servers.
const PROXY_PORT: u16 = 3128;

/// How many processes and threads a call in a user namespace may have, unless its declaration says otherwise. Enough for
/// builds, but not for a fork bomb.
const PROCESSES: u64 = 1024;

pub(crate) struct Parts {
    namespaces: Option<Namespaces>,
    filter: Option<Filter>,
    /// The listening socket of the proxy, and its port.
    proxy: Option<(TcpListener, u16)>,
    /// Listening sockets that forward to ports of this machine.
    bridges: Vec<(TcpListener, u16)>,
    ruleset: Option<BuiltRuleset>,
}

/// A ruleset, and the call folder it was built for.
struct BuiltRuleset {
    call_folder: Option<PathBuf>,
    ruleset: Arc<Ruleset>,
}

impl Parts {
    pub(super) fn make(policy: &Policy, plan: &Plan) -> io::Result<Self> {
        let local_ports: Vec<u16> = match (&policy.network, plan.reach) {
            (Network::Hosts(hosts), Reach::ProxyInside) => hosts.local_ports().collect(),
            _ => Vec::new(),
        };
        let proxy_port = std::iter::successors(Some(PROXY_PORT), |port| port.checked_add(1));
        let proxy_port =
            proxy_port.into_iter().find(|port| !local_ports.contains(port)).unwrap_or(PROXY_PORT);
        let mut ports = Vec::new();
        if plan.reach == Reach::ProxyInside {
            ports.push(proxy_port);
            ports.extend(&local_ports);
        }
        let mut namespaces = plan.has_namespaces.then(|| Namespaces::make(&ports)).transpose()?;
        let mut listeners =
            namespaces.as_mut().map(|made| std::mem::take(&mut made.listeners)).unwrap_or_default();
        let bridges = listeners.split_off(listeners.len().min(1)).into_iter().zip(local_ports).collect();
        let proxy = match plan.reach {
            Reach::ProxyInside => listeners.pop().map(|listener| (listener, proxy_port)),
            Reach::ProxyByPort => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let port = listener.local_addr()?.port();
                Some((listener, port))
            }
            Reach::NoList | Reach::Closed => None,
        };
        let choices = FilterChoices { sockets: plan.sockets, unix_sockets: plan.unix_sockets };
        let filter = if plan.filters_calls { Filter::new(choices) } else { None };
        Ok(Self { namespaces, filter, proxy, bridges, ruleset: None })
    }

    /// The listening socket and the port of the proxy, if there is a list of hosts.
    pub(super) fn proxy(&self) -> Option<&(TcpListener, u16)> {
        self.proxy.as_ref()
    }

    pub(super) fn bridges(&self) -> &[(TcpListener, u16)] {
        &self.bridges
    }

    /// The restrictions of a process. Its command line stays as it is.
    pub(super) fn confine(
        &mut self,
        policy: &Policy,
        plan: &Plan,
        folders: &CellFolders,
        call_folder: Option<&Path>,
        _command: CommandLine<'_>,
    ) -> io::Result<Confinement> {
        let mut confinement = Confinement::default();
        if let Some(namespaces) = &self.namespaces {
            confinement = confinement.inside(namespaces);
        }
        for limit in self.limits(policy) {
            confinement = confinement.with_limit(limit);
        }
        confinement = confinement.with_group_limits(plan.group_limits).without_new_privileges();
        if rustix::process::geteuid().is_root() {
            confinement = confinement.without_capabilities();
        }
        if plan.restricts_files {
            confinement = confinement.restricted_by(self.ruleset(policy, folders, call_folder)?);
        }
        if let Some(filter) = &self.filter {
            confinement = confinement.filtered_by(filter.clone());
        }
        Ok(confinement)
    }

    fn limits(&self, policy: &Policy) -> impl Iterator<Item = ProcessLimit> {
        // Without a user namespace, all processes of the user would count.
        let counts = self.namespaces.as_ref().is_some_and(Namespaces::has_user);
        let limits = policy.limits;
        [
            limits.cpu_secs.map(ProcessLimit::CpuSeconds),
            limits.file_size.map(ProcessLimit::FileBytes),
            limits.open_files.map(ProcessLimit::OpenFiles),
            limits.memory.map(ProcessLimit::DataBytes),
            counts.then_some(ProcessLimit::Processes(limits.processes.unwrap_or(PROCESSES))),
        ]
        .into_iter()
        .flatten()
    }

    /// The ruleset for a call folder. A cell usually gets the same call folder again.
    fn ruleset(
        &mut self,
        policy: &Policy,
        folders: &CellFolders,
        call_folder: Option<&Path>,
    ) -> io::Result<Arc<Ruleset>> {
        if let Some(built) = self.ruleset.as_ref().filter(|built| built.call_folder.as_deref() == call_folder)
        {
            return Ok(Arc::clone(&built.ruleset));
        }
        let rights = LandlockRights::of_kernel()?.ok_or(io::ErrorKind::Unsupported)?;
        let ruleset = Ruleset::new(rights, self.namespaces.is_none() && self.proxy.is_some())?;
        let reads = policy.read.iter().map(|path| (path.as_path(), Access::Read));
        let own = [folders.tmp.as_path(), &folders.home].into_iter().filter(|_| policy.has_tmp);
        let writes = policy.write.iter().map(PathBuf::as_path).chain(own).chain(call_folder);
        for (path, access) in reads.chain(writes.map(|path| (path, Access::Write))) {
            match ruleset.allow(rights, path, access) {
                // Not every system has every path of the profile. Declared paths existed a moment ago.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {}
                allowed => allowed?,
            }
        }
        if let (None, Some((_, port)), Network::Hosts(hosts)) =
            (&self.namespaces, &self.proxy, &policy.network)
        {
            hosts.local_ports().chain([*port]).try_for_each(|port| ruleset.allow_port(port))?;
        }
        let ruleset = Arc::new(ruleset);
        self.ruleset = Some(BuiltRuleset {
            call_folder: call_folder.map(Path::to_owned),
            ruleset: Arc::clone(&ruleset),
        });
        Ok(ruleset)
    }
}
