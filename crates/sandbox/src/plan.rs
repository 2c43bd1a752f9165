//! Plan: the mechanisms of this machine that enforce a policy, and what they leave open.

use crate::confinement::GroupLimits;
use crate::declaration::{Mode, Network};
use crate::filter_choices::Sockets;
use crate::in_force::{Aspect, InForce, Level};
use crate::policy::Policy;
use rustix::io::Errno;
use thiserror::Error;

/// The mechanisms of a machine, as they were tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The rights that Landlock can withhold, or why there is none.
    pub landlock: Result<LandlockPowers, String>,
    /// Whether system calls can be filtered, or why not.
    pub seccomp: Result<(), String>,
    /// Whether a network namespace can be made, and with it a user namespace; or why not.
    pub namespaces: Result<NamespacePowers, String>,
    pub is_root: bool,
    /// What control groups can limit. Nothing, unless the runner of processes has tried it.
    pub groups: GroupPowers,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupPowers {
    pub memory: bool,
    pub processes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a power of the kernel")]
pub struct LandlockPowers {
    /// Moving files between folders, and truncating them.
    pub all_writes: bool,
    pub tcp_ports: bool,
    pub signals: bool,
    pub abstract_sockets: bool,
    pub unix_sockets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamespacePowers {
    pub has_user: bool,
    /// Whether sockets on its loopback device can be opened.
    pub has_loopback: bool,
}

/// How a policy is enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Plan {
    pub restricts_files: bool,
    pub sockets: Sockets,
    pub unix_sockets: bool,
    pub filters_calls: bool,
    /// Whether the process gets namespaces of its own.
    pub has_namespaces: bool,
    pub reach: Reach,
    /// The limits of the control group that the process starts in.
    pub group_limits: GroupLimits,
    pub in_force: InForce,
}

/// How a process reaches the hosts of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// There is no list.
    NoList,
    /// A proxy inside its namespace.
    ProxyInside,
    /// A proxy on the loopback device of this machine, the only port that it may connect to.
    ProxyByPort,
    /// The list cannot be enforced, so that it reaches nothing.
    Closed,
}

/// Why there is no plan for a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unenforceable {
    /// It is strict, and this machine cannot enforce it.
    #[error(
        "this machine cannot enforce its strict sandbox: {0}; `mcp-bash sandbox status` shows what to do"
    )]
    Strict(String),
    /// The mechanisms of this machine could not be tried.
    #[error("what this machine can enforce is not known yet: {0}")]
    Untried(#[from] Errno),
}

impl Plan {
    /// The plan for a policy. A strict one is refused unless everything is enforced.
    pub fn new(policy: &Policy, machine: &Machine) -> Result<Self, Unenforceable> {
        let mut in_force = InForce::default();
        let landlock = machine.landlock.as_ref();
        let filters_calls = machine.seccomp.is_ok();
        in_force.set(
            Aspect::Files,
            match landlock {
                Ok(powers) if powers.all_writes => Level::Enforced,
                Ok(_) => Level::Partly(
                    "this kernel cannot deny truncating files and moving them between folders".into(),
                ),
                Err(why) => Level::Not(why.clone()),
            },
        );
        let (sockets, has_namespaces, reach) = Self::network(policy, machine, &mut in_force);
        in_force.set(
            Aspect::SystemCalls,
            match &machine.seccomp {
                Ok(()) => Level::Enforced,
                Err(why) => Level::Not(why.clone()),
            },
        );
        in_force.set(
            Aspect::Signals,
            match landlock {
                Ok(powers) if powers.signals => Level::Enforced,
                _ => Level::Not("this kernel cannot deny signals to other processes of the user".into()),
            },
        );
        let unix_sockets = Self::unix_sockets(policy, machine, has_namespaces, &mut in_force);
        Self::limits(policy, machine, has_namespaces, &mut in_force);
        if policy.mode == Mode::Strict {
            let missing: Vec<String> = in_force
                .shortfalls()
                .map(|(aspect, level)| format!("{} ({})", aspect.name(), level.why().unwrap_or_default()))
                .collect();
            if !missing.is_empty() {
                return Err(Unenforceable::Strict(missing.join(", ")));
            }
        }
        Ok(Self {
            restricts_files: landlock.is_ok(),
            sockets,
            unix_sockets,
            filters_calls,
            has_namespaces,
            reach,
            group_limits: GroupLimits {
                memory: policy.limits.memory.filter(|_| machine.groups.memory),
                processes: policy.limits.processes.filter(|_| machine.groups.processes),
            },
            in_force,
        })
    }

