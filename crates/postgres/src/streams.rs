//! Event streams of calls, which a client may resume at any server. The server that runs the call writes them, and has a
//! lease while it does: a stream whose lease has ended gets no more events.

use crate::connections::LONGEST;
use crate::tasks::LEASE;
use crate::{DatabaseError, Postgres, Values};
use std::time::Duration;

/// How long the events of a stream are kept that is over, or whose server is gone.
const KEPT_FOR: Duration = Duration::from_secs(300);

/// Limits for the streams of one session that are over, in bytes and number. The oldest are dropped first.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
const MOST_STREAMS: u64 = 100;

/// How many parts of a stream are read at once.
const PARTS_READ: usize = 16;

/// What news of streams begin with.
const NEWS: &str = "stream ";

/// The name of a stream at all servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamKey {
    /// A digest of the session and its caller.
    pub session: [u8; 16],
    pub number: u64,
}

/// What is written of a stream: that it has begun, its next messages, or that it is over.
#[derive(Debug, Clone)]
pub struct StreamPart {
    pub key: StreamKey,
    /// Whether nothing of the stream was written before.
    pub is_new: bool,
    /// The error that answers the request if the server of the stream is gone. Read only if the part is new.
    pub lost_answer: Option<String>,
    /// Messages before this one cannot be replayed any more.
    pub oldest: u64,
    /// The numbers of the first and the last message. Without messages, the last comes before the first.
    pub first: u64,
    pub last: u64,
    /// The messages, separated by newlines.
    pub messages: Vec<u8>,
    pub is_over: bool,
    /// How many bytes are kept of the whole stream.
    pub bytes: u64,
}

/// Whether a stream gets more messages than those in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamStage {
    Open,
    Over,
    /// Its server has not renewed its lease.
    Abandoned,
}

/// What the store has of a stream.
#[derive(Debug)]
pub struct StoredStream {
    /// The answer if the stream is abandoned.
    pub lost_answer: Option<String>,
    pub stage: StreamStage,
    /// The next parts: the number of their first message, and their messages, separated by newlines.
    pub parts: Vec<(u64, Vec<u8>)>,
    /// Whether more parts are in the store.
    pub has_more: bool,
}

const WRITE: &str = "
    WITH parts AS (
        SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::boolean[], $4::text[], $5::bigint[], $6::bigint[],
                             $7::bigint[], $8::bytea[], $9::boolean[], $10::bigint[])
            AS parts (session, number, is_new, lost_answer, oldest, first, last, messages, is_over, bytes)
    ), times AS (
        SELECT now() + $11 * interval '1 second' AS lease_until,
               now() + $12 * interval '1 second' AS expires_at
    ), begun AS (
        INSERT INTO {s}.streams AS known (session, number, lost_answer, is_over, bytes, lease_until, expires_at)
        SELECT session, number, lost_answer, is_over, bytes, lease_until, expires_at FROM parts, times WHERE is_new
        ON CONFLICT (session, number) DO UPDATE SET lease_until = excluded.lease_until
        RETURNING session, number, is_followed
    ), continued AS (
        UPDATE {s}.streams AS known SET is_over = parts.is_over, bytes = parts.bytes,
            lease_until = times.lease_until, expires_at = times.expires_at
        FROM parts, times
        WHERE known.session = parts.session AND known.number = parts.number AND NOT parts.is_new
        RETURNING known.session, known.number, known.is_followed
    ), written AS (
        SELECT * FROM begun UNION ALL SELECT * FROM continued
    ), passed AS (
        DELETE FROM {s}.events USING parts
        WHERE events.session = parts.session AND events.number = parts.number AND events.last < parts.oldest
    ), excess AS (
        DELETE FROM {s}.streams USING (
            SELECT session, number, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
            FROM {s}.streams
            WHERE is_over AND session IN (SELECT session FROM parts WHERE is_over)
            WINDOW newest AS (PARTITION BY session ORDER BY expires_at DESC, number DESC)) AS finished
        WHERE streams.session = finished.session AND streams.number = finished.number AND (place > $13 OR total > $14)
    ), kept AS (
        INSERT INTO {s}.events (session, number, first, last, messages)
        SELECT session, number, first, last, messages FROM parts JOIN written USING (session, number)
        WHERE last >= first
        ON CONFLICT (session, number, first) DO UPDATE SET last = excluded.last, messages = excluded.messages
        WHERE excluded.last > events.last
    )
    SELECT pg_notify('{channel}', 'stream ' || encode(session, 'hex') || '-' || number)
    FROM written WHERE is_followed";

const READ: &str = "
    WITH followed AS (
        UPDATE {s}.streams SET is_followed = true
        WHERE session = $1 AND number = $2 AND NOT is_followed AND NOT is_over RETURNING session, number
    ), told AS (
        SELECT count(pg_notify('{channel}', 'stream ' || encode(session, 'hex') || '-' || number)) AS count
        FROM followed
    )
    SELECT lost_answer, is_over, lease_until <= now()
            AND pg_postmaster_start_time() + $4 * interval '1 second' <= now() AS is_abandoned, first, messages
    FROM told, {s}.streams LEFT JOIN LATERAL (
        SELECT first, messages FROM {s}.events
        WHERE events.session = streams.session AND events.number = streams.number AND last > $3
        ORDER BY first LIMIT $5) AS events ON true
    WHERE session = $1 AND number = $2 AND expires_at > now() AND count >= 0 ORDER BY first";

