//! Whoever hears of changes: a session, or one listening request of the stateless era.

use crate::channel::Channel;
use crate::shape::Members;
use mcp_bash_budget::Charge;
use mcp_bash_wire::{Id, keys, write};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Hearer {
    channel: Arc<dyn Channel>,
    /// The id of the listening request, which everything it hears carries.
    subscription: Option<Id>,
    /// The announcements it wants. A session hears those as a peer.
    announcements: Vec<&'static str>,
    state: Mutex<State>,
    /// What its id costs, which is as long as the client likes.
    _held: Option<Charge>,
}

struct State {
    stage: Stage,
    /// The announcements that wait until the client reads again, each of them once.
    owed: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is sent before the acknowledgement.
    Waiting,
    Open,
    Closed,
}

impl Hearer {
    pub(crate) fn of_session(channel: Arc<dyn Channel>) -> Self {
        let state = Mutex::new(State { stage: Stage::Open, owed: Vec::new() });
        Self { channel, subscription: None, announcements: Vec::new(), state, _held: None }
    }

    pub(crate) fn of_listen(
        channel: Arc<dyn Channel>,
        id: Id,
        announcements: Vec<&'static str>,
        held: Charge,
    ) -> Self {
        let state = Mutex::new(State { stage: Stage::Waiting, owed: Vec::new() });
        Self { channel, subscription: Some(id), announcements, state, _held: Some(held) }
    }

    /// Acknowledges, and lets everything else through from now on. False if it was closed before.
    pub(crate) fn open(&self, notifications: &str) -> bool {
        let mut members = Members::default();
        members.raw("notifications", notifications);
        let acknowledged = self.notification("notifications/subscriptions/acknowledged", members);
        let is_open = self.with(|state| {
            if state.stage == Stage::Waiting {
                state.stage = Stage::Open;
                self.channel.push(acknowledged);
            }
            state.stage == Stage::Open
        });
        self.channel.flush();
        is_open
    }

    /// Sends nothing any more.
    pub(crate) fn close(&self) {
        self.close_after(Vec::new());
    }

    /// Ends the listening request with its result, and says once more that it is over, as the specification wants it
    /// where requests have no streams of their own.
    pub(crate) fn end(&self, result: Vec<u8>) {
        let Some(id) = &self.subscription else { return self.close() };
        let mut params = Members::default();
        params.raw("requestId", id.as_json());
        params.string("reason", Some("the server ends"));
        self.close_after(vec![result, self.notification("notifications/cancelled", params)]);
    }

    fn close_after(&self, last: Vec<Vec<u8>>) {
        self.with(|state| {
            if state.stage != Stage::Closed {
                state.stage = Stage::Closed;
                state.owed = Vec::new();
                for message in last {
                    self.channel.push(message);
                }
            }
        });
        self.channel.flush();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.with(|state| state.stage == Stage::Closed)
    }

    /// Queues the notification of a changed resource. False where the client does not read, so that it has to be told
    /// again later.
    pub(crate) fn tell_updated(&self, uri: &str) -> bool {
        if self.channel.is_clogged() {
            return false;
        }
        let mut params = Members::default();
        params.string("uri", Some(uri));
        let message = self.notification("notifications/resources/updated", params);
        self.with(|state| {
            if state.stage == Stage::Open {
                self.channel.push(message);
            }
        });
        true
    }

    /// Announces that a list has changed, to those who want to know: now, or when they read again.
    pub(crate) fn announce(&self, method: &str) {
        let Some(method) = self.announcements.iter().find(|wanted| **wanted == method) else { return };
        self.with(|state| {
            if state.stage != Stage::Open {
                return;
            }
            if !self.channel.is_clogged() {
                self.channel.push(self.notification(method, Members::default()));
            } else if !state.owed.contains(method) {
                state.owed.push(method);
            }
        });
        self.flush();
    }

    /// Announces what could not be announced before.
    pub(crate) fn tell_what_is_owed(&self) {
        for method in self.with(|state| std::mem::take(&mut state.owed)) {
            self.announce(method);
        }
    }

    pub(crate) fn flush(&self) {
        self.channel.flush();
    }

    fn notification(&self, method: &str, mut params: Members) -> Vec<u8> {
        if let Some(id) = &self.subscription {
            params.raw("_meta", &format!("{{\"{}\":{}}}", keys::SUBSCRIPTION_ID, id.as_json()));
        }
        write::notification(method, &params.object())
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
