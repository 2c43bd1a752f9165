//! Confinement: restrictions under which a process starts its program, inherited by everything it starts.
//!
//! The server prepares a confinement as a list of steps. The child applies them to itself between `clone` and `execve`,
//! where it shares the memory of the server: so a step is one system call and neither allocates nor locks. If a step
//! fails, the program is not run.

use rustix::process::{Resource, Rlimit, setrlimit};
use std::fmt::{self, Display};

/// The restrictions of one process. By default there are none, and starting it takes no additional system
/// call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    steps: Vec<Step>,
}

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
}

/// One system call of the child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    ForbidNewPrivileges,
    Limit(ProcessLimit),
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

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Step {
    /// Applies the step to the calling process. Safe to call in the child of `vfork`.
    pub(crate) fn apply(&self) -> rustix::io::Result<()> {
        match self {
            Self::ForbidNewPrivileges => forbid_new_privileges(),
            Self::Limit(limit) => {
                let (resource, most) = limit.as_system_call();
                setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            }
        }
    }
}

impl ProcessLimit {
    fn as_system_call(self) -> (Resource, u64) {
        match self {
            Self::CpuSeconds(most) => (Resource::Cpu, most),
            Self::FileBytes(most) => (Resource::Fsize, most),
            Self::OpenFiles(most) => (Resource::Nofile, most),
        }
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
        }
    }
}

#[cfg(target_os = "linux")]
fn forbid_new_privileges() -> rustix::io::Result<()> {
    rustix::thread::set_no_new_privs(true)
}

#[cfg(not(target_os = "linux"))]
fn forbid_new_privileges() -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}
