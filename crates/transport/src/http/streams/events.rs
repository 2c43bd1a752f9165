//! Server-sent events (SSE): the messages of a replay buffer as the body of a response.

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

/// Keep-alive interval: an idle stream sends a comment, so that proxies do not close it.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Probe intervals, first and longest, for a client that may be gone. Two writes are needed to find out: the first one to a
/// closed connection is answered with a reset, and only the next one fails.
const FIRST_PROBE: Duration = Duration::from_millis(50);
const LAST_PROBE: Duration = Duration::from_secs(5);

/// A comment, which every client ignores.
const PING: &[u8] = b": still here\n\n";

/// Reconnection time for clients whose stream was closed early.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);

const END: &[u8] = b"\n\n";

/// Events are joined into one frame up to this many bytes.
const MAX_FRAME: usize = 64 * 1024;

/// Runs when the client has disconnected or the stream has ended.
pub(in crate::http) type OnClose = Box<dyn FnOnce() + Send + Sync>;

/// The number of the replay buffer for messages that belong to no request.
pub(in crate::http) const SESSION_STREAM: u64 = 0;

pub(in crate::http) struct Events {
    buffer: Arc<ReplayBuffer>,
    reader: u64,
    /// Frames that are sent before the next message.
    ready: VecDeque<Bytes>,
    keep_alive: Pin<Box<Sleep>>,
    /// Interval after the next probe, if the client may be gone.
    probe: Option<Duration>,
    /// Closes the stream although more messages may follow, because its client can resume it.
    closes: Option<Pin<Box<Sleep>>>,
    /// Ends the stream when the credential of its reader expires.
    expires: Option<Pin<Box<Sleep>>>,
    /// The `retry` field, which is sent if the stream ends before the reply does.
    retry_field: Option<Bytes>,
    is_over: bool,
    open: Option<OpenStream>,
    on_close: Option<OnClose>,
}

impl Events {
    /// The messages of a reply that has no reader yet.
    pub(in crate::http) fn new(buffer: &Arc<ReplayBuffer>) -> Self {
        buffer.begin();
        Self::of(Arc::clone(buffer), buffer.take_over(), None)
    }

    /// The messages of `buffer` for that reader, preceded by `first`.
    pub(in crate::http) fn of(buffer: Arc<ReplayBuffer>, reader: u64, first: Option<Bytes>) -> Self {
        let ready = first.into_iter().collect();
        Self {
            buffer,
            reader,
            ready,
            keep_alive: Box::pin(sleep(KEEP_ALIVE)),
            probe: None,
            closes: None,
            expires: None,
            retry_field: None,
            is_over: false,
            open: None,
            on_close: None,
        }
    }

    /// Asks the client to reconnect if the stream ends early.
    pub(in crate::http) fn with_retry(mut self) -> Self {
        self.retry_field = Some(format!("retry: {}\n\n", RECONNECT_AFTER.as_millis()).into());
        self
    }

    /// Ends the stream after `wait`, although more messages may follow.
    pub(in crate::http) fn closing_after(mut self, wait: Duration) -> Self {
        self.closes = Some(Box::pin(sleep(wait)));
        self.with_retry()
    }

    /// Ends the stream when the credential of its reader expires.
    pub(in crate::http) fn ending_at(mut self, expires: Option<SystemTime>) -> Self {
        let Some(expires) = expires else { return self };
        let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
        self.expires = Some(Box::pin(sleep(left)));
        self
    }

    /// Counts the stream as one of the open streams.
    pub(in crate::http) fn holding(mut self, open: OpenStream) -> Self {
        self.open = Some(open);
        self
    }

    /// Runs `act` when the client has disconnected or the stream has ended.
    pub(in crate::http) fn on_close(mut self, act: OnClose) -> Self {
        self.on_close = Some(act);
        self
    }

    /// Probes a client that has closed its writing side, immediately and then repeatedly, which shows whether it is still
    /// connected. Until then the buffer counts as having no reader, and another request for the stream replaces this one.
    pub(in crate::http) fn probe_reader(&mut self) {
        if self.probe.is_none() {
            self.buffer.leave(self.reader);
            self.probe = Some(FIRST_PROBE);
            self.keep_alive.as_mut().reset(Instant::now());
        }
    }

    /// The time until the next keep-alive or probe.
    fn next_keep_alive(&mut self) -> Duration {
        let Some(wait) = &mut self.probe else { return KEEP_ALIVE };
        let next = (*wait * 2).min(LAST_PROBE);
        std::mem::replace(wait, next)
    }
}

/// The priming event: an empty event whose id lets the client resume the stream before any message was sent.
pub(in crate::http) fn priming(buffer: &ReplayBuffer, after: u64) -> Option<Bytes> {
    let number = buffer.number?;
    Some(format!("id: {number}-{after}\ndata:\n\n").into())
}

/// Parses an event id into the numbers of its buffer and its message.
pub(in crate::http) fn parse_id(id: &str) -> Option<(u64, u64)> {
    let (buffer, message) = id.split_once('-')?;
    let number =
        |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    Some((number(buffer)?, number(message)?))
}

/// Writes the fields before the message.
fn write_head(out: &mut BytesMut, buffer: Option<u64>, number: u64) {
    out.extend_from_slice(b"event: message\n");
    if let Some(buffer) = buffer {
        // Writing to memory does not fail.
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
        // Checked first: a reader whose credential has expired receives nothing more.
        if self.expires.as_mut().is_some_and(|expires| expires.as_mut().poll(context).is_ready()) {
            self.is_over = true;
            return Poll::Ready(self.retry_field.take().map(|retry_field| Ok(Frame::data(retry_field))));
        }
        let mut piece = BytesMut::new();
        let mut is_over = false;
        while piece.len() < MAX_FRAME {
            match self.buffer.poll_next(self.reader, context) {
                Poll::Ready(Next::Message(number, message)) => {
                    write_head(&mut piece, self.buffer.number, number);
                    if message.len() > SMALL {
                        // A long message is not copied, and stays charged to the budget until it has been sent.
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
                    self.retry_field = None;
                    is_over = true;
                    break;
                }
                Poll::Pending => break,
            }
        }
        if !piece.is_empty() {
            let wait = self.next_keep_alive();
            self.keep_alive.as_mut().reset(Instant::now() + wait);
            return Poll::Ready(Some(Ok(Frame::data(piece.freeze()))));
        }
        let is_closing = self.closes.as_mut().is_some_and(|closes| closes.as_mut().poll(context).is_ready());
        if is_over || is_closing {
            self.is_over = true;
            let retry_field =
                self.retry_field.take().filter(|_| is_closing || self.buffer.number == Some(SESSION_STREAM));
            return Poll::Ready(retry_field.map(|retry_field| Ok(Frame::data(retry_field))));
        }
        if self.keep_alive.as_mut().poll(context).is_ready() {
            let wait = self.next_keep_alive();
            self.keep_alive.as_mut().reset(Instant::now() + wait);
            // The reset timer registers the waker only when it is polled again.
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
        if let Some(act) = self.on_close.take() {
            act();
        }
    }
}