    fn network(policy: &Policy, machine: &Machine, in_force: &mut InForce) -> (Sockets, bool, Reach) {
        let namespaces = machine.namespaces.as_ref();
        let why = || namespaces.err().cloned().unwrap_or_default();
        let (sockets, has_namespaces, reach, level) = match &policy.network {
            Network::All => (Sockets::All, false, Reach::NoList, Level::Enforced),
            Network::None if namespaces.is_ok() => (Sockets::Isolated, true, Reach::NoList, Level::Enforced),
            Network::None => {
                let level = if machine.seccomp.is_ok() { Level::Enforced } else { Level::Not(why()) };
                (Sockets::None, false, Reach::NoList, level)
            }
            Network::Hosts(_) if namespaces.is_ok_and(|powers| powers.has_loopback) => {
                (Sockets::Isolated, true, Reach::ProxyInside, Level::Enforced)
            }
            Network::Hosts(_)
                if machine.seccomp.is_ok()
                    && machine.landlock.as_ref().is_ok_and(|powers| powers.tcp_ports) =>
            {
                let open = "without a network namespace, a server on any host can be reached at the port of the proxy";
                (Sockets::TcpOnly, false, Reach::ProxyByPort, Level::Partly(open.into()))
            }
            Network::Hosts(_) if machine.seccomp.is_err() && namespaces.is_err() => {
                (Sockets::None, false, Reach::Closed, Level::Not(why()))
            }
            Network::Hosts(_) => {
                let closed =
                    format!("nothing can be reached, since a list of hosts cannot be enforced: {}", why());
                (Sockets::None, namespaces.is_ok(), Reach::Closed, Level::Partly(closed))
            }
        };
        in_force.set(Aspect::Network, level);
        (sockets, has_namespaces, reach)
    }

    /// Whether the process may make Unix sockets.
    fn unix_sockets(
        policy: &Policy,
        machine: &Machine,
        has_namespaces: bool,
        in_force: &mut InForce,
    ) -> bool {
        let landlock = machine.landlock.as_ref().ok();
        let is_told_apart =
            landlock.is_some_and(|powers| powers.unix_sockets && (powers.abstract_sockets || has_namespaces));
        let is_denied = policy.mode == Mode::Strict && !is_told_apart && machine.seccomp.is_ok();
        in_force.set(Aspect::UnixSockets, if is_told_apart || is_denied {
            Level::Enforced
        } else {
            Level::Not("this kernel cannot tell them apart, so that sockets of other programs can be reached by path".into())
        });
        !is_denied
    }

