//! The exit codes: one meaning each, for all commands. `docs/exit-codes.md` says which command ends with which.

use std::process::ExitCode;

/// How a command ended, as a shell sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked to.
    Done,
    /// It ran, and what it ran failed or what it looked at is wrong: a result that is an error, a failed test, a problem.
    Failed,
    /// It was called in a way that makes no sense: flags, arguments, no project here, a setting.
    Usage,
    /// It will not do that: a policy is against it, or something would be lost.
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
    /// All of them with their meaning, for the manual.
    pub(crate) const ALL: [(Self, &'static str); 9] = [
        (Self::Done, "it did what it was asked to"),
        (Self::Failed, "it ran, and what it ran failed or what it looked at is wrong"),
        (
            Self::Usage,
            "it was called in a way that makes no sense: flags, arguments, no project here, a setting",
        ),
        (Self::Refused, "it will not do that: a policy is against it, or something would be lost"),
        (Self::NotFound, "there is nothing of that name"),
        (Self::TimedOut, "it took too long"),
        (Self::NoServer, "a server could not be started, or does not speak the protocol"),
        (Self::OwnFault, "a fault of mcp-bash itself, which is worth a report"),
        (Self::Interrupted, "Ctrl-C"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_documented() {
        let page = include_str!("../../../docs/exit-codes.md");
        for exit in [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Refused,
            Exit::NotFound,
            Exit::TimedOut,
            Exit::NoServer,
            Exit::Interrupted,
        ] {
            assert!(page.contains(&format!("\n| {} | ", exit.number())), "{exit:?}");
        }
    }
}
