//! Audit logs: lines of chains, which are added and never changed. Each process has a chain of its own.

use crate::connections::LONGEST_IN_REQUEST;
use crate::{DatabaseError, Postgres, Values};
use mcp_bash_audit::{ChainStore, Order, Position, StoredLine};
use std::error::Error;

/// How many lines are added to a chain or are there already. Lines that were added by a statement whose answer was lost are
/// there already; other lines with their numbers are not counted. It needs the rights to select and to insert only.
const ADD: &str = "
    WITH given AS (
        SELECT $2 + number - 1 AS seq, line FROM unnest($3) WITH ORDINALITY AS lines (line, number)
    ), added AS (
        INSERT INTO {s}.audit (chain, seq, line) SELECT $1, seq, line FROM given ORDER BY seq
        ON CONFLICT (chain, seq) DO NOTHING RETURNING seq
    )
    SELECT (SELECT count(*) FROM added)
         + (SELECT count(*) FROM given JOIN {s}.audit AS known USING (seq) WHERE chain = $1 AND known.line = given.line)";

const BY_CHAIN: &str = "
    SELECT time, chain, seq, line FROM {s}.audit WHERE (chain, seq) > ($1, $2) ORDER BY chain, seq LIMIT 500";

const BY_TIME: &str = "
    SELECT time, chain, seq, line FROM {s}.audit WHERE (time, chain, seq) > ($3, $1, $2)
    ORDER BY time, chain, seq LIMIT 500";

impl ChainStore for Postgres {
    fn add(&self, chain: &str, first: u64, lines: Vec<String>) -> Result<(), Box<dyn Error + Send + Sync>> {
        // The statement does not count lines that another connection adds at the same moment: an earlier attempt that still
        // runs. The next one does.
        if self.add_once(chain, first, lines.clone())? || self.add_once(chain, first, lines)? {
            return Ok(());
        }
        Err(DatabaseError::OtherLines { place: self.place(), chain: chain.to_owned(), first }.into())
    }

    fn read(&self, order: Order, after: &Position) -> Result<Vec<StoredLine>, Box<dyn Error + Send + Sync>> {
        let values = Values::default().text(&after.chain).number(after.seq);
        let (statement, values) = match order {
            Order::Chain => (BY_CHAIN, values),
            Order::Time => (BY_TIME, values.text(&after.time)),
        };
        let rows = self.query("read the audit log", statement, values)?;
        let number = |number: i64| u64::try_from(number).unwrap_or(0);
        let line = |row: &tokio_postgres::Row| StoredLine {
            at: Position { time: row.get(0), chain: row.get(1), seq: number(row.get(2)) },
            text: row.get(3),
        };
        Ok(rows.iter().map(line).collect())
    }
}

impl Postgres {
    /// Adds lines. False if the chain has not all of them then.
    fn add_once(&self, chain: &str, first: u64, lines: Vec<String>) -> Result<bool, DatabaseError> {
        let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
        let values =
            Values::default().text(chain).number(first).list_of_texts(lines.into_iter().map(Some).collect());
        let rows = self.connections.query(LONGEST_IN_REQUEST, "add to the audit log", ADD, values)?;
        Ok(rows.first().is_some_and(|row| row.get::<_, i64>(0) == count))
    }
}
