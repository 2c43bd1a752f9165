//! Shutdown reasons: their exit codes and log messages.

use mcp_bash_wire::LogLevel;

/// Why a server shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client closed our input; its requests have been answered.
    EndOfInput,
    /// The client sent `exit`.
    Exit,
    /// The client sent `shutdown`, and `exit` did not follow in time.
    ShutdownTimeout,
    Signal(i32),
    /// The client closed our output: it will not receive any response.
    OutputClosed,
    /// Writing to our output failed, although the client has not closed it.
    OutputFailed,
    /// The parent process is gone.
    ParentDied,
    /// The client has sent no message within the idle timeout.
    Idle,
    /// A signal asked for a graceful shutdown, and all requests in progress have been answered.
    Drained,
}

impl Ending {
    /// The exit code of the process: 128 plus the signal number after a signal, as shells report it.
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
            Self::Exit => "the client sent exit",
            Self::ShutdownTimeout => "shutdown timeout: exit did not follow in time",
            Self::Signal(_) => "ended by a signal",
            Self::OutputClosed => "the client closed our output",
            Self::OutputFailed => "standard output cannot be written",
            Self::ParentDied => "the parent process is gone",
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

    /// Whether the client may still read messages that were sent to it.
    pub(crate) fn leaves_a_reader(self) -> bool {
        matches!(self, Self::EndOfInput | Self::Exit | Self::ShutdownTimeout | Self::Idle)
    }
}
