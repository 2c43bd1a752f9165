//! Where messages go: the seam between the protocol and its transports.

/// The way to one client: a pipe for a whole connection, or the stream of one request.
pub trait Channel: Send + Sync {
    /// Queues one message. It leaves after those queued before it, and not later than the next [`Channel::flush`].
    fn push(&self, message: Vec<u8>);

    /// Lets what is queued leave, without waiting for the client to read it.
    fn flush(&self);

    /// Whether so much is queued that what can be missed (progress, logs) should not be added.
    fn is_clogged(&self) -> bool {
        false
    }
}
