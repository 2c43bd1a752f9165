//! Stream store: what a client may resume at another server. A stream is found by the session and its caller, so that no other
//! caller can read it.

use mcp_bash_postgres::{DatabaseError, Postgres, StoredStream, StreamKey, StreamPart};
use sha2::{Digest as _, Sha256};
use std::time::Duration;
use thiserror::Error;

/// Streams of calls in the database that servers share.
pub struct StreamStore(Postgres);

/// The store does not answer, or refuses.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct Unavailable(#[from] DatabaseError);

impl StreamStore {
    pub(crate) fn new(database: Postgres) -> Self {
        Self(database)
    }

    /// The digest by which the streams of a session are found.
    pub fn session_key(session: &str, caller: &str) -> [u8; 16] {
        let digest = Sha256::digest([b"streams of ", session.as_bytes(), b"\0", caller.as_bytes()].concat());
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        key
    }

    /// Writes parts of streams.
    pub async fn write(&self, parts: &[StreamPart]) -> Result<(), Unavailable> {
        Ok(self.0.write_streams(parts).await?)
    }

    /// Renews the leases of streams. Returns those that are followed at another server.
    pub async fn renew(
        &self,
        streams: impl Iterator<Item = StreamKey>,
    ) -> Result<Vec<StreamKey>, Unavailable> {
        Ok(self.0.renew_streams(streams, StreamPart::LEASE).await?)
    }

    /// Ends the leases of streams that get no more messages.
    pub async fn abandon(&self, streams: impl Iterator<Item = StreamKey>) -> Result<(), Unavailable> {
        Ok(self.0.renew_streams(streams, Duration::ZERO).await.map(drop)?)
    }

    /// What comes after that message of a stream. From now on its server writes everything that comes. `None` if there is no
    /// such stream, or no more.
    pub async fn read(&self, stream: StreamKey, after: u64) -> Result<Option<StoredStream>, Unavailable> {
        Ok(self.0.read_stream(stream, after).await?)
    }

    /// Removes the streams of a session.
    pub async fn forget(&self, session: [u8; 16]) -> Result<(), Unavailable> {
        Ok(self.0.forget_streams(session).await?)
    }

    /// Tells the listener of streams that are followed, or of which more was written. Some news may be lost.
    pub fn on_news(&self, listener: impl Fn(StreamKey) + Send + Sync + 'static) {
        self.0.on_stream_news(listener);
    }
}
