//! Open request: a request that is being handled. It is answered at most once, and nothing is sent for it afterwards.

use super::responder::Responder;
use crate::callers::Limiter;
use crate::logging::Measured;
use crate::replies::{RenderedResult, Stream};
use mcp_bash_wire::{Id, RpcError};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// A request between its arrival and its answer.
pub(crate) struct OpenRequest {
    id: Id,
    responder: Responder,
    /// Whether notifications are sent immediately, and not just before the response.
    is_live: bool,
    state: Mutex<OpenRequestState>,
    cancelled: Notify,
}

enum OpenRequestState {
    Open(Open),
    Answered,
    Cancelled,
}

/// Notifications of an open request: their limits, and those that are held back.
struct Open {
    last_progress: Option<f64>,
    progress: Limiter,
    logs: Limiter,
    /// The newest progress notification over the limit or for a congested client. It is sent before the response.
    withheld: Option<Vec<u8>>,
    /// Notifications sent just before the response: the request is not live, or the client has closed its end.
    buffered: Vec<Vec<u8>>,
    buffered_bytes: usize,
}

/// The most bytes of buffered notifications for one request. A notification that does not fit is dropped.
const MOST_BUFFERED: usize = 1024 * 1024;

/// The rate limits of a request's notifications, and whether they are sent immediately.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) progress_per_minute: u32,
    pub(crate) logs_per_minute: u32,
    pub(crate) live: bool,
}

impl OpenRequest {
    pub(crate) fn new(id: Id, responder: Responder, pace: Pace) -> Self {
        let open = Open {
            last_progress: None,
            progress: Limiter::new(pace.progress_per_minute),
            logs: Limiter::new(pace.logs_per_minute),
            withheld: None,
            buffered: Vec::new(),
            buffered_bytes: 0,
        };
        Self {
            id,
            responder,
            is_live: pace.live,
            state: Mutex::new(OpenRequestState::Open(open)),
            cancelled: Notify::new(),
        }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Queues the response. False if the request was cancelled or answered before.
    pub(crate) fn answer(&self, answer: Result<RenderedResult, RpcError>) -> bool {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, OpenRequestState::Answered) {
            OpenRequestState::Open(open) => {
                for message in open.buffered.into_iter().chain(open.withheld) {
                    self.responder.notify_before_answer(message);
                }
                // Sent while the state is locked, so that no notification can overtake it.
                match answer {
                    Ok(result) => self.responder.result(&self.id, result),
                    Err(error) => self.responder.error(Some(&self.id), &error),
                }
                true
            }
            decided => {
                *state = decided;
                false
            }
        }
    }

    /// The most bytes that a response may have.
    pub(crate) fn longest_answer(&self) -> usize {
        self.responder.reply().longest_message()
    }

    /// Passes the measurement of the request to `report`, if there is one.
    pub(crate) fn measure(&self, report: impl FnOnce(&Measured)) {
        self.responder.measure(report);
    }

    /// Cancels the request: it gets no response. False if it was answered or cancelled before.
    pub(crate) fn cancel(&self) -> bool {
        let mut state = self.state.lock();
        if !matches!(*state, OpenRequestState::Open(_)) {
            return false;
        }
        *state = OpenRequestState::Cancelled;
        drop(state);
        self.responder.withdraw();
        self.responder.flush();
        self.cancelled.notify_one();
        true
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(*self.state.lock(), OpenRequestState::Cancelled)
    }

    /// Completes when the request is cancelled.
    pub(crate) async fn cancelled(&self) {
        // A permit is stored, so that an earlier cancellation is not missed.
        if !self.is_cancelled() {
            self.cancelled.notified().await;
        }
    }

    /// Sends a progress notification if its value is greater than the last one.
    pub(crate) fn progress(&self, value: f64, message: Vec<u8>) {
        let mut state = self.state.lock();
        let OpenRequestState::Open(open) = &mut *state else { return };
        if open.last_progress.is_some_and(|last| value <= last) {
            return;
        }
        open.last_progress = Some(value);
        let is_within = open.progress.allow();
        if is_within && !self.responder.is_clogged() {
            open.withheld = None;
            self.send(open, message);
        } else if is_within || open.progress.allows_final_event() {
            open.withheld = Some(message);
        }
        drop(state);
        self.responder.flush();
    }

    /// Sends a log notification, unless the rate limit is exceeded or the client is congested.
    pub(crate) fn log(&self, message: Vec<u8>) {
        let mut state = self.state.lock();
        let OpenRequestState::Open(open) = &mut *state else { return };
        if open.logs.allow() && !self.responder.is_clogged() {
            self.send(open, message);
        }
        drop(state);
        self.responder.flush();
    }

