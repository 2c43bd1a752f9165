//! Traffic: a client does one random thing after another.

pub(crate) mod drafts;
mod malformed;

use crate::draft::Draft;
use crate::peer::{Later, Manner, Peer, TokenKind};
use crate::random::Random;
use malformed::Owed;
use serde_json::{Value, json};
use std::time::Duration;

/// The size limit of a message in the servers of the soak, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 2_000_000;

/// The number of requests that a client leaves open before it waits.
const MOST_OPEN: usize = 14;

/// The number of listening requests that it leaves open.
const MOST_LISTENS: usize = 12;

#[derive(Debug)]
pub(crate) struct Traffic<'a> {
    peer: &'a Peer,
    random: Random,
    batches: u32,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Honest,
    Crowd,
    Other,
    Hostile,
    Asking,
    Reading,
    List,
    Ping,
    SetLevel,
    Subscribe,
    Unsubscribe,
    Listen,
    EndListen,
    Wrong,
    Malformed,
    Duplicate,
    Batch,
    Cancel,
    CancelNothing,
    Pause,
    Rest,
    RootsChanged,
}

impl<'a> Traffic<'a> {
    pub(crate) fn new(peer: &'a Peer) -> Self {
        Self { peer, random: peer.random("traffic"), batches: 0 }
    }

    /// Performs the handshake, if the revision has one, not always correctly.
    pub(crate) fn greet(&mut self) {
        if self.peer.revision.is_stateless() {
            self.peer.request(drafts::ping(true), stateless());
            return;
        }
        for _ in 0..self.random.below(3) {
            let draft = drafts::too_early(&mut self.random);
            self.peer.request(draft, Manner::default());
        }
        if self.random.chance(30) {
            // A probe does not select an era.
            self.peer.request(drafts::ping(true), stateless());
        }
        self.peer.request(drafts::initialize(self.peer), Manner::default());
        self.peer.notify("notifications/initialized", &json!({}));
    }

    /// Does one thing, and returns the delay before the next.
    pub(crate) fn step(&mut self) -> Duration {
        self.peer.do_due();
        if self.peer.ledger().waiting() >= MOST_OPEN {
            return Duration::from_millis(5);
        }
        let session = u64::from(!self.peer.revision.is_stateless());
        let batches = u64::from(self.peer.revision.has_batches());
        let action = self.random.weighted(&[
            (22, Action::Honest),
            (4, Action::Crowd),
            (6, Action::Other),
            (14, Action::Hostile),
            (8, Action::Asking),
            (9, Action::Reading),
            (8, Action::List),
            (5, Action::Ping),
            (2 * session, Action::SetLevel),
            (2 * session, Action::Subscribe),
            (session, Action::Unsubscribe),
            (3 - 2 * session, Action::Listen),
            (2 - session, Action::EndListen),
            (5, Action::Wrong),
            (4, Action::Malformed),
            (2, Action::Duplicate),
            (12 * batches, Action::Batch),
            (4, Action::Cancel),
            (1, Action::CancelNothing),
            (1, Action::Pause),
            (1, Action::Rest),
            (session, Action::RootsChanged),
        ]);
        self.act(action)
    }

    fn act(&mut self, action: Action) -> Duration {
        match action {
            Action::Honest => {
                let draft = drafts::honest(self.peer, &mut self.random);
                self.send(draft, 8);
            }
            Action::Crowd => {
                // Several at once, which a server may mix up.
                for _ in 0..self.random.between(3, 8) {
                    let draft = drafts::honest(self.peer, &mut self.random);
                    self.send(draft, 3);
                }
            }
            Action::Other => {
                let draft = drafts::other(self.peer, &mut self.random);
                self.send(draft, 15);
            }
            Action::Hostile => {
                let (draft, hostile) = drafts::hostile(self.peer, &mut self.random);
                self.send(draft, if hostile.waits { 60 } else { 10 });
            }
            Action::Asking => {
                let manner = self.manner();
                let draft = drafts::asking(self.peer, &mut self.random, manner.stateless);
                self.send_in(draft, manner, 10);
            }
            Action::Reading => {
                let draft = drafts::reading(self.peer, &mut self.random);
                self.send(draft, 10);
            }
            Action::List => {
                let draft = drafts::list(self.peer, &mut self.random);
                self.send(draft, 0);
            }
            Action::Ping => {
                let manner = self.manner();
                self.send_in(drafts::ping(manner.stateless), manner, 0);
            }
            Action::Batch => self.batch(),
            Action::Wrong => {
                let manner = self.manner();
                let draft = drafts::wrong(&mut self.random, manner.stateless);
                self.send_in(draft, manner, 0);
            }
            Action::Malformed => self.malformed(),
            Action::Duplicate => self.duplicate(),
            Action::Pause => {
                let length = self.random.millis(50, 1500);
                self.peer.pause(length);
                self.peer.run.tally.with(|counts| counts.pauses += 1);
            }
            Action::Rest => return self.random.millis(100, 600),
            _ => self.tell(action),
        }
        self.random.millis(0, 25)
    }

