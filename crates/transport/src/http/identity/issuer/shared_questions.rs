//! Shared questions: concurrent requests with the same token share one introspection request.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// The hash of the token.
type Key = [u8; 32];

/// The answer of the issuer; `None` if the request failed.
type Answer = Option<Arc<[u8]>>;

#[derive(Default)]
pub(super) struct SharedQuestions(Mutex<HashMap<Key, watch::Receiver<Option<Answer>>>>);

/// A question in progress. It ends when this value is dropped, with or without an answer.
struct Asking<'a> {
    questions: &'a SharedQuestions,
    key: Key,
    answer: watch::Sender<Option<Answer>>,
}

impl SharedQuestions {
    /// The answer of the same question in progress, otherwise of `ask`.
    pub(super) async fn answer(&self, key: Key, ask: impl Future<Output = Answer>) -> Answer {
        let asking = loop {
            let mut other = match self.join(key) {
                Ok(asking) => break asking,
                Err(other) => other,
            };
            // Without an answer, the other request was cancelled, and this one asks.
            if let Ok(answer) = other.wait_for(Option::is_some).await {
                return answer.clone().flatten();
            }
        };
        let answer = ask.await;
        asking.answer.send_replace(Some(answer.clone()));
        answer
    }

    /// Starts a question, or joins the same one in progress.
    fn join(&self, key: Key) -> Result<Asking<'_>, watch::Receiver<Option<Answer>>> {
        let mut open = self.0.lock();
        if let Some(other) = open.get(&key) {
            return Err(other.clone());
        }
        let (answer, receiver) = watch::channel(None);
        open.insert(key, receiver);
        Ok(Asking { questions: self, key, answer })
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.questions.0.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use tokio::sync::oneshot;

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn never() -> impl Future<Output = Answer> {
        std::future::poll_fn(|_| panic!("it is asked twice"))
    }

    #[test]
    fn requests_that_ask_the_same_share_the_answer() {
        let questions = SharedQuestions::default();
        let (reply, replied) = oneshot::channel();
        let mut first = pin!(questions.answer([1; 32], async { replied.await.unwrap() }));
        let mut second = pin!(questions.answer([1; 32], never()));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        let other = pin!(questions.answer([2; 32], ready(None)));
        assert_eq!(poll(other), Poll::Ready(None), "another question does not wait");
        let answer: Answer = Some(b"yes"[..].into());
        reply.send(answer.clone()).unwrap();
        assert_eq!(poll(first), Poll::Ready(answer.clone()));
        assert_eq!(poll(second), Poll::Ready(answer));
        assert!(questions.0.lock().is_empty(), "nothing is left");
    }

    #[test]
    fn a_request_that_is_dropped_leaves_the_question_to_the_next() {
        let questions = SharedQuestions::default();
        let mut first = Box::pin(questions.answer([1; 32], pending()));
        assert!(poll(first.as_mut()).is_pending());
        let answer: Answer = Some(b"yes"[..].into());
        let mut second = pin!(questions.answer([1; 32], ready(answer.clone())));
        assert!(poll(second.as_mut()).is_pending());
        drop(first);
        assert_eq!(poll(second), Poll::Ready(answer));
    }
}
