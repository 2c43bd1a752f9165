//! Handshake of a session: its stage, the agreed revision and capabilities, and the methods allowed at each stage.

use super::capabilities::ClientCapabilities;
use mcp_bash_wire::{LogLevel, Revision, RpcError, code};

/// The stage of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// `initialize` has not arrived.
    Fresh,
    /// `initialize` is answered, but `notifications/initialized` has not arrived.
    Greeted,
    Ready,
}

/// When a session may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// At any time, even during shutdown.
    Always,
    /// At any time, except during shutdown.
    Open,
    /// Once, as the first request.
    First,
    /// After the response to `initialize`, for clients that do not wait for `notifications/initialized`.
    Greeted,
    /// After `notifications/initialized`.
    Ready,
}

impl Gate {
    /// The gate if no handshake is required.
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
    /// The capabilities of the client.
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: LogLevel,
}

impl Handshake {
    /// A handshake before `initialize`.
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

    /// The minimum level of the log events that the client receives, once it is initialized.
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
