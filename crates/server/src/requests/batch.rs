//! JSON-RPC batch: several messages in one array. Their responses leave in one array after the last request is answered.

use super::responder::Responder;
use crate::replies::{Reply, Stream};
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_settings::CONNECTION_SETTING;
use parking_lot::Mutex;
use std::sync::Arc;

/// A batch may hold this fraction (one quarter) of its caller's budget, because every response waits for the last one.
const SHARE: usize = 4;

/// The reply of each request in a batch. It collects the responses and passes everything else through.
pub(crate) struct Batch {
    reply: Arc<dyn Reply>,
    budget: Arc<Budget>,
    collected: Mutex<Collected>,
}

struct Collected {
    /// Requests that are neither answered nor cancelled, plus one until the whole batch is read.
    owed: usize,
    /// Whether the batch contains any request.
    has_requests: bool,
    /// The response array so far, without its closing bracket.
    array: Vec<u8>,
    held: Charge,
}

impl Batch {
    /// Opens a batch while it is being read. Its response is sent after [`Batch::close`].
    pub(crate) fn open(reply: Arc<dyn Reply>, budget: &Arc<Budget>) -> Arc<Self> {
        let budget = budget.part(budget.limit() / SHARE, CONNECTION_SETTING);
        let collected =
            Collected { owed: 1, has_requests: false, array: Vec::new(), held: Charge::nothing(&budget) };
        Arc::new(Self { reply, budget, collected: Mutex::new(collected) })
    }

    /// Adds a request to the batch, and returns its responder.
    pub(crate) fn responder(self: &Arc<Self>) -> Responder {
        let mut collected = self.collected.lock();
        collected.owed += 1;
        collected.has_requests = true;
        drop(collected);
        Responder::new(Arc::clone(self) as _, Arc::clone(&self.budget))
    }

    /// Marks the batch as completely read. A batch without requests gets no response.
    pub(crate) fn close(&self) {
        self.settle(None);
    }

    /// Records that one request is answered, or ended without a response.
    fn settle(&self, answer: Option<Vec<u8>>) {
        let mut guard = self.collected.lock();
        let collected = &mut *guard;
        if let Some(answer) = answer {
            collected.array.push(if collected.array.is_empty() { b'[' } else { b',' });
            collected.array.extend_from_slice(&answer);
            // Charged without a check: the responder has already checked that there is room for a large result.
            collected.held.set(collected.array.len());
        }
        collected.owed -= 1;
        if collected.owed > 0 {
            return;
        }
        collected.held.set(0);
        let mut array = std::mem::take(&mut collected.array);
        let has_requests = collected.has_requests;
        drop(guard);
        if !array.is_empty() {
            array.push(b']');
            self.reply.answer(array);
        } else if has_requests {
            self.reply.end();
        }
    }
}

impl Stream for Batch {
    fn notify(&self, message: Vec<u8>) {
        self.reply.notify(message);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.reply.ask(message)
    }

    fn flush(&self) {
        self.reply.flush();
    }

    fn is_clogged(&self) -> bool {
        self.reply.is_clogged()
    }

    fn takes_notifications(&self) -> bool {
        self.reply.takes_notifications()
    }
}

impl Reply for Batch {
    fn answer(&self, message: Vec<u8>) {
        self.settle(Some(message));
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.reply.notify_before_answer(message);
    }

    fn end(&self) {
        self.settle(None);
    }

    /// An equal part of what the array may still hold, for each request that is not answered: the responses leave in one
    /// message.
    fn longest_message(&self) -> usize {
        let longest = self.reply.longest_message();
        if longest == usize::MAX {
            return longest;
        }
        let collected = self.collected.lock();
        // Each response is followed by a comma or a bracket.
        (longest.saturating_sub(collected.array.len()) / collected.owed.max(1)).saturating_sub(2)
    }

    fn is_shared(&self) -> bool {
        self.reply.is_shared()
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Reply, Stream};
    use crate::callers::caller::test_caller;
    use crate::dispatch::in_memory::InMemoryReply;
    use crate::replies::shape::RenderedResult;
    use crate::test_kit::{all_said, id};
    use mcp_bash_wire::RpcError;
    use std::sync::Arc;

    fn batch() -> (Arc<Batch>, InMemoryReply) {
        let (reply, said) = InMemoryReply::pair(&Arc::default());
        (Batch::open(reply, test_caller("a").budget()), said)
    }

    #[test]
    fn one_array_leaves_when_the_last_answer_is_in() {
        let (batch, mut said) = batch();
        let (first, second, withdrawn) = (batch.responder(), batch.responder(), batch.responder());
        second.result(&id(2), RenderedResult::default());
        batch.close();
        withdrawn.withdraw();
        first.notify(b"meanwhile".to_vec());
        assert_eq!(all_said(&mut said), ["meanwhile"]);
        first.error(Some(&id(1)), &RpcError::new(-1, "no"));
        let said = all_said(&mut said);
        assert_eq!(
            said,
            [
                r#"=[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}]"#
            ]
        );
    }

    #[test]
    fn without_any_answer_it_ends_and_without_any_request_it_says_nothing() {
        let (cancelled, mut said) = batch();
        cancelled.responder().withdraw();
        cancelled.close();
        assert_eq!(all_said(&mut said), ["end"]);
        let (empty, mut said) = batch();
        empty.close();
        assert!(all_said(&mut said).is_empty());
    }

    /// A reply whose messages may have 1,000 bytes.
    struct Short;

    impl Stream for Short {
        fn notify(&self, _: Vec<u8>) {}

        fn ask(&self, _: Vec<u8>) -> bool {
            false
        }

        fn flush(&self) {}
    }

    impl Reply for Short {
        fn answer(&self, _: Vec<u8>) {}

        fn end(&self) {}

        fn longest_message(&self) -> usize {
            1000
        }
    }

    #[test]
    fn the_responses_share_what_one_message_may_hold() {
        let (unlimited, _said) = batch();
        assert_eq!(unlimited.longest_message(), usize::MAX);
        let batch = Batch::open(Arc::new(Short), test_caller("a").budget());
        let responders = [batch.responder(), batch.responder()];
        batch.close();
        assert_eq!(batch.longest_message(), 498);
        responders[0].error(Some(&id(1)), &RpcError::new(-1, "a".repeat(100)));
        let left = batch.longest_message();
        assert!((800..900).contains(&left), "{left}");
    }
}
