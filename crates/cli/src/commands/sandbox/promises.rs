//! Promises of a sandbox: what each is called, the trials that test it, and what it needs.

use mcp_bash_sandbox::Trial;

/// What enforces a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mechanism {
    Landlock,
    /// A network namespace; without one, the filter of system calls.
    Network,
    /// Landlock, and for abstract names the namespace too.
    UnixSockets,
    Seccomp,
    Limit(&'static str),
    /// A control group; without one, a limit for each process.
    Memory,
    /// A control group; without one, a limit that counts only in a user namespace, and never for root.
    Processes,
}

pub(super) struct Promise {
    pub(super) name: &'static str,
    pub(super) mechanism: Mechanism,
    pub(super) trials: &'static [Trial],
    /// What to do if the mechanism exists and does not enforce it.
    pub(super) needs: &'static str,
}

pub(super) const PROMISES: &[Promise] = &[
    Promise {
        name: "files: no reading outside",
        mechanism: Mechanism::Landlock,
        trials: &[Trial::ReadFile, Trial::ListFolder],
        needs: "use Linux 5.13 or later",
    },
    Promise {
        name: "files: no writing outside",
        mechanism: Mechanism::Landlock,
        trials: &[Trial::CreateFile, Trial::TruncateFile],
        needs: "use Linux 6.2 or later, which also denies truncating files",
    },
    Promise {
        name: "network: no IPv4",
        mechanism: Mechanism::Network,
        trials: &[Trial::ConnectIpv4],
        needs: NETWORK,
    },
    Promise {
        name: "network: no IPv6",
        mechanism: Mechanism::Network,
        trials: &[Trial::ConnectIpv6],
        needs: NETWORK,
    },
    Promise {
        name: "network: no UDP",
        mechanism: Mechanism::Network,
        trials: &[Trial::SendUdp],
        needs: NETWORK,
    },
    Promise {
        name: "Unix sockets of others",
        mechanism: Mechanism::UnixSockets,
        trials: &[Trial::ConnectPath, Trial::ConnectAbstract],
        needs: "use Linux 7.1 or later, or declare `\"sandbox\": \"strict\"`, which denies all Unix sockets",
    },
    Promise {
        name: "signals to other processes",
        mechanism: Mechanism::Landlock,
        trials: &[Trial::SignalProcess],
        needs: "use Linux 6.12 or later",
    },
    Promise {
        name: "/proc of other processes",
        mechanism: Mechanism::Landlock,
        trials: &[Trial::ReadProcess],
        needs: "use Linux 5.13 or later",
    },
    Promise {
        name: "system calls: dangerous ones",
        mechanism: Mechanism::Seccomp,
        trials: &[Trial::MakeNamespace, Trial::UseKeyring, Trial::UseIoUring, Trial::TraceProcess],
        needs: "use a kernel that filters system calls (CONFIG_SECCOMP_FILTER=y), on x86-64 or ARM64",
    },
    Promise { name: "limit of memory", mechanism: Mechanism::Memory, trials: &[Trial::UseMemory], needs: "" },
    Promise {
        name: "limit of processor time",
        mechanism: Mechanism::Limit("RLIMIT_CPU"),
        trials: &[Trial::UseProcessor],
        needs: "",
    },
    Promise {
        name: "limit of processes",
        mechanism: Mechanism::Processes,
        trials: &[Trial::StartThreads],
        needs: "let systemd delegate control groups to the server (`Delegate=yes`), or run it as a user other than root: without control groups the kernel does not count the processes of root",
    },
    Promise {
        name: "limit of open files",
        mechanism: Mechanism::Limit("RLIMIT_NOFILE"),
        trials: &[Trial::OpenFiles],
        needs: "",
    },
    Promise {
        name: "limit of file sizes",
        mechanism: Mechanism::Limit("RLIMIT_FSIZE"),
        trials: &[Trial::WriteLargeFile],
        needs: "",
    },
];

const NETWORK: &str = "allow user namespaces, or a filter of system calls, to the user that runs the server";
