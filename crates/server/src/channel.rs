//! Where messages go: the seam between the protocol and its transports.

/// The way to one client: a pipe for a whole connection, or the stream of one request.
pub trait Channel: Send + Sync {
    /// Queues one message. It leaves after those queued before it, and not later than the next [`Channel::flush`].
    fn push(&self, message: Vec<u8>);

    /// Lets what is queued leave, without waiting for the client to read it.
    fn flush(&self);

    /// Whether so much is queued that nothing should be added which can be missed (progress, logs) or can wait. Asked
    /// often, so it must cost next to nothing. Whoever implements it calls [`Connection::relieved`] when it has become
    /// false again.
    ///
    /// [`Connection::relieved`]: crate::Connection::relieved
    fn is_clogged(&self) -> bool {
        false
    }
}
