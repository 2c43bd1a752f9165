//! Session of the handshake era: its handshake, and the state that belongs to no request.

use super::roots::ClientRoots;
use super::session_state::SessionState;
use crate::callers::{ClientCapabilities, Consents, Gate, Handshake, Stage};
use crate::logging::{MeasuredSession, Subscriber};
use crate::replies::Stream;
use crate::requests::Questions;
use mcp_bash_wire::{LogLevel, Revision, RpcError, code};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) struct Session {
    handshake: Mutex<Handshake>,
    /// Whether the client sent `shutdown`.
    closing: AtomicBool,
    /// Whether the client sent `exit` after `shutdown`.
    exited: AtomicBool,
    pub(crate) questions: Arc<Questions>,
    pub(crate) roots: Arc<ClientRoots>,
    pub(crate) subscriber: Arc<Subscriber>,
    /// The values that functions keep between the calls of the session.
    pub(crate) state: SessionState,
    /// The calls that the user has allowed for the whole session.
    pub(crate) consents: Consents,
    /// Set if there is a meter.
    pub(crate) measured: OnceLock<MeasuredSession>,
    /// The name and version of the client, if it sent them.
    pub(crate) client_info: OnceLock<[String; 2]>,
}

impl Session {
    /// Creates a session before `initialize`. Messages that belong to no request go to `stream`.
    pub(crate) fn new(stream: Arc<dyn Stream>, log_level: LogLevel, events_per_minute: u32) -> Self {
        let subscriber = Arc::new(Subscriber::of_session(Arc::clone(&stream), log_level, events_per_minute));
        let questions = Arc::new(Questions::default());
        Self {
            handshake: Mutex::new(Handshake::fresh(log_level)),
            closing: AtomicBool::new(false),
            exited: AtomicBool::new(false),
            roots: Arc::new(ClientRoots::new(Arc::clone(&questions), stream, Arc::clone(&subscriber))),
            questions,
            subscriber,
            state: SessionState::default(),
            consents: Consents::of_session(),
            measured: OnceLock::new(),
            client_info: OnceLock::new(),
        }
    }

    /// The name of the client; empty if it sent none.
    pub(crate) fn client_name(&self) -> &str {
        self.client_info.get().map_or("", |[name, _]| name)
    }

    /// The state of the handshake.
    pub(crate) fn handshake(&self) -> Handshake {
        *self.handshake.lock()
    }

    /// The revision that `initialize` agreed on, if it has arrived.
    pub(crate) fn agreed_revision(&self) -> Option<Revision> {
        let handshake = self.handshake();
        (handshake.stage > Stage::Fresh).then_some(handshake.revision)
    }

    /// Records `initialize`, which is allowed only once.
    pub(crate) fn greet(&self, revision: Revision, capabilities: ClientCapabilities) -> Result<(), RpcError> {
        let mut handshake = self.handshake.lock();
        handshake.admits(Gate::First)?;
        *handshake = Handshake { stage: Stage::Greeted, revision, capabilities, ..*handshake };
        Ok(())
    }

    /// Marks the client as initialized. False if it already is, or before `initialize`.
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

    /// Records `shutdown`.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Records `exit`. False if there was no `shutdown` before.
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
