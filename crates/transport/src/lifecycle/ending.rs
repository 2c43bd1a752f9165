//! Shutdown reasons.

use mcp_bash_wire::LogLevel;

/// Why a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client closed our input; what it had asked is answered.
    EndOfInput,
    /// The client said `exit`.
    Exit,
    /// The client said `shutdown`, and `exit` did not come in time.
    ShutdownTimeout,
    Signal(i32),
    /// The client closed our output: nobody will hear an answer.
    OutputClosed,
    /// What the client was to read could not be written, and it has not closed our output.
    OutputFailed,
    /// The process that started us is gone.
    ParentDied,
    /// The client has not said anything for too long.
    Idle,
    /// A signal asked for it, and whatever was begun has been answered.
    Drained,
}

impl Ending {
    /// The status the process ends with: shells know a death by a signal as 128 and its number.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Signal(number) => 128 + number,
            Self::OutputFailed => 1,
            _ => 0,
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::EndOfInput => "end of input",
            Self::Exit => "the client said exit",
            Self::ShutdownTimeout => "shutdown timeout: exit did not come in time",
            Self::Signal(_) => "ended by a signal",
            Self::OutputClosed => "the client closed our output",
            Self::OutputFailed => "standard output cannot be written",
            Self::ParentDied => "the process that started us is gone",
            Self::Idle => "idle timeout: no message from the client",
            Self::Drained => "everything is answered",
        }
    }

    pub(crate) fn level(self) -> LogLevel {
        match self {
            Self::EndOfInput | Self::Exit | Self::Drained => LogLevel::Debug,
            Self::ShutdownTimeout | Self::Idle => LogLevel::Warning,
            Self::OutputFailed => LogLevel::Error,
            Self::Signal(_) | Self::OutputClosed | Self::ParentDied => LogLevel::Notice,
        }
    }

    /// Whether the client may still want to read what it was told.
    pub(crate) fn leaves_a_reader(self) -> bool {
        matches!(self, Self::EndOfInput | Self::Exit | Self::ShutdownTimeout | Self::Idle)
    }
}
