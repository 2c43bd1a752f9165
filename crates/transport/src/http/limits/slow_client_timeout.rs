//! Slow-client timeout: closes the connection of a peer that does not read responses, does not finish the head of a request, or
//! sends no request. Lingering close: after the last response, input is read and discarded for a while, because closing with
//! unread input makes the system discard what the peer has not read yet.
//!
//! Half-closed connections: a peer that has closed its writing side may still wait for its response, as HTTP allows. hyper
//! treats the end of input as the end of the connection, so it gets the end only after the response has been sent. Whether such
//! a peer is still connected shows when something is sent to it (`events.rs`).

use crate::http::limits::options::Limits;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long input is discarded after the last response.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// How many bytes are discarded.
const MAX_LINGER_BYTES: usize = 64 * 1024 * 1024;

/// Whether a request is being served on a connection, which exempts the peer from the read timeouts, and the state of its
/// input.
#[derive(Clone, Default)]
pub(in crate::http) struct Serving(Arc<Exchange>);

#[derive(Default)]
struct Exchange {
    /// Incremented when a request begins and when it ends, so that it is odd while one is being served.
    changes: AtomicU64,
    /// Whether the current request was read completely.
    is_read: AtomicBool,
    /// Whether the peer has closed its writing side after the request.
    is_half_closed: AtomicBool,
}

impl Serving {
    /// Marks a request as being served until the returned guard is dropped.
    pub(in crate::http) fn begin(&self) -> ServingGuard {
        self.0.is_read.store(false, Ordering::Release);
        self.0.changes.fetch_add(1, Ordering::AcqRel);
        ServingGuard(Arc::clone(&self.0))
    }

    pub(in crate::http) fn has_begun(&self) -> bool {
        self.changes() > 0
    }

    /// The current request was read completely.
    pub(in crate::http) fn note_read(&self) {
        self.0.is_read.store(true, Ordering::Release);
    }

    /// Whether the peer has closed its writing side. It may wait for its response, or be gone.
    pub(in crate::http) fn is_half_closed(&self) -> bool {
        self.0.is_half_closed.load(Ordering::Acquire)
    }

    fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }
}

pub(in crate::http) struct ServingGuard(Arc<Exchange>);

impl ServingGuard {
    pub(in crate::http) fn is_half_closed(&self) -> bool {
        self.0.is_half_closed.load(Ordering::Acquire)
    }
}

impl Drop for ServingGuard {
    fn drop(&mut self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }
}

pub(in crate::http) struct TimedIo<S> {
    inner: S,
    serving: Serving,
    /// Timeouts: for the head of a request, between requests, and for a write that makes no progress.
    head: Duration,
    idle: Duration,
    stall: Duration,
    reading: Deadline,
    /// What the next input belongs to.
    awaited: Awaited,
    /// The count of `serving` at the last read.
    changes: u64,
    /// Whether the peer has closed its writing side, and the reader that gets the end of input later.
    has_ended: bool,
    reader: Option<Waker>,
    /// The count of `serving` for which the service got a chance to read what arrived before the end of input.
    given_time: u64,
    /// The count of `serving` when everything written was last flushed.
    flushed: u64,
    writing: Deadline,
    is_stalled: bool,
    /// Bytes discarded since the last response, while lingering.
    lingering: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// The body of the request that is being served, which has limits of its own.
    Body,
    /// The first byte of a request.
    Request,
    /// The rest of a head.
    Head,
}

impl<S> TimedIo<S> {
    pub(in crate::http) fn new(inner: S, limits: &Limits, serving: Serving) -> Self {
        Self {
            inner,
            serving,
            head: limits.header_time,
            idle: limits.idle_time,
            stall: limits.stall_time,
            reading: Deadline::default(),
            // A new connection has to send a request head.
            awaited: Awaited::Head,
            changes: 0,
            has_ended: false,
            reader: None,
            given_time: 0,
            flushed: 0,
            lingering: None,
            writing: Deadline::default(),
            is_stalled: false,
        }
    }

