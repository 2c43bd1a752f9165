//! The state of a connection in the handshake era: how far the handshake is, and what it agreed on.

use crate::capabilities::ClientCapabilities;
use crate::peers::Peer;
use mcp_bash_wire::{LogLevel, Revision, RpcError, code};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// No `initialize` yet.
    Fresh,
    /// `initialize` is answered, `notifications/initialized` has not come.
    Greeted,
    Ready,
}

/// When in a session a method may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// At any time, even while shutting down.
    Always,
    /// Once, as the first request.
    First,
    /// From the answer to `initialize` on, for clients that do not wait to say they are initialized.
    Greeted,
    /// After `notifications/initialized`.
    Ready,
}

pub(crate) struct Session {
    stage: Stage,
    revision: Revision,
    capabilities: ClientCapabilities,
    log_level: LogLevel,
    /// Shared with whoever waits for the end. It binds both eras, since it is the process that ends.
    closing: Arc<AtomicBool>,
    peer: Arc<Peer>,
}

impl Session {
    pub(crate) fn new(peer: Arc<Peer>, log_level: LogLevel, closing: Arc<AtomicBool>) -> Self {
        Self {
            stage: Stage::Fresh,
            revision: Revision::NEWEST_HANDSHAKE,
            capabilities: ClientCapabilities::default(),
            log_level,
            closing,
            peer,
        }
    }

    pub(crate) fn greet(&mut self, revision: Revision, capabilities: ClientCapabilities) {
        self.stage = Stage::Greeted;
        self.revision = revision;
        self.capabilities = capabilities;
    }

    /// The client is ready for what we have to say. False when it was so before, or has not been greeted yet.
    pub(crate) fn ready(&mut self) -> bool {
        let is_news = self.stage == Stage::Greeted;
        if is_news {
            self.stage = Stage::Ready;
            self.peer.set_log_level(self.log_level);
            self.peer.set_ready();
        }
        is_news
    }

    /// What the client can do for a running script.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    pub(crate) fn set_log_level(&mut self, level: LogLevel) {
        self.log_level = level;
        self.peer.set_log_level(level);
    }

    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether a batch may come now.
    pub(crate) fn has_batches(&self) -> bool {
        self.stage > Stage::Fresh && self.revision.has_batches()
    }

    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        (self.stage == Stage::Ready).then_some(self.log_level)
    }

    /// Whether a method behind `gate` may be called now.
    pub(crate) fn admits(&self, gate: Gate) -> Result<(), RpcError> {
        if gate == Gate::Always {
            return Ok(());
        }
        if self.is_closing() {
            return Err(RpcError::new(code::SHUTTING_DOWN, "Server shutting down"));
        }
        match gate {
            Gate::First if self.stage > Stage::Fresh => {
                Err(RpcError::invalid_request("Invalid Request: the server is already initialized"))
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
    RpcError::new(code::NOT_INITIALIZED, format!("Server not initialized: {remedy}"))
}
