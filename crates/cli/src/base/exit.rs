//! Exit codes: one meaning each, for all commands. `docs/exit-codes.md` says which command uses which.

use std::process::ExitCode;

/// How a command ended, as a shell sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It succeeded.
    Done,
    /// It ran, and what it ran failed or what it checked is wrong: an error result, a failed test, a problem.
    Failed,
    /// It was called the wrong way: flags, arguments, no project here, a setting.
    Usage,
    /// It refuses: a policy forbids it, or something would be lost.
    Refused,
    /// There is no tool, resource or prompt of that name.
    NotFound,
    /// It took too long.
    TimedOut,
    /// A server could not be started, or does not speak the protocol.
    NoServer,
    /// Ctrl-C.
    Interrupted,
    /// We panicked.
    OwnFault,
}

impl Exit {
    /// All of them with their meaning, for the manual and the page of exit codes.
    pub(crate) const ALL: [(Self, &'static str); 9] = [
        (Self::Done, "it did what it was asked to; for a call: the result is no error"),
        (
            Self::Failed,
            "it ran and failed, or found problems: a tool that failed, a test, an unhealthy project",
        ),
        (
            Self::Usage,
            "it was called in a way that makes no sense: unknown flags, arguments that do not fit a schema, no project \
             here, a wrong setting",
        ),
        (
            Self::Refused,
            "it refuses: a policy is against it, a file is not trusted, or something would be overwritten",
        ),
        (
            Self::NotFound,
            "there is no tool, resource or prompt of that name; the message suggests the nearest one",
        ),
        (Self::TimedOut, "it took too long"),
        (Self::NoServer, "a server could not be started, ended too early, or does not speak the protocol"),
        (Self::OwnFault, "a fault of mcp-bash itself: one line on standard error, which is worth a report"),
        (Self::Interrupted, "Ctrl-C, or another signal that asks to end (TERM, HUP); nothing is left behind"),
    ];

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotFound => 4,
            Self::TimedOut => 5,
            Self::NoServer => 6,
            Self::Interrupted => 130,
            Self::OwnFault => 101,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
