//! Reply and stream: how messages reach a client. They are the seam between the protocol and its transports.

/// A way to a client. Messages are sent in the order in which they were queued, and not later than the next
/// [`Stream::flush`].
pub trait Stream: Send + Sync {
    /// Queues a notification.
    fn notify(&self, message: Vec<u8>);

    /// Queues a request of ours, which the client is to answer. False if it is too long to send, or the client is gone.
    fn ask(&self, message: Vec<u8>) -> bool;

    /// Sends what is queued, without waiting for the client to read it.
    fn flush(&self);

    /// Whether so much is queued that nothing should be added which may be lost (progress, logs) or can wait. Called
    /// often, so it must cost next to nothing. A transport calls [`Server::relieved`] when it has become false again.
    ///
    /// [`Server::relieved`]: crate::Server::relieved
    fn is_clogged(&self) -> bool {
        false
    }

    /// Whether notifications are sent at all. A client that has closed its end of the connection, and may still wait for
    /// answers, receives only those that come with an answer ([`Reply::notify_before_answer`]).
    fn takes_notifications(&self) -> bool {
        true
    }
}

/// The reply to a client's message: notifications and questions, then one answer or none. Exactly one of
/// [`Reply::answer`], [`Reply::refuse`] and [`Reply::end`] is called for each message that is owed an answer.
pub trait Reply: Stream {
    /// Queues the answer: a result, an error, or the array that answers a batch. It is the last message of this reply.
    fn answer(&self, message: Vec<u8>);

    /// Queues a notification about this request. The answer follows at once.
    fn notify_before_answer(&self, message: Vec<u8>) {
        self.notify(message);
    }

    /// Queues the answer of a request that was not served, an error with this code, for transports that signal a
    /// refusal in their own way.
    fn refuse(&self, message: Vec<u8>, code: i32) {
        let _ = code;
        self.answer(message);
    }

    /// There will be no answer: the request was cancelled.
    fn end(&self);

    /// The longest message that can be sent from now on, in bytes. A longer answer could become an error.
    fn longest_message(&self) -> usize {
        usize::MAX
    }

    /// Whether messages of other requests use the same stream, so that the stream outlasts this reply.
    fn is_shared(&self) -> bool {
        false
    }
}
