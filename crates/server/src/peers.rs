//! The clients that are there: who hears what nobody asked for.

use crate::channel::Channel;
use crate::limiter::Limiter;
use crate::subscriptions::Hearer;
use mcp_bash_wire::{LogLevel, write};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// All clients of a process.
#[derive(Default)]
pub(crate) struct Peers {
    peers: Mutex<Vec<Weak<Peer>>>,
    /// The listening requests of the stateless era.
    listens: Mutex<Vec<Weak<Hearer>>>,
}

impl Peers {
    /// A client that has come. It hears nothing before it is ready.
    pub(crate) fn join(&self, channel: Arc<dyn Channel>, events_per_minute: u32) -> Arc<Peer> {
        let peer = Arc::new(Peer {
            channel,
            ready: AtomicBool::new(false),
            log_level: AtomicU8::new(0),
            limiter: Mutex::new(Limiter::new(events_per_minute)),
            owed: Mutex::default(),
        });
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| peer.strong_count() > 0);
        peers.push(Arc::downgrade(&peer));
        peer
    }

    /// Tells everyone that is ready, without any params.
    pub(crate) fn announce(&self, method: &str) {
        for peer in self.chosen(|peer| peer.ready.load(Ordering::Acquire)) {
            peer.announce(method);
        }
        for hearer in self.listening() {
            hearer.announce(method);
        }
    }

    /// Announces what could not be announced before, to those who read again.
    pub(crate) fn tell_what_is_owed(&self) {
        for peer in self.chosen(|_| true) {
            peer.tell_what_is_owed();
        }
        for hearer in self.listening() {
            hearer.tell_what_is_owed();
        }
    }

    fn listening(&self) -> Vec<Arc<Hearer>> {
        let listens = self.listens.lock().unwrap_or_else(PoisonError::into_inner);
        listens.iter().filter_map(Weak::upgrade).collect()
    }

    /// A listening request, which hears what it wants for as long as it lives.
    pub(crate) fn listen(&self, hearer: &Arc<Hearer>) {
        let mut listens = self.listens.lock().unwrap_or_else(PoisonError::into_inner);
        listens.retain(|hearer| hearer.strong_count() > 0);
        listens.push(Arc::downgrade(hearer));
    }

    /// Those who want log events of this level.
    pub(crate) fn interested(&self, level: LogLevel) -> Vec<Arc<Peer>> {
        self.chosen(|peer| peer.wants(level))
    }

    pub(crate) fn is_any_interested(&self, level: LogLevel) -> bool {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter().filter_map(Weak::upgrade).any(|peer| peer.wants(level))
    }

    fn chosen(&self, choose: impl Fn(&Peer) -> bool) -> Vec<Arc<Peer>> {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter().filter_map(Weak::upgrade).filter(|peer| choose(peer)).collect()
    }
}

/// One client, as long as its connection lasts.
pub(crate) struct Peer {
    channel: Arc<dyn Channel>,
    /// Whether its session has come so far that it may be told things.
    ready: AtomicBool,
    log_level: AtomicU8,
    limiter: Mutex<Limiter>,
    /// The announcements that wait until the client reads again, each of them once.
    owed: Mutex<BTreeSet<String>>,
}

impl Peer {
    /// Announces that a list has changed, now or when the client reads again.
    fn announce(&self, method: &str) {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        if self.channel.is_clogged() {
            owed.insert(method.to_owned());
            return;
        }
        self.channel.push(write::notification(method, "{}"));
        drop(owed);
        self.channel.flush();
    }

    fn tell_what_is_owed(&self) {
        let owed = std::mem::take(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner));
        for method in owed {
            self.announce(&method);
        }
    }

    pub(crate) fn set_ready(&self) {
        self.ready.store(true, Ordering::Release);
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    fn wants(&self, level: LogLevel) -> bool {
        self.ready.load(Ordering::Acquire) && level as u8 >= self.log_level.load(Ordering::Relaxed)
    }

    /// Sends a log notification, within the limit.
    pub(crate) fn hear(&self, notification: &[u8]) {
        let within = self.limiter.lock().unwrap_or_else(PoisonError::into_inner).allow();
        if within && !self.channel.is_clogged() {
            self.channel.push(notification.to_vec());
            self.channel.flush();
        }
    }
}
