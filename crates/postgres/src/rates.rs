//! Rates: what callers have spent at all servers together.

use crate::records::nonce;
use crate::{DatabaseError, Postgres, Values};
use std::time::Duration;

/// How long a request waits for its rate. After that its server counts for itself.
const LONGEST: Duration = Duration::from_millis(500);

/// A counter is the moment at which all of its requests are paid for, in microseconds of the clock of the database. The table
/// is not logged: a crash of the database forgets what was spent.
const TAKE: &str = "
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now),
    paid AS (DELETE FROM {s}.rates WHERE counter IN (SELECT counter FROM {s}.rates
        WHERE paid_at < (SELECT now FROM clock) AND counter <> $1 LIMIT 10 FOR UPDATE SKIP LOCKED))
    INSERT INTO {s}.rates AS known (counter, paid_at, taken, nonce)
    VALUES ($1, (SELECT now FROM clock) + $2 * least($4, $3 / $2), least($4, $3 / $2), $5)
    ON CONFLICT (counter) DO UPDATE SET nonce = $5, (paid_at, taken) = (
        SELECT CASE WHEN is_repeated THEN known.paid_at ELSE owed_until + $2 * room END,
               CASE WHEN is_repeated THEN known.taken ELSE room END
        FROM clock,
            LATERAL (SELECT greatest(least(known.paid_at, now + $3), now) AS owed_until) AS owed,
            LATERAL (SELECT least($4, ($3 - (owed_until - now)) / $2) AS room,
                            coalesce(known.nonce = $5, false) AS is_repeated) AS taking)
    RETURNING taken, paid_at + $2 - $3 - (SELECT now FROM clock)";

/// What was taken of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// How many requests may be made.
    pub requests: u32,
    /// If none, how long it takes until one may.
    pub wait: Duration,
}

impl Postgres {
    /// Takes as many requests as the rate of a counter allows now, `most` at most. A request costs time, and `credit` may be
    /// spent in advance.
    pub async fn take(
        &self,
        counter: &str,
        cost: Duration,
        credit: Duration,
        most: u32,
    ) -> Result<Taken, DatabaseError> {
        let values = Values::default().text(counter).number(micros(cost).max(1)).number(micros(credit));
        let values = values.number(most.into()).optional_bytes(nonce());
        let rows = self.connections.query_in_request(LONGEST, "count a request", TAKE, values).await?;
        let Some(row) = rows.first() else { return Ok(Taken { requests: 0, wait: cost }) };
        let (requests, wait): (i64, i64) = (row.get(0), row.get(1));
        Ok(Taken {
            requests: u32::try_from(requests).unwrap_or(0),
            wait: Duration::from_micros(u64::try_from(wait).unwrap_or(0)),
        })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
