//! Confinement: restrictions under which a process starts its program, inherited by everything it starts.
//!
//! The server prepares a confinement as a list of steps. The child applies them to itself between `clone` and `execve`,
//! where it shares the memory of the server: so a step is one or two system calls and neither allocates nor locks. If a
//! step fails, the program is not run.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use crate::linux::landlock::Ruleset;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use crate::linux::namespaces::{self, Namespaces};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use crate::linux::watch::Watch;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use crate::seccomp::Filter;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fmt::{self, Display};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// The restrictions of one process. By default there are none, and starting it takes no additional system
/// call.
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    steps: Vec<Step>,
    /// The limits of its control group.
    group_limits: GroupLimits,
    /// What has to stay as long as the process lives.
    kept: Option<Arc<dyn Keep>>,
}

/// Limits of a process and everything that it starts, all together, by its control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupLimits {
    /// In bytes.
    pub memory: Option<u64>,
    pub processes: Option<u64>,
}

/// Something that a confined process needs as long as it lives. It is only dropped.
pub trait Keep: fmt::Debug + Send + Sync {}

/// A resource limit (`setrlimit`). It is set as the hard limit too, so that the process cannot raise it
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Processor time of each process (`ulimit -t`).
    CpuSeconds(u64),
    /// The size of files that are written (`ulimit -f`).
    FileBytes(u64),
    /// The number of open files of each process (`ulimit -n`).
    OpenFiles(u64),
    /// Private memory of each process (`ulimit -d`). Programs that only reserve addresses do not count.
    DataBytes(u64),
    /// The processes and threads of the user in its user namespace (`ulimit -u`). Root is exempt.
    Processes(u64),
}

/// One restriction, applied by the child.
#[derive(Debug, Clone)]
pub enum Step {
    ForbidNewPrivileges,
    Limit(ProcessLimit),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    EnterUserNamespace(Arc<OwnedFd>),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    EnterNetwork(Arc<OwnedFd>),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    EnterIpc(Arc<OwnedFd>),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    DropCapabilities,
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    RestrictFiles(Arc<Ruleset>),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    FilterSystemCalls(Filter),
    /// Of a process that has inherited the other part of the filter.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    CompleteFilter(Filter),
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    WatchSystemCalls(Arc<Watch>),
}

impl Confinement {
    /// Prevents the process, and all it starts, from gaining privileges by running setuid programs (`no_new_privs`).
    /// Only Linux can do it; elsewhere the process does not start.
    #[must_use]
    pub fn without_new_privileges(self) -> Self {
        self.and(Step::ForbidNewPrivileges)
    }

    #[must_use]
    pub fn with_limit(self, limit: ProcessLimit) -> Self {
        self.and(Step::Limit(limit))
    }

    /// Puts the process into namespaces. It has all capabilities in a user namespace until it runs its program.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[must_use]
    pub fn inside(mut self, namespaces: &Namespaces) -> Self {
        if let Some(user) = &namespaces.user {
            self = self.and(Step::EnterUserNamespace(Arc::clone(user)));
        }
        self.and(Step::EnterNetwork(Arc::clone(&namespaces.network)))
            .and(Step::EnterIpc(Arc::clone(&namespaces.ipc)))
    }

    /// Takes all capabilities from root.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[must_use]
    pub fn without_capabilities(self) -> Self {
        self.and(Step::DropCapabilities)
    }

    /// Restricts files. New privileges must have been forbidden.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[must_use]
    pub fn restricted_by(self, ruleset: Arc<Ruleset>) -> Self {
        self.and(Step::RestrictFiles(ruleset))
    }

    /// Filters system calls: the last step, since it forbids the others.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[must_use]
    pub fn filtered_by(self, filter: Filter) -> Self {
        self.and(Step::FilterSystemCalls(filter))
    }