    /// Subscriptions, cancellations and other notifications.
    fn tell(&mut self, action: Action) {
        match action {
            Action::SetLevel => {
                let draft = drafts::set_level(&mut self.random);
                self.peer.request(draft, Manner::default());
            }
            Action::Subscribe => {
                let draft = drafts::subscribe(&mut self.random);
                let uri = draft.params["uri"].as_str().unwrap_or_default();
                if !self.peer.ledger().is_being_subscribed(uri) {
                    self.peer.request(draft, Manner::default());
                }
            }
            Action::Unsubscribe => {
                let subscribed = self.peer.ledger().subscribed();
                if !subscribed.is_empty() {
                    let uri: &String = self.random.pick(&subscribed);
                    self.peer.request(drafts::unsubscribe(uri), Manner::default());
                }
            }
            // A server limits the number of open ones.
            Action::Listen if self.peer.ledger().cancellable(true).len() >= MOST_LISTENS => {
                self.cancel_one(true);
            }
            Action::Listen => {
                let draft = drafts::listen(&mut self.random);
                self.peer.request(draft, stateless());
            }
            Action::Cancel => self.cancel_one(false),
            Action::EndListen => self.cancel_one(true),
            Action::CancelNothing => {
                let id = self.random.pick(&[json!(1), json!("no such"), json!(null), json!([1])]).clone();
                // An answered request, an unknown one, or an invalid id. The first request is settled.
                self.peer.notify("notifications/cancelled", &json!({ "requestId": id }));
            }
            Action::RootsChanged => self.peer.notify("notifications/roots/list_changed", &json!({})),
            _ => {}
        }
    }

    fn cancel_one(&mut self, listens: bool) {
        let open = self.peer.ledger().cancellable(listens);
        if !open.is_empty() {
            let id: &String = self.random.pick(&open);
            self.peer.cancel(id);
        }
    }

    /// Most requests of a session belong to it; some are stateless ones beside it.
    fn manner(&mut self) -> Manner {
        let is_stateless = self.peer.revision.is_stateless() || self.random.chance(12);
        Manner { stateless: is_stateless, ..self.voice() }
    }

    /// Whether and how the request asks for progress.
    fn voice(&mut self) -> Manner {
        let token =
            self.random.weighted(&[(4, Some(TokenKind::Text)), (3, Some(TokenKind::Number)), (3, None)]);
        Manner { token, logs: self.random.chance(60), ..Manner::default() }
    }

    fn send(&mut self, draft: Draft, cancelled: u64) {
        let manner = self.manner();
        self.send_in(draft, manner, cancelled);
    }

    /// Sends a request, which is soon cancelled in so many percent of cases.
    fn send_in(&mut self, draft: Draft, manner: Manner, cancelled: u64) {
        let id = self.peer.request(draft, manner);
        if self.random.chance(cancelled) {
            let most = *self.random.pick(&[5, 60, 600]);
            self.peer.do_later(self.random.millis(0, most), Later::Cancel(id));
        }
    }

    fn batch(&mut self) {
        self.batches += 1;
        let mut drafts = Vec::new();
        for _ in 0..self.random.between(1, 5) {
            let draft = match self.random.below(5) {
                0 => drafts::ping(false),
                1 => drafts::list(self.peer, &mut self.random),
                2 => drafts::reading(self.peer, &mut self.random),
                _ => drafts::honest(self.peer, &mut self.random),
            };
            drafts.push((draft, Manner { batch: Some(self.batches), ..self.voice() }));
        }
        let other = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "no such" } });
        let others = if self.random.chance(30) { vec![other] } else { Vec::new() };
        self.peer.batch(drafts, others);
    }

    fn malformed(&mut self) {
        let id = self.peer.new_id();
        let (line, owed) = malformed::line(&mut self.random, &id, LONGEST_MESSAGE);
        match owed {
            Owed::Nothing => self.peer.push(line),
            Owed::Refusal => self.peer.provoke(line, None),
            Owed::Answer => self.peer.provoke(line, Some((&id, drafts::refused()))),
        }
    }

    /// Uses an id that is in use.
    fn duplicate(&mut self) {
        let open = self.peer.ledger().telling();
        if open.is_empty() {
            return;
        }
        let id: &String = self.random.pick(&open);
        let id: Value = serde_json::from_str(id).unwrap_or_default();
        let draft = drafts::duplicate(self.peer, &mut self.random);
        let manner = Manner { stateless: self.peer.revision.is_stateless(), ..Manner::default() };
        self.peer.request_as(&id, draft, manner);
    }
}

pub(crate) fn stateless() -> Manner {
    Manner { stateless: true, ..Manner::default() }
}
