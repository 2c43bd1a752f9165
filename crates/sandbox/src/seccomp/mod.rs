//! The seccomp filter: which system calls a process may make, and all that it starts.
//!
//! It is a deny list. An allow list has to name every call of every interpreter, runtime and C library that a script
//! may use, and breaks the next version of one of them; a script author cannot fix that. Files and the network are
//! held by Landlock and namespaces, which are allow lists. The filter takes away what gets around those two (mounts,
//! namespaces, other processes, odd sockets), and parts of the kernel that scripts do not use and attackers do. Calls
//! that are newer than the table get `ENOSYS`, as on an older kernel, so that the list does not age.
//!
//! `choices.rs` is what a filter depends on, `decision.rs` is the form of a rule, `calls.rs` has the numbers, `rules.rs` and `sockets.rs` have the rules,
//! `program.rs` compiles them, and `install.rs` installs the result. `watched.rs` is another filter, which denies nothing: it reports
//! calls that name files and addresses.

mod calls;

mod decision;
mod install;
mod program;
mod rules;
mod sockets;
#[cfg(test)]
mod tests;
pub(crate) mod watched;

pub use crate::filter_choices::{FilterChoices, Sockets};

use calls::Architecture;
use std::fmt;
use std::sync::Arc;

/// A compiled filter, whole and in two parts.
///
/// The kernel compiles and tries a filter whenever it is installed, which takes a fifth of the time that a small script
/// takes to start. So a thread that starts processes can be under the first part already, which its children inherit, and
/// a child installs the short second part.
#[derive(Clone)]
pub struct Filter {
    choices: FilterChoices,
    whole: Instructions,
    inherited: Instructions,
    rest: Instructions,
}

type Instructions = Arc<[libc::sock_filter]>;

impl Filter {
    /// `None` on processors whose system calls the table does not have.
    pub fn new(choices: FilterChoices) -> Option<Self> {
        let architecture = Architecture::of_this_build()?;
        let rules = rules::rules(architecture, choices);
        let (inherited, rest) = rules::split(architecture, &rules);
        let compile = |rules: &[_]| program::compile(architecture, rules).into();
        Some(Self { choices, whole: compile(&rules), inherited: compile(&inherited), rest: compile(&rest) })
    }

    /// Puts the calling thread under the filter, for good. The thread needs `no_new_privs` (or `CAP_SYS_ADMIN`).
    ///
    /// It is one system call, and neither allocates nor locks: safe in the child of `vfork`.
    pub fn apply(&self) -> rustix::io::Result<()> {
        install::install(&self.whole)
    }

    /// Puts the calling thread under the part that its children inherit, for good. It can still make them in control groups
    /// and in namespaces. The thread needs `no_new_privs`, as for [`Self::apply`].
    pub fn apply_inherited(&self) -> rustix::io::Result<()> {
        install::install(&self.inherited)
    }

    /// Completes the filter in a child of such a thread. Safe in the child of `vfork`.
    pub fn complete(&self) -> rustix::io::Result<()> {
        install::install(&self.rest)
    }

    pub fn instructions(&self) -> &[libc::sock_filter] {
        &self.whole
    }
}

/// The instructions follow from the choices.
impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.choices == other.choices
    }
}

impl Eq for Filter {}

impl fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Filter")
            .field("choices", &self.choices)
            .field("instructions", &self.whole.len())
            .finish_non_exhaustive()
    }
}