    fn limits(policy: &Policy, machine: &Machine, has_namespaces: bool, in_force: &mut InForce) {
        if policy.limits.memory.is_some() {
            in_force.set(Aspect::Memory, Level::Enforced);
        }
        if policy.limits.processes.is_some() {
            let counts = has_namespaces && machine.namespaces.as_ref().is_ok_and(|powers| powers.has_user);
            in_force.set(
                Aspect::Processes,
                match (counts, machine.is_root) {
                    _ if machine.groups.processes => Level::Enforced,
                    (true, false) => Level::Enforced,
                    (_, true) => Level::Not("the kernel does not count the processes of root".into()),
                    (false, false) => {
                        Level::Not("without a user namespace all processes of the user would count".into())
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{Declaration, Limits};

    fn machine() -> Machine {
        let powers = LandlockPowers {
            all_writes: true,
            tcp_ports: true,
            signals: true,
            abstract_sockets: true,
            unix_sockets: false,
        };
        Machine {
            landlock: Ok(powers),
            seccomp: Ok(()),
            namespaces: Ok(NamespacePowers { has_user: true, has_loopback: true }),
            is_root: false,
            groups: GroupPowers::default(),
        }
    }

    fn policy(mode: Mode, network: &str) -> Policy {
        let declared = Declaration::parse(&format!(r#"{{"network":{network}}}"#)).unwrap();
        Policy {
            mode,
            read: Vec::new(),
            write: Vec::new(),
            has_tmp: true,
            network: declared.network.unwrap(),
            limits: Limits::default(),
        }
    }

    #[test]
    fn a_strict_policy_denies_what_cannot_be_told_apart_and_an_open_one_says_so() {
        let strict = Plan::new(&policy(Mode::Strict, "\"none\""), &machine()).unwrap();
        assert!(!strict.unix_sockets && strict.has_namespaces);
        let on = Plan::new(&policy(Mode::On, "\"none\""), &machine()).unwrap();
        assert!(on.unix_sockets);
        assert!(on.in_force.to_string().contains("Unix sockets not (this kernel cannot"), "{}", on.in_force);
    }

    #[test]
    fn a_machine_without_a_mechanism_refuses_strict_policies_and_closes_lists_of_hosts() {
        let old = Machine {
            landlock: Err("the kernel has no Landlock".into()),
            namespaces: Err("no user namespace can be made".into()),
            ..machine()
        };
        let refused = Plan::new(&policy(Mode::Strict, "\"none\""), &old).unwrap_err().to_string();
        assert!(refused.contains("files (the kernel has no Landlock)"), "{refused}");
        let on = Plan::new(&policy(Mode::On, "\"none\""), &old).unwrap();
        assert_eq!((on.sockets, on.has_namespaces, on.restricts_files), (Sockets::None, false, false));
        let listed = Plan::new(&policy(Mode::On, r#"["example.org:443"]"#), &old).unwrap();
        assert_eq!((listed.reach, listed.sockets), (Reach::Closed, Sockets::None));
        assert!(listed.in_force.to_string().contains("nothing can be reached"), "{}", listed.in_force);
        let open = Machine { seccomp: Err("no filters".into()), ..old };
        let listed = Plan::new(&policy(Mode::On, r#"["example.org:443"]"#), &open).unwrap();
        assert!(!listed.in_force.to_string().contains("nothing can be reached"), "{}", listed.in_force);
    }

    #[test]
    fn without_namespaces_a_list_is_held_by_ports_as_far_as_that_goes() {
        let container = Machine { namespaces: Err("not permitted".into()), ..machine() };
        let listed = Plan::new(&policy(Mode::On, r#"["example.org:443"]"#), &container).unwrap();
        assert_eq!((listed.reach, listed.sockets), (Reach::ProxyByPort, Sockets::TcpOnly));
        assert!(Plan::new(&policy(Mode::Strict, r#"["example.org:443"]"#), &container).is_err());
    }

    #[test]
    fn processes_of_root_are_not_counted() {
        let mut limited = policy(Mode::On, "\"none\"");
        limited.limits.processes = Some(4);
        let level = |machine: &Machine| Plan::new(&limited, machine).unwrap().in_force.to_string();
        assert!(level(&machine()).contains("processes enforced"));
        assert!(
            level(&Machine { is_root: true, ..machine() })
                .contains("processes not (the kernel does not count")
        );
        let groups = GroupPowers { processes: true, memory: false };
        let counted = Machine { is_root: true, groups, ..machine() };
        assert!(level(&counted).contains("processes enforced"));
        let limits = Plan::new(&limited, &counted).unwrap().group_limits;
        assert_eq!(limits, GroupLimits { processes: Some(4), memory: None });
    }
}