    /// Watches what the process touches. That comes after the namespaces, and before the limits: the listener is one more
    /// open file.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<Watch>) -> Self {
        let is_namespace = |step: &Step| matches!(step, Step::EnterUserNamespace(_) | Step::EnterNetwork(_));
        let place = self.steps.iter().take_while(|step| is_namespace(step)).count();
        self.steps.splice(place..place, [Step::ForbidNewPrivileges, Step::WatchSystemCalls(watch)]);
        self
    }

    /// Keeps a value until the process has ended.
    #[must_use]
    pub fn keeping(mut self, kept: Arc<dyn Keep>) -> Self {
        self.kept = Some(kept);
        self
    }

    /// Starts the process in a control group with these limits. If there is none, it does not start.
    #[must_use]
    pub fn with_group_limits(self, group_limits: GroupLimits) -> Self {
        Self { group_limits, ..self }
    }

    pub fn group_limits(&self) -> GroupLimits {
        self.group_limits
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The filter that the process can inherit from the thread that starts it, and the steps that it has to apply itself
    /// then.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    pub fn inheritable(&self) -> Option<(&Filter, Vec<Step>)> {
        let (Step::FilterSystemCalls(filter), others) = self.steps.split_last()? else { return None };
        // The listener would have to pass the filter on its way to us.
        if others.iter().any(|step| matches!(step, Step::WatchSystemCalls(_))) {
            return None;
        }
        let rest = others.iter().cloned().chain([Step::CompleteFilter(filter.clone())]);
        Some((filter, rest.collect()))
    }

    fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Step {
    /// Applies the step to the calling process. Safe to call in the child of `vfork`.
    pub fn apply(&self) -> rustix::io::Result<()> {
        match self {
            Self::ForbidNewPrivileges => forbid_new_privileges(),
            Self::Limit(limit) => limit.set(),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterUserNamespace(namespace) => namespaces::enter(namespace.as_fd(), libc::CLONE_NEWUSER),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterNetwork(namespace) => namespaces::enter(namespace.as_fd(), libc::CLONE_NEWNET),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterIpc(namespace) => namespaces::enter(namespace.as_fd(), libc::CLONE_NEWIPC),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::DropCapabilities => crate::linux::drop_capabilities(),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::RestrictFiles(ruleset) => ruleset.apply(),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::FilterSystemCalls(filter) => filter.apply(),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::CompleteFilter(filter) => filter.complete(),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::WatchSystemCalls(watch) => watch.apply(),
        }
    }
}

impl ProcessLimit {
    fn set(self) -> rustix::io::Result<()> {
        let (resource, most) = match self {
            Self::CpuSeconds(most) => (Resource::Cpu, most),
            Self::FileBytes(most) => (Resource::Fsize, most),
            Self::OpenFiles(most) => (Resource::Nofile, most),
            Self::DataBytes(most) => (Resource::Data, most),
            Self::Processes(most) => (Resource::Nproc, most),
        };
        // A second more until it is killed, so that the first signal says why: SIGXCPU.
        let killed = if resource == Resource::Cpu { most.saturating_add(1) } else { most };
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(killed) })
    }
}

/// Completes "failed to …".
impl Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForbidNewPrivileges => write!(formatter, "forbid new privileges"),
            Self::Limit(ProcessLimit::CpuSeconds(most)) => {
                write!(formatter, "limit processor time to {most} s")
            }
            Self::Limit(ProcessLimit::FileBytes(most)) => write!(formatter, "limit files to {most} bytes"),
            Self::Limit(ProcessLimit::OpenFiles(most)) => write!(formatter, "limit open files to {most}"),
            Self::Limit(ProcessLimit::DataBytes(most)) => write!(formatter, "limit memory to {most} bytes"),
            Self::Limit(ProcessLimit::Processes(most)) => write!(formatter, "limit processes to {most}"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterUserNamespace(_) => write!(formatter, "enter its user namespace"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterNetwork(_) => write!(formatter, "enter its network namespace"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::EnterIpc(_) => write!(formatter, "enter its IPC namespace"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::DropCapabilities => write!(formatter, "give up capabilities"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::RestrictFiles(_) => write!(formatter, "restrict files by Landlock"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::FilterSystemCalls(_) | Self::CompleteFilter(_) => write!(formatter, "filter system calls"),
            #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
            Self::WatchSystemCalls(_) => write!(formatter, "watch its system calls"),
        }
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn forbid_new_privileges() -> rustix::io::Result<()> {
    rustix::thread::set_no_new_privs(true)
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn forbid_new_privileges() -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}