    /// Applies the read timeouts to the result of a read. `has_come` is whether it returned any bytes.
    fn check_read(
        &mut self,
        read: Poll<io::Result<()>>,
        has_come: bool,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let changes = self.serving.changes();
        // Pipelined requests are served without a read in between.
        let was_served = std::mem::replace(&mut self.changes, changes) != changes;
        let awaited = match self.awaited {
            _ if changes % 2 == 1 => Awaited::Body,
            _ if was_served => Awaited::Request,
            Awaited::Request if has_come => Awaited::Head,
            awaited => awaited,
        };
        if awaited != self.awaited || was_served || !self.reading.is_set() {
            self.awaited = awaited;
            self.reading.set(if awaited == Awaited::Request { self.idle } else { self.head });
        }
        if read.is_pending() && awaited != Awaited::Body && self.reading.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }

    /// Returns the end of input, once the response to the last request has been sent.
    fn poll_end(&mut self, context: &Context<'_>) -> Poll<io::Result<()>> {
        let changes = self.serving.changes();
        let is_being_served = changes % 2 == 1;
        let is_awaited = if is_being_served {
            self.serving.0.is_read.load(Ordering::Acquire)
        } else {
            self.flushed != changes
        };
        // The whole request may have arrived, but hyper polls for input before the service reads it. Give the service one turn.
        if is_being_served && !is_awaited && self.given_time != changes {
            self.given_time = changes;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !is_awaited {
            return Poll::Ready(Ok(()));
        }
        self.serving.0.is_half_closed.store(true, Ordering::Release);
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Applies the write timeout to the result of a write.
    fn check_write<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_stalled = false;
            return written;
        }
        if !std::mem::replace(&mut self.is_stalled, true) {
            self.writing.set(self.stall);
        }
        if self.writing.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> TimedIo<S> {
    /// Discards what the peer still sends, for a while. Returns at once if it sends nothing.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        loop {
            let mut discarded = ReadBuf::uninit(&mut buffer);
            let read = Pin::new(&mut self.inner).poll_read(context, &mut discarded);
            let count = discarded.filled().len();
            match (read, self.lingering) {
                (Poll::Ready(Ok(())), _) if count > 0 => {
                    if self.lingering.is_none() {
                        self.reading.set(LINGER_TIMEOUT);
                    }
                    let all = self.lingering.unwrap_or(0) + count;
                    self.lingering = Some(all);
                    if all > MAX_LINGER_BYTES {
                        return Poll::Ready(());
                    }
                }
                (Poll::Pending, Some(_)) => return self.reading.poll(context),
                _ => return Poll::Ready(()),
            }
        }
    }
}

/// A deadline that is moved often and rarely reached. The timer keeps its earlier time, and is reset when it fires.
#[derive(Default)]
struct Deadline {
    at: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    fn is_set(&self) -> bool {
        self.at.is_some()
    }

