//! Where the answer to a request goes: straight to the client, or into the array of its batch.

use crate::channel::Channel;
use mcp_bash_wire::write;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone)]
pub(crate) struct Answers {
    channel: Arc<dyn Channel>,
    batch: Option<Arc<Batch>>,
}

impl Answers {
    pub(crate) fn direct(channel: Arc<dyn Channel>) -> Self {
        Self { channel, batch: None }
    }

    /// For the members of one batch. The array leaves when every answer that was expected is in, and
    /// [`Answers::withdraw`] was called once for the batch itself, which holds it open until all of it is read.
    pub(crate) fn batched(channel: Arc<dyn Channel>) -> Self {
        let collected = Mutex::new(Collected { owed: 1, answers: Vec::new() });
        let batch = Batch { channel: Arc::clone(&channel), collected };
        Self { channel, batch: Some(Arc::new(batch)) }
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

    /// Queues the answer to a request that was expected.
    pub(crate) fn answer(&self, message: Vec<u8>) {
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
    answers: Vec<Vec<u8>>,
}

impl Batch {
    fn settle(&self, answer: Option<Vec<u8>>) {
        let complete = self.with(|collected| {
            collected.answers.extend(answer);
            collected.owed -= 1;
            (collected.owed == 0).then(|| std::mem::take(&mut collected.answers))
        });
        if let Some(answers) = complete.filter(|answers| !answers.is_empty()) {
            self.channel.push(write::batch(&answers));
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Collected) -> T) -> T {
        act(&mut self.collected.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
