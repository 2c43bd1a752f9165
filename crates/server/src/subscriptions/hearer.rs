//! Whoever hears of changes: a session, or one listening request of the stateless era.

use crate::channel::Channel;
use crate::shape::Members;
use mcp_bash_wire::{Id, keys, write};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Hearer {
    channel: Arc<dyn Channel>,
    /// The id of the listening request, which everything it hears carries.
    subscription: Option<Id>,
    /// The announcements it wants. A session hears those as a peer.
    announcements: Vec<&'static str>,
    stage: Mutex<Stage>,
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
        Self { channel, subscription: None, announcements: Vec::new(), stage: Mutex::new(Stage::Open) }
    }

    pub(crate) fn of_listen(channel: Arc<dyn Channel>, id: Id, announcements: Vec<&'static str>) -> Self {
        Self { channel, subscription: Some(id), announcements, stage: Mutex::new(Stage::Waiting) }
    }

    /// Acknowledges, and lets everything else through from now on. False if it was closed before.
    pub(crate) fn open(&self, notifications: &str) -> bool {
        let mut members = Members::default();
        members.raw("notifications", notifications);
        let acknowledged = self.notification("notifications/subscriptions/acknowledged", members);
        let is_open = self.with(|stage| {
            if *stage == Stage::Waiting {
                *stage = Stage::Open;
                self.channel.push(acknowledged);
            }
            *stage == Stage::Open
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
        self.with(|stage| {
            if *stage != Stage::Closed {
                *stage = Stage::Closed;
                for message in last {
                    self.channel.push(message);
                }
            }
        });
        self.channel.flush();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.with(|stage| *stage == Stage::Closed)
    }

    /// Queues the notification of a changed resource. False where the client does not read, so that it has to be told
    /// again later.
    pub(crate) fn tell_updated(&self, uri: &str) -> bool {
        if self.channel.is_clogged() {
            return false;
        }
        let mut params = Members::default();
        params.string("uri", Some(uri));
        self.tell("notifications/resources/updated", params);
        true
    }

    /// Announces that a list has changed, to those who want to know.
    pub(crate) fn announce(&self, method: &str) {
        if self.announcements.contains(&method) {
            self.tell(method, Members::default());
            self.flush();
        }
    }

    fn tell(&self, method: &str, params: Members) {
        let message = self.notification(method, params);
        self.with(|stage| {
            if *stage == Stage::Open {
                self.channel.push(message);
            }
        });
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

    fn with<T>(&self, act: impl FnOnce(&mut Stage) -> T) -> T {
        act(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
