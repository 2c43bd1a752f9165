//! Subscriber: a session, or a `subscriptions/listen` request of the stateless era, that receives notifications of changes.

use crate::callers::Limiter;
use crate::replies::{Members, Stream};
use mcp_bash_budget::Charge;
use mcp_bash_wire::{Id, LogLevel, keys, write};
use parking_lot::Mutex;
use std::sync::Arc;

/// A kind of list whose changes are announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListChange {
    /// Its name among the capabilities.
    pub(crate) kind: &'static str,
    /// Its name in the filter of a listening request.
    pub(crate) filter: &'static str,
    /// The notification method.
    pub(crate) method: &'static str,
}

impl ListChange {
    pub(crate) const TOOLS: Self =
        Self { kind: "tools", filter: "toolsListChanged", method: "notifications/tools/list_changed" };
    pub(crate) const PROMPTS: Self =
        Self { kind: "prompts", filter: "promptsListChanged", method: "notifications/prompts/list_changed" };
    pub(crate) const RESOURCES: Self = Self {
        kind: "resources",
        filter: "resourcesListChanged",
        method: "notifications/resources/list_changed",
    };
    pub(crate) const ALL: [Self; 3] = [Self::TOOLS, Self::PROMPTS, Self::RESOURCES];
}

pub(crate) struct Subscriber {
    stream: Arc<dyn Stream>,
    /// The id of the listening request, contained in all its notifications. A session has none.
    listen_id: Option<Id>,
    /// The announcements that it wants.
    announcements: Vec<ListChange>,
    state: Mutex<SubscriberState>,
    /// The charge for the id, whose length the client chooses.
    _held: Option<Charge>,
}

struct SubscriberState {
    delivery: Delivery,
    /// Announcements withheld while the client is congested, each of them once.
    owed: Vec<ListChange>,
    /// The minimum level and the rate limit of log events. Only sessions receive events that belong to no request.
    log: Option<(LogLevel, Limiter)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// Before the session is initialized or the listening request is acknowledged, nothing is sent.
    Waiting,
    Open,
    Closed,
}

impl Subscriber {
    /// The subscriber of a session, whose messages without a request go to this stream.
    pub(crate) fn of_session(stream: Arc<dyn Stream>, log_level: LogLevel, events_per_minute: u32) -> Self {
        let log = Some((log_level, Limiter::new(events_per_minute)));
        Self {
            stream,
            listen_id: None,
            announcements: ListChange::ALL.to_vec(),
            state: Mutex::new(SubscriberState { delivery: Delivery::Waiting, owed: Vec::new(), log }),
            _held: None,
        }
    }

    /// The subscriber of a listening request, which is answered on this stream.
    pub(crate) fn of_listen(
        stream: Arc<dyn Stream>,
        id: Id,
        announcements: Vec<ListChange>,
        held: Charge,
    ) -> Self {
        let state = Mutex::new(SubscriberState { delivery: Delivery::Waiting, owed: Vec::new(), log: None });
        Self { stream, listen_id: Some(id), announcements, state, _held: Some(held) }
    }

    /// Opens the subscriber: it receives notifications from now on. False if it was closed before.
    pub(crate) fn open(&self) -> bool {
        self.open_after(None)
    }

    /// Acknowledges a listening request and opens the subscriber. False if it was closed before.
    pub(crate) fn acknowledge(&self, notifications: &str) -> bool {
        let mut members = Members::default();
        members.raw("notifications", notifications);
        self.open_after(Some(self.notification("notifications/subscriptions/acknowledged", members)))
    }

    fn open_after(&self, first: Option<Vec<u8>>) -> bool {
        let mut state = self.state.lock();
        if state.delivery == Delivery::Waiting {
            state.delivery = Delivery::Open;
            if let Some(message) = first {
                self.stream.notify(message);
            }
        }
        let is_open = state.delivery == Delivery::Open;
        drop(state);
        self.stream.flush();
        is_open
    }

    /// Closes the subscriber: it receives no more notifications.
    pub(crate) fn close(&self) {
        self.close_after(|_| {});
    }

    /// Closes the subscriber after its last messages, which `say` sends.
    pub(crate) fn close_after(&self, say: impl FnOnce(&dyn Stream)) {
        let mut state = self.state.lock();
        if state.delivery != Delivery::Closed {
            state.delivery = Delivery::Closed;
            state.owed = Vec::new();
            say(&*self.stream);
        }
        drop(state);
        self.stream.flush();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().delivery == Delivery::Closed
    }

    /// Queues the notification of a changed resource. False if the client is congested, so that it has to be notified later.
    pub(crate) fn tell_updated(&self, uri: &str) -> bool {
        if self.stream.is_clogged() {
            return false;
        }
        let mut params = Members::default();
        params.string("uri", Some(uri));
        let message = self.notification("notifications/resources/updated", params);
        let state = self.state.lock();
        if state.delivery == Delivery::Open {
            self.stream.notify(message);
        }
        true
    }

    /// Sends the state of a task. False if the client is congested, so that it has to be sent later.
    pub(crate) fn tell_task(&self, params: Members) -> bool {
        if self.stream.is_clogged() {
            return false;
        }
        let is_listening = self.listen_id.is_some();
        let method = if is_listening { "notifications/tasks" } else { "notifications/tasks/status" };
        let message = self.notification(method, params);
        let state = self.state.lock();
        if state.delivery == Delivery::Open {
            self.stream.notify(message);
        }
        drop(state);
        self.flush();
        true
    }

    /// Announces a changed list, if the subscriber wants it: now, or once its client is no longer congested. True for the first
    /// withheld announcement.
    pub(crate) fn announce(&self, change: ListChange) -> bool {
        if !self.announcements.contains(&change) {
            return false;
        }
        let mut state = self.state.lock();
        if state.delivery != Delivery::Open {
            return false;
        }
        if self.stream.is_clogged() {
            let is_first = state.owed.is_empty();
            if !state.owed.contains(&change) {
                state.owed.push(change);
            }
            return is_first;
        }
        self.stream.notify(self.notification(change.method, Members::default()));
        drop(state);
        self.flush();
        false
    }

    /// Sends withheld announcements. True if some are withheld again.
    pub(crate) fn send_withheld(&self) -> bool {
        let owed = std::mem::take(&mut self.state.lock().owed);
        let mut is_owed = false;
        for change in owed {
            is_owed |= self.announce(change);
        }
        is_owed
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        if let Some((least, _)) = &mut self.state.lock().log {
            *least = level;
        }
    }

    /// Whether it receives log events of this level.
    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        let state = self.state.lock();
        state.delivery == Delivery::Open && state.log.as_ref().is_some_and(|(least, _)| level >= *least)
    }

    /// Sends a log notification, within the rate limit.
    pub(crate) fn log(&self, notification: &[u8]) {
        let mut state = self.state.lock();
        let is_within = state.log.as_mut().is_some_and(|(_, limiter)| limiter.allow());
        if !is_within || self.stream.is_clogged() {
            return;
        }
        self.stream.notify(notification.to_vec());
        drop(state);
        self.flush();
    }

    pub(crate) fn flush(&self) {
        self.stream.flush();
    }

    /// Builds a notification for this subscriber.
    pub(crate) fn notification(&self, method: &str, mut params: Members) -> Vec<u8> {
        if let Some(id) = &self.listen_id {
            params.raw("_meta", &format!("{{\"{}\":{}}}", keys::SUBSCRIPTION_ID, id.as_json()));
        }
        write::notification(method, &params.object())
    }
}
