//! Handshake of a session: its stage, what it agreed on, and which methods may be called at each stage.

use super::capabilities::ClientCapabilities;
use mcp_bash_wire::{LogLevel, Revision, RpcError, code};

/// The stage of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// No `initialize` yet.
    Fresh,
    /// `initialize` is answered, but `notifications/initialized` has not arrived.
    Greeted,
    Ready,
}

/// When in a session a method may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// At any time, even while shutting down.
    Always,
    /// At any time but while shutting down.
    Open,
    /// Once, as the first request.
    First,
    /// From the answer to `initialize` on, for clients that do not wait until they have said that they are initialized.
    Greeted,
    /// After `notifications/initialized`.
    Ready,
}

impl Gate {
    /// The gate for a client that need not begin with a handshake.
    pub(crate) fn without_handshake(self) -> Self {
        match self {
            Self::Greeted | Self::Ready => Self::Open,
            gate => gate,
        }
    }
}

/// The agreement between client and server so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake {
    pub(crate) stage: Stage,
    pub(crate) revision: Revision,
    /// What the client can do for a running script.
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: LogLevel,
}

impl Handshake {
    /// A handshake that has not begun.
    pub(crate) fn fresh(log_level: LogLevel) -> Self {
        Self {
            stage: Stage::Fresh,
            revision: Revision::NEWEST_HANDSHAKE,
            capabilities: ClientCapabilities::default(),
            log_level,
        }
    }

    /// Whether the client may send a batch now.
    pub(crate) fn has_batches(self) -> bool {
        self.stage > Stage::Fresh && self.revision.has_batches()
    }

    /// The least serious log events that the client receives, once it is ready for them.
    pub(crate) fn log_level(self) -> Option<LogLevel> {
        (self.stage == Stage::Ready).then_some(self.log_level)
    }

    /// Whether a method behind `gate` may be called at this stage.
    pub(crate) fn admits(self, gate: Gate) -> Result<(), RpcError> {
        match gate {
            Gate::First if self.stage > Stage::Fresh => {
                Err(RpcError::invalid_request("Server already initialized"))
            }
            Gate::Greeted | Gate::Ready if self.stage < Stage::Greeted => {
                Err(not_initialized("send `initialize` first"))
            }
            Gate::Ready if self.stage < Stage::Ready => {
                Err(not_initialized("send `notifications/initialized` first"))
            }
            _ => Ok(()),
        }
    }
}

fn not_initialized(remedy: &str) -> RpcError {
    RpcError::with_reason(code::NOT_INITIALIZED, "Server not initialized", remedy)
}