    fn send(&self, open: &mut Open, message: Vec<u8>) {
        if self.is_live && self.responder.takes_notifications() {
            self.responder.notify(message);
        } else if open.buffered_bytes + message.len() <= MOST_BUFFERED {
            open.buffered_bytes += message.len();
            open.buffered.push(message);
        }
    }
}

/// The stream for requests to the client that belong to this request.
impl Stream for OpenRequest {
    fn notify(&self, message: Vec<u8>) {
        self.responder.notify(message);
    }

    /// Sent while the state is locked, so that no question follows the response or the cancellation.
    fn ask(&self, message: Vec<u8>) -> bool {
        let state = self.state.lock();
        matches!(*state, OpenRequestState::Open(_)) && self.responder.ask(message)
    }

    fn flush(&self) {
        self.responder.flush();
    }

    fn is_clogged(&self) -> bool {
        self.responder.is_clogged()
    }
}

#[cfg(test)]
mod tests {
    use crate::replies::reply::Stream as _;
    use crate::replies::shape::RenderedResult;
    use crate::requests::open_request::{MOST_BUFFERED, Pace};
    use crate::test_kit::{Requests, UNLIMITED, all_said};
    use std::sync::atomic::Ordering;
    use std::time::Duration;
    use tokio::time::advance;

    const ANSWER: &str = r#"={"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn say(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[test]
    fn nothing_follows_the_answer() {
        let requests = Requests::of("a");
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        let request = in_flight.request();
        request.progress(1.0, say("p1"));
        request.log(say("l1"));
        in_flight.answer(Ok(RenderedResult::default()));
        request.progress(2.0, say("p2"));
        request.log(say("l2"));
        assert!(!request.cancel());
        assert!(!request.ask(say("q2")));
        assert_eq!(all_said(&mut reply), ["p1", "l1", ANSWER]);
    }

    #[test]
    fn no_question_follows_a_cancellation() {
        let requests = Requests::of("a");
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        let request = in_flight.request();
        assert!(request.ask(say("q1")));
        assert!(request.cancel());
        assert!(!request.ask(say("q2")));
        assert_eq!(all_said(&mut reply), ["q1", "end"]);
    }

    #[test]
    fn progress_only_ever_grows() {
        let requests = Requests::of("a");
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        for (value, text) in [(1.0, "1"), (1.0, "again"), (0.5, "back"), (1.5, "on")] {
            in_flight.request().progress(value, say(text));
        }
        assert_eq!(all_said(&mut reply), ["1", "on"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_newest_progress_beyond_the_limit_comes_before_the_answer() {
        let requests = Requests { pace: Pace { progress_per_minute: 2, ..UNLIMITED }, ..Requests::of("a") };
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        let progress = |value: u8| in_flight.request().progress(value.into(), say(&value.to_string()));
        (1..=4).for_each(progress);
        assert_eq!(all_said(&mut reply), ["1", "2"]);
        advance(Duration::from_secs(60)).await;
        (5..=9).for_each(progress);
        in_flight.answer(Ok(RenderedResult::default()));
        assert_eq!(all_said(&mut reply), ["5", "6", "9", ANSWER]);
    }

    #[test]
    fn a_limit_of_one_lets_one_through() {
        let requests = Requests { pace: Pace { progress_per_minute: 1, ..UNLIMITED }, ..Requests::of("a") };
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        for value in 1..=3_u8 {
            in_flight.request().progress(value.into(), say(&value.to_string()));
        }
        in_flight.answer(Ok(RenderedResult::default()));
        assert_eq!(all_said(&mut reply), ["1", ANSWER]);
    }

    #[test]
    fn a_client_that_does_not_read_is_sent_less() {
        let requests = Requests::of("a");
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        requests.is_clogged.store(true, Ordering::Release);
        in_flight.request().log(say("lost"));
        in_flight.request().progress(1.0, say("old"));
        in_flight.request().progress(2.0, say("new"));
        assert!(all_said(&mut reply).is_empty());
        in_flight.answer(Ok(RenderedResult::default()));
        assert_eq!(all_said(&mut reply), ["new", ANSWER]);
    }

    #[test]
    fn what_is_not_live_waits_for_the_answer_as_far_as_there_is_room() {
        let requests = Requests { pace: Pace { live: false, ..UNLIMITED }, ..Requests::of("a") };
        let (in_flight, mut reply) = requests.begin(1).unwrap();
        in_flight.request().log(say("kept"));
        in_flight.request().log(vec![b'x'; MOST_BUFFERED]);
        assert!(all_said(&mut reply).is_empty());
        in_flight.answer(Ok(RenderedResult::default()));
        assert_eq!(all_said(&mut reply), ["kept", ANSWER]);
    }
}