impl StreamPart {
    /// For how long the lease of a stream is given.
    pub const LEASE: Duration = LEASE;
}

impl StreamKey {
    /// The stream that news are of. `None` if they are of something else.
    fn of_news(news: &str) -> Option<Self> {
        let (session, number) = news.strip_prefix(NEWS)?.split_once('-')?;
        let session = u128::from_str_radix(session, 16).ok()?.to_be_bytes();
        Some(Self { session, number: number.parse().ok()? })
    }
}

impl Postgres {
    /// Writes parts of streams, and renews their leases. A part of a stream that is not in the store any more is dropped.
    pub async fn write_streams(&self, parts: &[StreamPart]) -> Result<(), DatabaseError> {
        let values = keys(parts.iter().map(|part| part.key))
            .list_of_flags(parts.iter().map(|part| part.is_new).collect())
            .list_of_texts(parts.iter().map(|part| part.lost_answer.clone()).collect())
            .list_of_numbers(parts.iter().map(|part| part.oldest))
            .list_of_numbers(parts.iter().map(|part| part.first))
            .list_of_numbers(parts.iter().map(|part| part.last))
            .list_of_bytes(parts.iter().map(|part| part.messages.clone()).collect())
            .list_of_flags(parts.iter().map(|part| part.is_over).collect())
            .list_of_numbers(parts.iter().map(|part| part.bytes))
            .fraction(LEASE.as_secs_f64())
            .fraction(expiry(LEASE).as_secs_f64())
            .number(MOST_STREAMS)
            .number(MOST_BYTES);
        self.connections.query_in_request(LONGEST, "write events", WRITE, values).await.map(drop)
    }

    /// Renews the leases of streams, or ends them. Returns those that are followed at another server.
    pub async fn renew_streams(
        &self,
        keys_of_streams: impl Iterator<Item = StreamKey>,
        lease: Duration,
    ) -> Result<Vec<StreamKey>, DatabaseError> {
        let statement = "
            UPDATE {s}.streams SET lease_until = now() + $3 * interval '1 second',
                expires_at = now() + $4 * interval '1 second'
            FROM unnest($1::bytea[], $2::bigint[]) AS open (session, number)
            WHERE streams.session = open.session AND streams.number = open.number AND NOT is_over
            RETURNING streams.session, streams.number, is_followed";
        let values =
            keys(keys_of_streams).fraction(lease.as_secs_f64()).fraction(expiry(lease).as_secs_f64());
        let rows = self.connections.query_in_request(LONGEST, "renew leases", statement, values).await?;
        let followed = rows.iter().filter(|row| row.get(2));
        Ok(followed
            .filter_map(|row| {
                let number = u64::try_from(row.get::<_, i64>(1)).ok()?;
                Some(StreamKey { session: row.get::<_, &[u8]>(0).try_into().ok()?, number })
            })
            .collect())
    }

    /// What comes after that message of a stream. Its server is asked to write everything from now on. `None` if there is no
    /// such stream, or no more.
    pub async fn read_stream(
        &self,
        key: StreamKey,
        after: u64,
    ) -> Result<Option<StoredStream>, DatabaseError> {
        let values = Values::default().bytes(key.session.to_vec()).number(key.number).number(after);
        let values = values.fraction(LEASE.as_secs_f64()).number(PARTS_READ as u64);
        let rows = self.query_in_request("read events", READ, values).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        // Leases also end because the database was away.
        let is_abandoned =
            row.get("is_abandoned") && !self.connections.availability().has_failed_within(LEASE);
        let stage = match (row.get("is_over"), is_abandoned) {
            (true, _) => StreamStage::Over,
            (false, true) => StreamStage::Abandoned,
            (false, false) => StreamStage::Open,
        };
        let part = |first: i64, messages: Option<Vec<u8>>| Some((u64::try_from(first).ok()?, messages?));
        let parts =
            rows.iter().filter_map(|row| part(row.get::<_, Option<i64>>("first")?, row.get("messages")));
        Ok(Some(StoredStream {
            lost_answer: row.get("lost_answer"),
            stage,
            parts: parts.collect(),
            has_more: rows.len() == PARTS_READ,
        }))
    }

    /// Removes the streams of a session.
    pub async fn forget_streams(&self, session: [u8; 16]) -> Result<(), DatabaseError> {
        let values = Values::default().bytes(session.to_vec());
        let statement = "DELETE FROM {s}.streams WHERE session = $1";
        self.query_in_request("remove events", statement, values).await.map(drop)
    }

    /// Tells the listener of streams that are followed, or of which more was written.
    pub fn on_stream_news(&self, listener: impl Fn(StreamKey) + Send + Sync + 'static) {
        self.connections.follow(Box::new(move |news| {
            if let Some(key) = StreamKey::of_news(news) {
                listener(key);
            }
        }));
    }
}

fn keys(keys: impl Iterator<Item = StreamKey>) -> Values {
    let (sessions, numbers): (Vec<_>, Vec<_>) = keys.map(|key| (key.session.to_vec(), key.number)).unzip();
    Values::default().list_of_bytes(sessions).list_of_numbers(numbers.into_iter())
}

/// How long a stream is kept after its lease was renewed.
fn expiry(lease: Duration) -> Duration {
    lease + KEPT_FOR
}
