//! Connection limit: counts open connections by peer, and notifies when the last one is closed.
//!
//! No peer can take all connections: each may have at most `MULTIPLE` times as many as are free. A peer that is alone gets most
//! of them; the more peers there are, the fewer each gets; and a peer without a connection can open one as long as any is free.

use crate::http::listen::Peer;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use tokio::sync::Notify;

/// How many connections a peer may have, as a multiple of the free ones.
const MULTIPLE: usize = 7;

pub(in crate::http) struct Connections {
    most: usize,
    open: Mutex<Open>,
    /// Notified when the last connection is closed.
    emptied: Notify,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_peer: HashMap<Owner, usize>,
}

/// The peer whose connections are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Address(IpAddr),
    User(u32),
}

impl From<&Peer> for Owner {
    fn from(peer: &Peer) -> Self {
        match peer {
            Peer::Tcp(address) => match address.ip().to_canonical() {
                // A peer with an IPv6 address usually has a network of 2^64 of them.
                IpAddr::V6(ip) if !ip.is_loopback() => {
                    Self::Address(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into())
                }
                ip => Self::Address(ip),
            },
            Peer::Unix { uid } => Self::User(*uid),
        }
    }
}

impl Connections {
    pub(in crate::http) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default(), emptied: Notify::new() })
    }

    /// Counts a new connection until the returned value is dropped. `None` if the server or the peer has too many.
    pub(in crate::http) fn enter(self: &Arc<Self>, peer: &Peer) -> Option<OpenConnection> {
        let owner = Owner::from(peer);
        let mut open = self.open.lock();
        let free = self.most.saturating_sub(open.all);
        let of_peer = open.by_peer.get(&owner).copied().unwrap_or(0);
        if of_peer >= free.saturating_mul(MULTIPLE) {
            return None;
        }
        open.all += 1;
        open.by_peer.insert(owner, of_peer + 1);
        Some(OpenConnection { connections: Arc::clone(self), owner })
    }

    pub(in crate::http) fn count(&self) -> usize {
        self.open.lock().all
    }

    /// Completes when no connection is open. Supports one waiting task.
    pub(in crate::http) async fn all_closed(&self) {
        while self.count() > 0 {
            // `Notify` stores a notification that arrives between the check and the wait.
            self.emptied.notified().await;
        }
    }
}

pub(in crate::http) struct OpenConnection {
    connections: Arc<Connections>,
    owner: Owner,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        open.all -= 1;
        if let Some(of_peer) = open.by_peer.get_mut(&self.owner) {
            *of_peer -= 1;
            if *of_peer == 0 {
                open.by_peer.remove(&self.owner);
            }
        }
        if open.all == 0 {
            self.connections.emptied.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(number: u8) -> Peer {
        Peer::Tcp(format!("10.0.0.{number}:1").parse().unwrap())
    }

    fn fill(connections: &Arc<Connections>, peer: &Peer) -> Vec<OpenConnection> {
        std::iter::from_fn(|| connections.enter(peer)).take(10_000).collect()
    }

    #[test]
    fn a_greedy_client_leaves_room_for_others() {
        let connections = Connections::new(800);
        let greedy = fill(&connections, &peer(1));
        assert_eq!(greedy.len(), 700);
        let second = fill(&connections, &peer(2));
        assert!(second.len() > 80, "{}", second.len());
        let others: Vec<_> = (3..100).filter_map(|number| connections.enter(&peer(number))).collect();
        assert!(others.len() > 5 && connections.count() <= 800, "{}", others.len());
        drop((greedy, others));
        assert_eq!((connections.count(), connections.open.lock().by_peer.len()), (second.len(), 1));
    }

    #[test]
    fn any_client_can_take_a_single_place() {
        let connections = Connections::new(1);
        let first = connections.enter(&peer(1)).unwrap();
        assert!(connections.enter(&peer(1)).is_none() && connections.enter(&Peer::Unix { uid: 1 }).is_none());
        drop(first);
        assert!(connections.enter(&Peer::Unix { uid: 1 }).is_some());
    }

    #[tokio::test]
    async fn the_last_one_is_awaited() {
        let connections = Connections::new(8);
        connections.all_closed().await;
        let (first, second) = (connections.enter(&peer(1)), connections.enter(&peer(2)));
        let ((), ()) = tokio::join!(connections.all_closed(), async { drop((first, second)) });
        assert_eq!(connections.count(), 0);
    }
}
