//! Reply and stream: how messages reach a client. These traits separate the protocol from its transports.

/// An outgoing channel to a client. Messages are sent in the order in which they were queued, at the latest by the next
/// [`Stream::flush`].
pub trait Stream: Send + Sync {
    /// Queues a notification.
    fn notify(&self, message: Vec<u8>);

    /// Queues a request to the client. False if it is too long to send, or the client has disconnected.
    fn ask(&self, message: Vec<u8>) -> bool;

    /// Sends the queued messages, without waiting for the client to read them.
    fn flush(&self);

    /// Whether the client is congested: so much is queued that progress and logs are dropped and other work waits. Called
    /// often, so it must be cheap. A transport calls [`Server::relieved`] when it has become false again.
    ///
    /// [`Server::relieved`]: crate::Server::relieved
    fn is_clogged(&self) -> bool {
        false
    }

    /// Whether notifications are sent at all. A client that has closed its end of the connection may still wait for responses.
    /// It receives only notifications that accompany one ([`Reply::notify_before_answer`]).
    fn takes_notifications(&self) -> bool {
        true
    }
}

/// The reply to a client's message: notifications and questions, then one response or none. Exactly one of [`Reply::answer`],
/// [`Reply::refuse`] and [`Reply::end`] is called for each message that requires a response.
pub trait Reply: Stream {
    /// Queues the response: a result, an error, or the array for a batch. It is the last message of this reply.
    fn answer(&self, message: Vec<u8>);

    /// Queues a notification about this request. The response follows immediately.
    fn notify_before_answer(&self, message: Vec<u8>) {
        self.notify(message);
    }

    /// Queues the error response of a request that was not served, for transports that signal refusals in their own way.
    fn refuse(&self, message: Vec<u8>, code: i32) {
        let _ = code;
        self.answer(message);
    }

    /// Ends the reply without a response: the request was cancelled.
    fn end(&self);

    /// The longest message that can be sent from now on, in bytes. A longer response may be replaced by an error.
    fn longest_message(&self) -> usize {
        usize::MAX
    }

    /// Whether other requests use the same stream, so that the stream outlives this reply.
    fn is_shared(&self) -> bool {
        false
    }
}
