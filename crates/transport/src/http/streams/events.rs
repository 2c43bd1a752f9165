//! Server-sent events: the messages of a replay buffer as the body of a response.

use crate::http::streams::open_streams::OpenStream;
use crate::http::streams::replay_buffer::{Next, ReplayBuffer};
use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use mcp_bash_budget::SMALL;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, Sleep, sleep};

/// How often something is sent on a stream that is silent, so that nobody on the way takes it for dead.
const PULSE: Duration = Duration::from_secs(15);

/// How soon something is sent again to a client that may be gone, at first and in the end. The first thing that is sent to
/// one that is gone is answered by its system, and then the next cannot be sent.
const FIRST_PROBE: Duration = Duration::from_millis(50);
const LAST_PROBE: Duration = Duration::from_secs(5);

/// A comment, which every client passes over.
const PING: &[u8] = b": still here\n\n";

/// When a client is to come back to a stream that was closed.
const COME_BACK: Duration = Duration::from_millis(500);

const END: &[u8] = b"\n\n";

/// So many bytes of events leave as one piece, if they are there.
const ONE_PIECE: usize = 64 * 1024;

/// What happens when nobody reads the stream any more.
pub(in crate::http) type WhenLeft = Box<dyn FnOnce() + Send + Sync>;

/// The number of the buffer for what belongs to no request.
pub(in crate::http) const UNASKED: u64 = 0;

pub(in crate::http) struct Events {
    buffer: Arc<ReplayBuffer>,
    reader: u64,
    /// What is sent before the next message.
    ready: VecDeque<Bytes>,
    pulse: Pin<Box<Sleep>>,
    /// How long to wait after the next pulse, where the client may be gone.
    probe: Option<Duration>,
    /// When the stream is closed though there is more to come, because its client can come back.
    closes: Option<Pin<Box<Sleep>>>,
    /// When the credential of its reader expires.
    expires: Option<Pin<Box<Sleep>>>,
    /// What is said when there is more to come, but not on this stream.
    farewell: Option<Bytes>,
    is_over: bool,
    open: Option<OpenStream>,
    when_left: Option<WhenLeft>,
}

impl Events {
    /// The messages of a reply, which nobody has read before.
    pub(in crate::http) fn new(buffer: &Arc<ReplayBuffer>) -> Self {
        buffer.begin();
        Self::of(Arc::clone(buffer), buffer.take_over(), None)
    }

    /// The messages of `buffer` for that reader, after `first`.
    pub(in crate::http) fn of(buffer: Arc<ReplayBuffer>, reader: u64, first: Option<Bytes>) -> Self {
        let ready = first.into_iter().collect();
        Self {
            buffer,
            reader,
            ready,
            pulse: Box::pin(sleep(PULSE)),
            probe: None,
            closes: None,
            expires: None,
            farewell: None,
            is_over: false,
            open: None,
            when_left: None,
        }
    }

    /// The same, and a client that can come back is asked to when the stream ends.
    pub(in crate::http) fn coming_back(mut self) -> Self {
        self.farewell = Some(format!("retry: {}\n\n", COME_BACK.as_millis()).into());
        self
    }

    /// The same, and it ends after so long, though there is more to come.
    pub(in crate::http) fn closing_after(mut self, wait: Duration) -> Self {
        self.closes = Some(Box::pin(sleep(wait)));
        self.coming_back()
    }

    /// The same, and it ends at that time, when the credential of its reader expires.
    pub(in crate::http) fn ending_at(mut self, expires: Option<SystemTime>) -> Self {
        let Some(expires) = expires else { return self };
        let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
        self.expires = Some(Box::pin(sleep(left)));
        self
    }

    /// The same, counted as one of the open streams.
    pub(in crate::http) fn holding(mut self, open: OpenStream) -> Self {
        self.open = Some(open);
        self
    }

    /// The same, and `act` is done when the client is gone or the stream over.
    pub(in crate::http) fn when_left(mut self, act: WhenLeft) -> Self {
        self.when_left = Some(act);
        self
    }

