//! A session of the handshake era: how far the handshake is, what it agreed on, and what belongs to no request.

use crate::capabilities::ClientCapabilities;
use crate::questions::Questions;
use crate::reply::Stream;
use crate::roots::ClientRoots;
use crate::subscriber::Subscriber;
use mcp_bash_wire::{LogLevel, Revision, RpcError, code};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a handshake is.
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

/// What client and server have agreed on so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake {
    stage: Stage,
    pub(crate) revision: Revision,
    /// What the client can do for a running script.
    pub(crate) capabilities: ClientCapabilities,
    log_level: LogLevel,
}

pub(crate) struct Session {
    handshake: Mutex<Handshake>,
    /// The client said `shutdown`.
    closing: AtomicBool,
    /// The client said `exit`, and may.
    exited: AtomicBool,
    pub(crate) questions: Arc<Questions>,
    pub(crate) roots: Arc<ClientRoots>,
    pub(crate) subscriber: Arc<Subscriber>,
}

impl Session {
    /// A session that has not begun. What belongs to no request goes to `stream`.
    pub(crate) fn new(stream: Arc<dyn Stream>, log_level: LogLevel, events_per_minute: u32) -> Self {
        let subscriber = Arc::new(Subscriber::of_session(Arc::clone(&stream), log_level, events_per_minute));
        let questions = Arc::new(Questions::default());
        let handshake = Handshake {
            stage: Stage::Fresh,
            revision: Revision::NEWEST_HANDSHAKE,
            capabilities: ClientCapabilities::default(),
            log_level,
        };
        Self {
            handshake: Mutex::new(handshake),
            closing: AtomicBool::new(false),
            exited: AtomicBool::new(false),
            roots: Arc::new(ClientRoots::new(Arc::clone(&questions), stream, Arc::clone(&subscriber))),
            questions,
            subscriber,
        }
    }

    /// How far the handshake is.
    pub(crate) fn handshake(&self) -> Handshake {
        *self.handshake.lock()
    }

    /// `initialize` has come, which it may only once.
    pub(crate) fn greet(&self, revision: Revision, capabilities: ClientCapabilities) -> Result<(), RpcError> {
        let mut handshake = self.handshake.lock();
        handshake.admits(Gate::First)?;
        *handshake = Handshake { stage: Stage::Greeted, revision, capabilities, ..*handshake };
        Ok(())
    }

    /// The client is ready for what we have to say. False when it was so before, or has not been greeted yet.
    pub(crate) fn ready(&self) -> bool {
        let mut handshake = self.handshake.lock();
        let is_news = handshake.stage == Stage::Greeted;
        if is_news {
            handshake.stage = Stage::Ready;
            self.subscriber.open();
        }
        is_news
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.handshake.lock().log_level = level;
        self.subscriber.set_log_level(level);
    }

    /// The client said `shutdown`.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// The client said `exit`. False where it has not said `shutdown` before.
    pub(crate) fn exit(&self) -> bool {
        let may_exit = self.is_closing();
        self.exited.fetch_or(may_exit, Ordering::AcqRel);
        may_exit
    }

    pub(crate) fn has_exited(&self) -> bool {
        self.exited.load(Ordering::Acquire)
    }

    /// Whether a method behind `gate` may be called now.
    pub(crate) fn admits(&self, gate: Gate) -> Result<(), RpcError> {
        if gate != Gate::Always && self.is_closing() {
            return Err(RpcError::new(code::SHUTTING_DOWN, "Server shutting down"));
        }
        self.handshake.lock().admits(gate)
    }
}

impl Handshake {
    /// Whether a batch may come now.
    pub(crate) fn has_batches(&self) -> bool {
        self.stage > Stage::Fresh && self.revision.has_batches()
    }

    /// The least serious log events that the client wants to hear of, once it is ready to.
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        (self.stage == Stage::Ready).then_some(self.log_level)
    }

    fn admits(&self, gate: Gate) -> Result<(), RpcError> {
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