    fn set(&mut self, wait: Duration) {
        self.at = Some(Instant::now() + wait);
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.deadline() > at {
            timer.as_mut().reset(at);
        }
        while timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= at {
                return Poll::Ready(());
            }
            timer.as_mut().reset(at);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.has_ended {
            return self.poll_end(context);
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let has_come = buffer.filled().len() > before;
        if matches!(read, Poll::Ready(Ok(()))) && !has_come && buffer.remaining() > 0 {
            self.has_ended = true;
            return self.poll_end(context);
        }
        self.check_read(read, has_come, context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.check_write(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.check_write(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.flushed = self.serving.changes();
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
        }
        self.check_write(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.inner).poll_shutdown(context);
            ready!(self.check_write(shut, context))?;
        }
        self.poll_linger(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::{advance, sleep};

    const LIMITS: fn() -> Limits = || Limits {
        header_time: Duration::from_secs(10),
        idle_time: Duration::from_secs(60),
        stall_time: Duration::from_secs(30),
        ..Limits::default()
    };

    fn pair() -> (TimedIo<DuplexStream>, DuplexStream, Serving) {
        let (ours, theirs) = duplex(8);
        let serving = Serving::default();
        (TimedIo::new(ours, &LIMITS(), serving.clone()), theirs, serving)
    }

    async fn seconds_until_cut_off(io: &mut TimedIo<DuplexStream>) -> u64 {
        let begun = Instant::now();
        assert_eq!(io.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_nothing_times_out_and_a_slow_one_does_not() {
        let (mut io, mut theirs, _) = pair();
        let writing = tokio::spawn(async move {
            io.write_all(&[1; 64]).await.unwrap();
            io.write_all(&[2; 64]).await.unwrap_err().kind()
        });
        for _ in 0..8 {
            advance(Duration::from_secs(29)).await;
            theirs.read_exact(&mut [0; 8]).await.unwrap();
        }
        assert_eq!(writing.await.unwrap(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_to_come_in_time_as_a_whole() {
        let (mut io, mut theirs, _) = pair();
        let trickle = tokio::spawn(async move {
            for _ in 0..30 {
                sleep(Duration::from_secs(1)).await;
                if theirs.write_u8(1).await.is_err() {
                    return;
                }
            }
        });
        let begun = Instant::now();
        let error = loop {
            match io.read_u8().await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 10));
        trickle.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_may_be_silent_while_it_is_served_and_for_a_while_after() {
        let (mut io, mut theirs, serving) = pair();
        let served = serving.begin();
        let waiting = tokio::time::timeout(Duration::from_secs(1000), io.read_u8()).await;
        assert!(waiting.is_err(), "it waits for its answer");
        drop(served);
        theirs.write_u8(1).await.unwrap();
        io.read_u8().await.unwrap();
        let served = serving.begin();
        assert!(tokio::time::timeout(Duration::from_secs(1), io.read_u8()).await.is_err());
        drop(served);
        assert_eq!(seconds_until_cut_off(&mut io).await, 60);
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_says_no_more_is_known_to_have_ended_when_its_answer_has_left() {
        let (mut io, mut theirs, serving) = pair();
        let served = serving.begin();
        serving.note_read();
        theirs.shutdown().await.unwrap();
        let mut end = read_now(&mut io).await;
        assert!(end.is_none() && serving.is_half_closed(), "it waits for its answer");
        io.write_all(b"12345678").await.unwrap();
        drop(served);
        end = read_now(&mut io).await;
        assert!(end.is_none(), "the answer has not left");
        io.flush().await.unwrap();
        end = read_now(&mut io).await;
        assert_eq!(end, Some(0));
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_that_is_there_before_the_request_was_looked_at_is_not_one_in_its_middle() {
        let (mut io, mut theirs, serving) = pair();
        theirs.shutdown().await.unwrap();
        let _served = serving.begin();
        let mut buffer = [0; 8];
        let first = poll_fn(|context| {
            Poll::Ready(Pin::new(&mut io).poll_read(context, &mut ReadBuf::new(&mut buffer)))
        });
        assert!(first.await.is_pending());
        serving.note_read();
        assert!(read_now(&mut io).await.is_none() && serving.is_half_closed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_ends_in_the_middle_of_a_request_has_ended() {
        let (mut io, mut theirs, serving) = pair();
        theirs.write_all(b"half").await.unwrap();
        theirs.shutdown().await.unwrap();
        let _served = serving.begin();
        assert_eq!(read_now(&mut io).await, Some(4));
        assert!(read_now(&mut io).await == Some(0) && !serving.is_half_closed());
    }

    /// How many bytes can be read. `None` if none are available yet.
    async fn read_now(io: &mut TimedIo<DuplexStream>) -> Option<usize> {
        let mut buffer = [0; 8];
        tokio::time::timeout(Duration::from_millis(1), io.read(&mut buffer)).await.ok().map(Result::unwrap)
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_came_at_once_leave_time_for_the_next() {
        let (mut io, mut theirs, serving) = pair();
        theirs.write_all(b"two at o").await.unwrap();
        io.read_exact(&mut [0; 8]).await.unwrap();
        // The first request takes longer than the head timeout, and nothing is read meanwhile.
        drop(serving.begin());
        advance(Duration::from_secs(11)).await;
        drop(serving.begin());
        assert_eq!(seconds_until_cut_off(&mut io).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_still_sends_is_listened_to_for_a_while() {
        let (mut io, mut theirs, _) = pair();
        theirs.write_all(b"unwanted").await.unwrap();
        let sending = tokio::spawn(async move {
            while theirs.write_u8(1).await.is_ok() {
                sleep(Duration::from_millis(100)).await;
            }
        });
        let begun = Instant::now();
        io.shutdown().await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), LINGER_TIMEOUT.as_secs());
        drop(io);
        sending.await.unwrap();
        // A peer that has sent everything is not waited for.
        let (mut io, _theirs, _) = pair();
        let begun = Instant::now();
        io.shutdown().await.unwrap();
        assert!(begun.elapsed().is_zero());
    }
}
