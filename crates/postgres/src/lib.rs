//! A store in PostgreSQL, which any number of servers of one project share.
//!
//! It holds what a client was told it can come back for, whichever server it reaches: tasks, texts that were too long for an
//! answer, events of calls, and keys that are good once; and what callers have spent of their rates. It can hold the audit logs
//! too, a chain for each server. Leases and rates are measured by the clock of the database, so that the clocks of the servers do
//! not matter for them.
//!
//! Every operation is one statement that may be repeated without harm. So it works through a pooler that gives a connection
//! to a transaction (`PgBouncer` in transaction mode), and a connection that breaks is replaced in the middle of an operation.
//!
//! A thread of the store does the input and output. Calls for tasks block, on a thread that may wait. The others do not,
//! because requests wait for them.

mod address;
mod audit;
mod availability;
mod connections;
mod error;
mod migrations;
mod news;
mod rates;
mod records;
mod streams;
mod tasks;
mod tls;
mod turns;
mod values;

pub use address::Address;
pub use error::DatabaseError;
pub use rates::Taken;
pub use records::Record;
pub use streams::{StoredStream, StreamKey, StreamPart, StreamStage};

use connections::{Connections, LONGEST, LONGEST_IN_REQUEST};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_postgres::Row;
use values::Values;

/// The store of one project, in a schema of a database.
#[derive(Clone)]
pub struct Postgres {
    connections: Arc<Connections>,
}

impl Postgres {
    /// A store at that address. Nothing is connected yet: the first operation does that, and makes the tables.
    pub fn new(address: Address) -> Result<Self, DatabaseError> {
        Ok(Self { connections: Arc::new(Connections::start(address)?) })
    }

    /// Where it is, without a password.
    pub fn place(&self) -> String {
        self.connections.address().to_string()
    }

    /// Whether the database answers and has the tables.
    pub fn check(&self) -> Result<(), DatabaseError> {
        self.query("look at its tables", "SELECT 1 FROM {s}.versions", Values::default()).map(drop)
    }

    /// Why the database cannot be reached, if the last attempt failed, and news of it.
    pub fn availability(&self) -> watch::Receiver<Option<String>> {
        self.connections.availability().follow()
    }

    /// Runs a statement, in which `{s}` is the schema. `operation` completes the sentence "the store cannot …".
    fn query(
        &self,
        operation: &'static str,
        statement: &str,
        values: Values,
    ) -> Result<Vec<Row>, DatabaseError> {
        self.connections.query(LONGEST, operation, statement, values)
    }

    /// The same for a request, which waits for a short time only.
    async fn query_in_request(
        &self,
        operation: &'static str,
        statement: &str,
        values: Values,
    ) -> Result<Vec<Row>, DatabaseError> {
        self.connections.query_in_request(LONGEST_IN_REQUEST, operation, statement, values).await
    }

    /// The same for a text, which may be long.
    async fn query_of_text(
        &self,
        operation: &'static str,
        statement: &str,
        values: Values,
    ) -> Result<Vec<Row>, DatabaseError> {
        self.connections.query_in_request(LONGEST, operation, statement, values).await
    }
}
