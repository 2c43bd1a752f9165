//! Texts that were too long for an answer, and keys that are good once.

use crate::{DatabaseError, Postgres, Values};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::HashSet;
use std::time::Duration;

/// The most bytes that are kept for one caller. The oldest records go first.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes for their owner, and their type.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    pub bytes: Vec<u8>,
    pub mime_type: String,
}

impl Postgres {
    /// Keeps bytes for their owner under a key that no other record has. Older ones of the same owner make room.
    pub async fn put(
        &self,
        key: &str,
        owner: &str,
        record: Record,
        lifetime: Duration,
    ) -> Result<(), DatabaseError> {
        let values = Values::default().text(key).text(owner).text(&record.mime_type);
        let values = values.bytes(record.bytes).fraction(lifetime.as_secs_f64()).number(MOST_BYTES);
        let statement = "
            WITH others AS (
                SELECT key, expires_at <= now() AS is_expired,
                       sum(octet_length(bytes)) OVER (ORDER BY expires_at DESC, key) AS total
                FROM {s}.records WHERE owner = $2 AND key <> $1
            ), removed AS (
                DELETE FROM {s}.records
                WHERE key IN (SELECT key FROM others WHERE is_expired OR total + octet_length($4) > $6)
            )
            INSERT INTO {s}.records (key, owner, mime_type, bytes, expires_at)
            VALUES ($1, $2, $3, $4, now() + $5 * interval '1 second') ON CONFLICT (key) DO NOTHING";
        self.query_of_text("keep a text", statement, values).await.map(drop)
    }

    /// The record with that key, unless it has expired, made room or has another owner.
    pub async fn get(&self, key: &str, owner: &str) -> Result<Option<Record>, DatabaseError> {
        let statement = "SELECT bytes, mime_type FROM {s}.records
             WHERE key = $1 AND owner = $2 AND expires_at > now()";
        let values = Values::default().text(key).text(owner);
        let rows = self.query_of_text("read a text", statement, values).await?;
        Ok(rows.first().map(|row| Record { bytes: row.get(0), mime_type: row.get(1) }))
    }

    /// Uses a key, and remembers that until it expires, in seconds since 1970. False if it was used before, by any server.
    pub async fn use_once(&self, key: [u8; 16], expires: u64) -> Result<bool, DatabaseError> {
        let statement = "
            WITH expired AS (DELETE FROM {s}.used_keys WHERE key IN
                (SELECT key FROM {s}.used_keys WHERE expires_at < now() LIMIT 100 FOR UPDATE SKIP LOCKED))
            INSERT INTO {s}.used_keys (key, expires_at, nonce) VALUES ($1, to_timestamp($2), $3)
            ON CONFLICT (key) DO UPDATE SET nonce = $3 WHERE used_keys.nonce = $3 RETURNING 1";
        // Done twice, because its connection broke before the answer, it meets its own row, which has its nonce.
        let values = Values::default().bytes(key.to_vec()).number(expires).optional_bytes(nonce());
        self.query_in_request("use a key", statement, values).await.map(|rows| !rows.is_empty())
    }

    /// Remembers a key until it expires, in seconds since 1970, whether or not it was used before.
    pub async fn mark(&self, key: [u8; 16], expires: u64) -> Result<(), DatabaseError> {
        let statement = "INSERT INTO {s}.used_keys (key, expires_at) VALUES ($1, to_timestamp($2))
             ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at";
        let values = Values::default().bytes(key.to_vec()).number(expires);
        self.query_in_request("remember a key", statement, values).await.map(drop)
    }

    /// Which of these keys are used, and have not expired.
    pub async fn used(&self, keys: Vec<[u8; 16]>) -> Result<HashSet<[u8; 16]>, DatabaseError> {
        let statement = "SELECT key FROM {s}.used_keys WHERE key = ANY($1) AND expires_at > now()";
        let values = Values::default().list_of_bytes(keys.iter().map(|key| key.to_vec()).collect());
        let rows = self.query_in_request("look for used keys", statement, values).await?;
        Ok(rows.iter().filter_map(|row| row.get::<_, &[u8]>(0).try_into().ok()).collect())
    }

    /// The key was not used after all.
    pub async fn give_back(&self, key: [u8; 16]) -> Result<(), DatabaseError> {
        let values = Values::default().bytes(key.to_vec());
        let statement = "DELETE FROM {s}.used_keys WHERE key = $1";
        self.query_in_request("give back a key", statement, values).await.map(drop)
    }
}

/// Tells one attempt from any other. `None` only while the system has no random numbers: then a repetition is taken for another.
pub(crate) fn nonce() -> Option<Vec<u8>> {
    let mut nonce = vec![0; 16];
    SystemRandom::new().fill(&mut nonce).ok().map(|()| nonce)
}