    /// The client has closed its writing side. It is sent something at once and then again, which shows whether it is there;
    /// meanwhile the next request for the stream gets it.
    pub(in crate::http) fn doubt_reader(&mut self) {
        if self.probe.is_none() {
            self.buffer.leave(self.reader);
            self.probe = Some(FIRST_PROBE);
            self.pulse.as_mut().reset(Instant::now());
        }
    }

    /// How long the stream may be silent from now on.
    fn next_pulse(&mut self) -> Duration {
        let Some(wait) = &mut self.probe else { return PULSE };
        let next = (*wait * 2).min(LAST_PROBE);
        std::mem::replace(wait, next)
    }
}

/// The event that gives a client an id to come back with before anything has happened.
pub(in crate::http) fn priming(buffer: &ReplayBuffer, after: u64) -> Option<Bytes> {
    let number = buffer.number?;
    Some(format!("id: {number}-{after}\ndata:\n\n").into())
}

/// The stream and the message that an id names.
pub(in crate::http) fn parse_id(id: &str) -> Option<(u64, u64)> {
    let (buffer, message) = id.split_once('-')?;
    let number =
        |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    Some((number(buffer)?, number(message)?))
}

/// Writes what stands before the message.
fn write_head(out: &mut BytesMut, buffer: Option<u64>, number: u64) {
    out.extend_from_slice(b"event: message\n");
    if let Some(buffer) = buffer {
        // Writing to a buffer in memory does not fail.
        let _ = writeln!(out, "id: {buffer}-{number}");
    }
    out.extend_from_slice(b"data: ");
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(ready) = self.ready.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(ready))));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        // Looked at first: what is still to come is not for a reader whose credential has expired.
        if self.expires.as_mut().is_some_and(|expires| expires.as_mut().poll(context).is_ready()) {
            self.is_over = true;
            return Poll::Ready(self.farewell.take().map(|farewell| Ok(Frame::data(farewell))));
        }
        let mut piece = BytesMut::new();
        let mut is_over = false;
        while piece.len() < ONE_PIECE {
            match self.buffer.poll_next(self.reader, context) {
                Poll::Ready(Next::Message(number, message)) => {
                    write_head(&mut piece, self.buffer.number, number);
                    if message.len() > SMALL {
                        // It is not copied, and so keeps what it is charged for until it has left.
                        self.ready.extend([message, Bytes::from_static(END)]);
                        break;
                    }
                    piece.extend_from_slice(&message);
                    piece.extend_from_slice(END);
                }
                Poll::Ready(Next::Over) => {
                    is_over = true;
                    break;
                }
                Poll::Ready(Next::Replaced) => {
                    // A client that has already resumed on another connection need not be asked to.
                    self.farewell = None;
                    is_over = true;
                    break;
                }
                Poll::Pending => break,
            }
        }
        if !piece.is_empty() {
            let wait = self.next_pulse();
            self.pulse.as_mut().reset(Instant::now() + wait);
            return Poll::Ready(Some(Ok(Frame::data(piece.freeze()))));
        }
        let is_closing = self.closes.as_mut().is_some_and(|closes| closes.as_mut().poll(context).is_ready());
        if is_over || is_closing {
            self.is_over = true;
            let farewell = self.farewell.take().filter(|_| is_closing || self.buffer.number == Some(UNASKED));
            return Poll::Ready(farewell.map(|farewell| Ok(Frame::data(farewell))));
        }
        if self.pulse.as_mut().poll(context).is_ready() {
            let wait = self.next_pulse();
            self.pulse.as_mut().reset(Instant::now() + wait);
            // It has to be asked once more to be told of the next time.
            context.waker().wake_by_ref();
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(PING)))));
        }
        Poll::Pending
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.buffer.leave(self.reader);
        self.open = None;
        if let Some(act) = self.when_left.take() {
            act();
        }
    }
}
