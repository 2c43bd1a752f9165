//! Traced call: where a watched process ran, by which its attempts are judged and named.

use crate::attempts::{Attempt, Attempts, Deed, Target};
use crate::declaration::Network;
use crate::place::Place;
use crate::policy::Policy;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// All paths are absolute and without links.
#[derive(Debug, Clone)]
pub struct TracedCall {
    pub policy: Policy,
    /// What every sandbox may read: programs, libraries, the script itself.
    pub always: Vec<PathBuf>,
    /// The temporary folder and the home of the call.
    pub own: Vec<PathBuf>,
    /// The folder that the call shares with us. It is no concern of a declaration.
    pub shared: Option<PathBuf>,
    pub project: PathBuf,
    pub roots: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The port of the proxy to the hosts of its list.
    pub proxy_port: Option<u16>,
    /// The hosts that the proxy refused, with their ports.
    pub refused_hosts: Vec<String>,
}

impl TracedCall {
    /// The hosts that the proxy refused, with their ports: they are denied.
    #[must_use]
    pub fn with_refused_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.refused_hosts.extend(hosts);
        self.refused_hosts.sort();
        self.refused_hosts.dedup();
        self
    }

    /// Whether the sandbox allows an attempt.
    pub fn allows(&self, attempt: &Attempt, all: &Attempts) -> bool {
        match (&attempt.target, attempt.deed) {
            (Target::Path(path), _) if self.is_own(path) || self.is_shared(path) => true,
            (Target::Path(path), Deed::Read | Deed::Run) => self.policy.may_read(path),
            (Target::Path(path), Deed::Write) => self.policy.may_write(path),
            (Target::Path(path), Deed::Create | Deed::Remove) => self.policy.may_write(folder_of(path)),
            (Target::Address(address), Deed::Connect) => self.reaches(*address, all),
            // A Unix socket that is denied cannot be made, and so not be connected.
            _ => true,
        }
    }

    fn reaches(&self, address: SocketAddr, all: &Attempts) -> bool {
        let (ip, port) = (address.ip(), address.port());
        let listens = |attempt: &Attempt| match attempt {
            // Port 0 is any free one.
            Attempt { deed: Deed::Listen, target: Target::Address(own) } => [0, port].contains(&own.port()),
            _ => false,
        };
        match &self.policy.network {
            Network::All => true,
            _ if ip.is_loopback() && all.iter().any(listens) => true,
            Network::None => false,
            Network::Hosts(hosts) => {
                hosts.names_address(ip, port) || ip.is_loopback() && self.proxy_port == Some(port)
            }
        }
    }

    /// Whether a path is in the temporary folder or in the home of the call.
    pub fn is_own(&self, path: &Path) -> bool {
        self.policy.has_tmp && self.own.iter().any(|own| path.starts_with(own))
    }

    pub fn is_shared(&self, path: &Path) -> bool {
        self.shared.as_ref().is_some_and(|shared| path.starts_with(shared))
    }

    /// Whether every sandbox may do this.
    pub fn is_always_allowed(&self, attempt: &Attempt) -> bool {
        match (&attempt.target, attempt.deed) {
            (Target::Path(path), _) if self.is_shared(path) => true,
            (Target::Path(path), Deed::Read | Deed::Run) => {
                self.always.iter().any(|folder| path.starts_with(folder))
            }
            (Target::Path(path), Deed::Write) => path.starts_with("/dev") && self.policy.may_write(path),
            _ => false,
        }
    }

    /// The place of a path, as an author writes it.
    pub fn place(&self, path: &Path) -> Place {
        if self.own.iter().any(|own| path.starts_with(own)) {
            return Place::Tmp;
        }
        let below = |folder: &Path| path.strip_prefix(folder).ok().map(Path::to_owned);
        let roots = self.roots.iter().filter(|root| path.starts_with(root));
        match (below(&self.project), roots.max_by_key(|root| root.as_os_str().len())) {
            // The nearer one counts.
            (Some(_), Some(root)) if *root != self.project && root.starts_with(&self.project) => {
                Place::Roots(below(root).unwrap_or_default())
            }
            (Some(below), _) => Place::Project(below),
            (None, Some(root)) => Place::Roots(below(root).unwrap_or_default()),
            (None, None) => match self.home.as_deref().and_then(below) {
                Some(below) => Place::Home(below),
                None => Place::Absolute(path.to_owned()),
            },
        }
    }
}

/// The folder in which a path is created or removed.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
