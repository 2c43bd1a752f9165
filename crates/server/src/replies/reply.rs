//! Reply and stream: how messages reach a client. They are the seam between the protocol and its transports.

/// A way to a client. Messages leave in the order in which they were queued, and not later than the next
/// [`Stream::flush`].
pub trait Stream: Send + Sync {
    /// Queues a notification.
    fn notify(&self, message: Vec<u8>);

    /// Queues a request of ours, which the client is to answer. False where it is too long to leave, or the client is not there
    /// to answer any more.
    fn ask(&self, message: Vec<u8>) -> bool;

    /// Lets what is queued leave, without waiting for the client to read it.
    fn flush(&self);

    /// Whether so much is queued that nothing should be added which can be missed (progress, logs) or can wait. Asked
    /// often, so it must cost next to nothing. A transport calls [`Server::relieved`] when it has become
    /// false again.
    ///
    /// [`Server::relieved`]: crate::Server::relieved
    fn is_clogged(&self) -> bool {
        false
    }
}

/// What the message of a client gets back: notifications and questions, then one answer or none. Exactly one of
/// [`Reply::answer`], [`Reply::refuse`] and [`Reply::end`] is called for each message that is owed an answer.
pub trait Reply: Stream {
    /// Queues the answer: a result, an error, or the array that answers a batch. It is the last message of this reply.
    fn answer(&self, message: Vec<u8>);

    /// Queues the answer of a request that was not served, an error with this code: for transports that say so in a way of
    /// their own.
    fn refuse(&self, message: Vec<u8>, code: i32) {
        let _ = code;
        self.answer(message);
    }

    /// There will be no answer: the request was cancelled.
    fn end(&self);

    /// The longest message that can leave from now on, in bytes. A longer answer could become an error.
    fn longest_message(&self) -> usize {
        usize::MAX
    }

    /// Whether messages of other requests travel on the same stream, so that the end of this reply is not the end of
    /// the stream.
    fn is_shared(&self) -> bool {
        false
    }
}
