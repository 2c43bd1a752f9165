//! Where the answer to a request goes: straight to the client, or into the array of its batch.

use crate::channel::Channel;
use mcp_bash_budget::{Budget, Charge, SMALL};
use mcp_bash_settings::CONNECTION_SETTING;
use mcp_bash_wire::{Id, RpcError, write};
use std::sync::{Arc, Mutex, PoisonError};

/// The answers of a batch may take one part in so many of what is held for their client: they all wait for the last one.
const SHARE: usize = 4;

#[derive(Clone)]
pub(crate) struct Answers {
    channel: Arc<dyn Channel>,
    budget: Arc<Budget>,
    batch: Option<Arc<Batch>>,
}

impl Answers {
    pub(crate) fn direct(channel: Arc<dyn Channel>, budget: Arc<Budget>) -> Self {
        Self { channel, budget, batch: None }
    }

    /// For the members of one batch. The array leaves when every answer that was expected is in, and
    /// [`Answers::withdraw`] was called once for the batch itself, which holds it open until all of it is read.
    pub(crate) fn batched(channel: Arc<dyn Channel>, budget: &Arc<Budget>) -> Self {
        let budget = budget.part(budget.limit() / SHARE, CONNECTION_SETTING);
        let collected = Collected { owed: 1, array: Vec::new(), held: Charge::nothing(&budget) };
        let batch = Batch { channel: Arc::clone(&channel), collected: Mutex::new(collected) };
        Self { channel, budget, batch: Some(Arc::new(batch)) }
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.batch.is_some()
    }

    /// One request of the batch now owes an answer.
    pub(crate) fn expect(&self) {
        if let Some(batch) = &self.batch {
            batch.with(|collected| collected.owed += 1);
        }
    }

    /// Queues the result of a request that was expected; where there is no room for it, an error that says so.
    pub(crate) fn result(&self, id: &Id, members: String) {
        if members.len() > SMALL
            && let Err(why) = self.budget.has_room(members.len())
        {
            // Given back before anything else is done.
            drop(members);
            return self.error(Some(id), &RpcError::internal(format!("The result is not sent: {why}")));
        }
        self.queue(write::result(id, members));
    }

    /// Queues the error that answers a request that was expected.
    pub(crate) fn error(&self, id: Option<&Id>, error: &RpcError) {
        self.queue(write::error(id, error));
    }

    fn queue(&self, message: Vec<u8>) {
        match &self.batch {
            None => self.channel.push(message),
            Some(batch) => batch.settle(Some(message)),
        }
    }

    /// A request that was expected will not be answered.
    pub(crate) fn withdraw(&self) {
        if let Some(batch) = &self.batch {
            batch.settle(None);
        }
    }

    /// Queues a message that is no answer.
    pub(crate) fn notify(&self, message: Vec<u8>) {
        self.channel.push(message);
    }

    pub(crate) fn flush(&self) {
        self.channel.flush();
    }

    pub(crate) fn is_clogged(&self) -> bool {
        self.channel.is_clogged()
    }
}

/// The answers of one batch. It leaves as one array when the last one is in.
struct Batch {
    channel: Arc<dyn Channel>,
    collected: Mutex<Collected>,
}

struct Collected {
    owed: usize,
    /// The array so far, without its end.
    array: Vec<u8>,
    held: Charge,
}

impl Batch {
    fn settle(&self, answer: Option<Vec<u8>>) {
        let complete = self.with(|collected| {
            if let Some(answer) = answer {
                collected.array.push(if collected.array.is_empty() { b'[' } else { b',' });
                collected.array.extend_from_slice(&answer);
                // What is an answer has to be kept: large ones have asked for room.
                collected.held.set(collected.array.len());
            }
            collected.owed -= 1;
            (collected.owed == 0).then(|| {
                collected.held.set(0);
                std::mem::take(&mut collected.array)
            })
        });
        if let Some(mut array) = complete.filter(|array| !array.is_empty()) {
            array.push(b']');
            self.channel.push(array);
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Collected) -> T) -> T {
        act(&mut self.collected.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
