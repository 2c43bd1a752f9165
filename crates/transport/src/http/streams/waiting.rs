//! Open requests without a session, so that listening requests can be answered at shutdown.

use mcp_bash_server::Client;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

#[derive(Default)]
pub(in crate::http) struct Waiting(Mutex<WaitingClients>);

#[derive(Default)]
struct WaitingClients {
    last: u64,
    clients: HashMap<u64, Weak<Client>>,
    is_ending: bool,
}

impl Waiting {
    /// Adds a client, until [`Waiting::leave`] is called with the returned number.
    pub(in crate::http) fn enter(&self, client: &Arc<Client>) -> u64 {
        let mut state = self.0.lock();
        state.last += 1;
        let number = state.last;
        state.clients.insert(number, Arc::downgrade(client));
        let is_ending = state.is_ending;
        drop(state);
        if is_ending {
            client.end_listens();
        }
        number
    }

    pub(in crate::http) fn leave(&self, number: u64) {
        self.0.lock().clients.remove(&number);
    }

    /// Ends listening requests, also those that come later. Other requests still get their answers.
    pub(in crate::http) fn end_listens(&self) {
        let mut state = self.0.lock();
        state.is_ending = true;
        let clients: Vec<_> = state.clients.values().filter_map(Weak::upgrade).collect();
        drop(state);
        for client in clients {
            client.end_listens();
        }
    }
}
