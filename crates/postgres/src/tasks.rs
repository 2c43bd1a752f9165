//! Tasks in the database. A lease is a time in the row of its task, until which the server that wrote it has the task.

use crate::{Connections, DatabaseError, Postgres, Values, turns};
use mcp_bash_tasks::{
    ChangeListener, Claim, Durability, Entrant, Filter, Lease, Note, Owner, Status, StoreError, Swept,
    TaskId, TaskRecord, TaskStore, TurnLimits,
};
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio_postgres::Row;

/// For how long a lease is given.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// A longer result has a column of its own, which a look at the record does not read.
const LONGEST_IN_RECORD: usize = 16 * 1024;

/// The most notes for one task.
const MOST_NOTES: u64 = 10_000;

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unreachable { .. } | DatabaseError::Slow { .. } => Self::Away(Box::new(error)),
            _ => Self::Database(Box::new(error)),
        }
    }
}

/// Frees the lease of a task when it is dropped, so that nobody has to wait until its time is over.
struct Held {
    connections: Weak<Connections>,
    id: TaskId,
    attempt: u64,
}

/// Frees a task, unless it is free already.
const FREE: &str = "
    UPDATE {s}.tasks SET lease_until = now()
    WHERE id = $1 AND attempt = $2 AND NOT is_final AND lease_until > now()";

impl Drop for Held {
    fn drop(&mut self) {
        let Some(connections) = self.connections.upgrade() else { return };
        let values = Values::default().text(self.id.as_str()).number(self.attempt);
        connections.query_later("free a task", FREE, values);
    }
}

impl Postgres {
    fn lease(&self, id: &TaskId, attempt: u64) -> Lease {
        let connections = Arc::downgrade(&self.connections);
        Lease::new(id.clone(), attempt, Box::new(Held { connections, id: id.clone(), attempt }))
    }

    fn broken(&self, id: &str, problem: impl Into<String>) -> StoreError {
        StoreError::Broken {
            path: format!("{}, task {id}", Postgres::place(self)).into(),
            problem: problem.into(),
        }
    }

    fn read(&self, row: &Row) -> Result<TaskRecord, StoreError> {
        let text: &str = row.get("record");
        serde_json::from_str(text).map_err(|error| self.broken(row.get("id"), error.to_string()))
    }

    pub(crate) fn text(&self, record: &TaskRecord) -> Result<String, StoreError> {
        serde_json::to_string(record).map_err(|error| self.broken(record.id.as_str(), error.to_string()))
    }

    /// Writes a record with the fencing number of its lease, and a long result if it has one. Other servers hear of
    /// changes that matter, but not of progress: the news of all servers wait for one lock.
    fn write(
        &self,
        lease: &Lease,
        record: &TaskRecord,
        result: Option<&str>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let statement = "
            UPDATE {s}.tasks SET record = $3, is_final = $4, result = coalesce($5, result), entrant = $7
            WHERE id = $1 AND attempt = $2 RETURNING CASE WHEN $6 THEN pg_notify('{channel}', id) END";
        let values =
            Values::default().text(lease.id.as_str()).number(lease.attempt).text(&self.text(record)?);
        let values = values.is(record.status.is_final()).optional_text(result);
        let values =
            values.is(durability == Durability::Durable).optional_text(self.entrant(record)?.as_deref());
        let rows = self.query("write a task", statement, values)?;
        if rows.is_empty() { Err(self.stale(&lease.id)) } else { Ok(()) }
    }

    /// What others have to know of a task that takes turns.
    pub(crate) fn entrant(&self, record: &TaskRecord) -> Result<Option<String>, StoreError> {
        let entrant = Entrant::of(record).map(|entrant| serde_json::to_string(&entrant)).transpose();
        entrant.map_err(|error| self.broken(record.id.as_str(), error.to_string()))
    }

    /// Tells an operation from another one of the same kind.
    fn nonce(&self, id: &TaskId) -> Result<Vec<u8>, StoreError> {
        let mut nonce = vec![0; 16];
        let random = SystemRandom::new().fill(&mut nonce);
        random.map_err(|_| self.broken(id.as_str(), "the system has no random numbers"))?;
        Ok(nonce)
    }

    /// Why a fencing number was refused.
    pub(crate) fn stale(&self, id: &TaskId) -> StoreError {
        let attempt = TaskStore::get(self, id).ok().flatten().map_or(0, |record| record.attempt);
        StoreError::Stale { id: id.clone(), attempt }
    }
}

impl TaskStore for Postgres {
    fn place(&self) -> String {
        Self::place(self)
    }

    fn check(&self) -> Result<(), StoreError> {
        Ok(Self::check(self)?)
    }

    fn create(&self, record: &TaskRecord, request: Option<&str>) -> Result<Lease, StoreError> {
        let expires_ms = record.created_ms.saturating_add(record.ttl_ms);
        let values =
            Values::default().text(record.id.as_str()).text(&record.owner.known_by).text(&record.owner.name);
        let values = values.text(&self.text(record)?).optional_text(request).is(record.status.is_final());
        let values = values
            .number(record.attempt)
            .fraction(LEASE.as_secs_f64())
            .number(expires_ms)
            .bytes(self.nonce(&record.id)?)
            .optional_text(self.entrant(record)?.as_deref());
        let statement = "
            INSERT INTO {s}.tasks
                (id, owner_known_by, owner_name, record, request, is_final, attempt, lease_until, expires_ms, nonce,
                 entrant)
            VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second', $9, $10, $11)
            ON CONFLICT (id) DO UPDATE SET nonce = $10 WHERE tasks.nonce = $10 RETURNING 1";
        // Done twice, it meets its own row, which has its nonce.
        if self.query("keep a task", statement, values)?.is_empty() {
            return Err(self.stale(&record.id));
        }
        Ok(self.lease(&record.id, record.attempt))
    }

    fn count(&self, owner: &Owner, now_ms: u64) -> Result<Option<usize>, StoreError> {
        let statement = "SELECT count(*) FROM {s}.tasks
             WHERE owner_known_by = $1 AND owner_name = $2 AND expires_ms > $3";
        let values = Values::default().text(&owner.known_by).text(&owner.name).number(now_ms);
        let rows = self.query("count tasks", statement, values)?;
        Ok(rows.first().and_then(|row| usize::try_from(row.get::<_, i64>(0)).ok()))
    }

    fn get(&self, id: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
        let statement = "SELECT id, record FROM {s}.tasks WHERE id = $1";
        let rows = self.query("read a task", statement, Values::default().text(id.as_str()))?;
        rows.first().map(|row| self.read(row)).transpose()
    }

    fn result(&self, record: &TaskRecord) -> Result<Option<String>, StoreError> {
        if !record.has_long_result {
            return Ok(record.result.clone());
        }
        let statement = "SELECT result FROM {s}.tasks WHERE id = $1";
        let rows = self.query("read a result", statement, Values::default().text(record.id.as_str()))?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    fn request(&self, id: &TaskId) -> Result<Option<String>, StoreError> {
        let statement = "SELECT request FROM {s}.tasks WHERE id = $1";
        let rows = self.query("read a request", statement, Values::default().text(id.as_str()))?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    fn update(&self, lease: &Lease, record: &TaskRecord, durability: Durability) -> Result<(), StoreError> {
        self.write(lease, record, None, durability)
    }

    fn complete(&self, lease: &Lease, record: &mut TaskRecord, result: String) -> Result<(), StoreError> {
        record.status = Status::Completed;
        record.has_long_result = result.len() > LONGEST_IN_RECORD;
        if record.has_long_result {
            return self.write(lease, record, Some(&result), Durability::Durable);
        }
        record.result = Some(result);
        self.write(lease, record, None, Durability::Durable)
    }

    fn begin(&self, lease: &Lease, record: &mut TaskRecord, limits: TurnLimits) -> Result<bool, StoreError> {
        turns::begin(self, lease, record, limits)
    }

    fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        turns::entrants(self)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(LEASE)
    }

    fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        let statement = "
            UPDATE {s}.tasks SET lease_until = now() + $3 * interval '1 second'
            WHERE id = $1 AND attempt = $2 RETURNING 1";
        let values =
            Values::default().text(lease.id.as_str()).number(lease.attempt).fraction(LEASE.as_secs_f64());
        let rows = self.query("renew a lease", statement, values)?;
        if rows.is_empty() { Err(self.stale(&lease.id)) } else { Ok(()) }
    }

    fn claim(&self, id: &TaskId) -> Result<Claim, StoreError> {
        let Some(mut record) = TaskStore::get(self, id)? else { return Ok(Claim::Gone) };
        if record.status.is_final() {
            return Ok(Claim::Finished(self.lease(id, record.attempt), record));
        }
        // A database that was away has let leases end whose keepers live. They have time to come back, for as long as a lease:
        // here if this server could not reach it either, and in the statement if it was started again.
        if self.connections.availability().has_failed_within(LEASE) {
            return Ok(Claim::Held);
        }
        let before = record.attempt;
        record.attempt += 1;
        // If the connection breaks after the claim was made, its repetition finds the task held. Then nobody runs it until
        // the time of that lease is over.
        let statement = "
            UPDATE {s}.tasks SET record = $3, attempt = $4, lease_until = now() + $5 * interval '1 second'
            WHERE id = $1 AND attempt = $2 AND NOT is_final AND lease_until <= now()
                AND pg_postmaster_start_time() + $5 * interval '1 second' <= now() RETURNING 1";
        let values = Values::default().text(id.as_str()).number(before).text(&self.text(&record)?);
        let values = values.number(record.attempt).fraction(LEASE.as_secs_f64());
        if self.query("claim a task", statement, values)?.is_empty() {
            return Ok(Claim::Held);
        }
        Ok(Claim::Taken(self.lease(id, record.attempt), record))
    }

    fn post(&self, id: &TaskId, note: &Note) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(note).map_err(|error| self.broken(id.as_str(), error.to_string()))?;
        // The row of the task is locked first: notes of one task get their numbers in the order in which they become visible,
        // so that a reader cannot pass one by.
        let statement = "
            INSERT INTO {s}.notes (task, nonce, note) SELECT id, $2, $3
            FROM (SELECT id FROM {s}.tasks WHERE id = $1 FOR UPDATE) AS locked
            WHERE (SELECT count(*) FROM {s}.notes WHERE task = $1) < $4 ON CONFLICT (nonce) DO UPDATE SET note = $3
            RETURNING pg_notify('{channel}', task)";
        let values =
            Values::default().text(id.as_str()).bytes(self.nonce(id)?).text(&text).number(MOST_NOTES);
        if self.query("leave a note", statement, values)?.is_empty() {
            return Err(StoreError::TooManyNotes { id: id.clone() });
        }
        Ok(())
    }

    fn notes(&self, id: &TaskId, from: u64) -> Result<(Vec<Note>, u64), StoreError> {
        let statement = "SELECT number, note FROM {s}.notes WHERE task = $1 AND number > $2 ORDER BY number";
        let rows = self.query("read notes", statement, Values::default().text(id.as_str()).number(from))?;
        let last = rows.last().map_or(from, |row| u64::try_from(row.get::<_, i64>(0)).unwrap_or(from));
        Ok((rows.iter().filter_map(|row| serde_json::from_str(row.get(1)).ok()).collect(), last))
    }

    fn list(&self, filter: Filter<'_>, most: usize) -> Result<Vec<TaskRecord>, StoreError> {
        let statement = "
            SELECT id, record FROM {s}.tasks
            WHERE ($1::text IS NULL OR owner_known_by = $1 AND owner_name = $2) AND ($3::text IS NULL OR id > $3)
                AND ($4::text IS NULL OR record::json ->> 'status' = $4)
            ORDER BY id LIMIT $5";
        let values = Values::default()
            .optional_text(filter.owner.map(|owner| &*owner.known_by))
            .optional_text(filter.owner.map(|owner| &*owner.name))
            .optional_text(filter.after.map(TaskId::as_str))
            .optional_text(filter.status.map(Status::word))
            .number(most as u64);
        let rows = self.query("list tasks", statement, values)?;
        Ok(rows.iter().filter_map(|row| self.read(row).ok()).collect())
    }

    fn sweep(&self, now_ms: u64, most: usize) -> Result<Swept, StoreError> {
        let statement = "
            DELETE FROM {s}.tasks WHERE id IN (
                SELECT id FROM {s}.tasks WHERE expires_ms <= $2 AND (is_final OR lease_until <= now())
                LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id";
        let removed = self
            .query("remove expired tasks", statement, Values::default().number(most as u64).number(now_ms))?
            .len();
        let statement = "
            SELECT id FROM {s}.tasks WHERE NOT is_final AND lease_until <= now() AND expires_ms > $2
            ORDER BY lease_until LIMIT $1";
        let rows = self.query(
            "look for abandoned tasks",
            statement,
            Values::default().number(most as u64).number(now_ms),
        )?;
        let abandoned: Vec<TaskId> = rows.iter().filter_map(|row| TaskId::parse(row.get(0))).collect();
        // Of texts, keys and streams too: their owners may never come again.
        for table in ["records", "used_keys", "streams"] {
            let statement = format!("DELETE FROM {{s}}.{table} WHERE expires_at <= now()");
            self.query("remove expired texts", &statement, Values::default())?;
        }
        let is_whole = removed < most && abandoned.len() < most;
        Ok(Swept { removed, abandoned, is_whole })
    }

    fn on_change(&self, listener: ChangeListener) {
        self.connections.follow(Box::new(move |news| {
            if let Some(id) = TaskId::parse(news) {
                listener(&id);
            }
        }));
    }

    fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let values = Values::default().text(lease.id.as_str()).number(lease.attempt);
        self.query("free a task", FREE, values)?;
        Ok(())
    }

    fn remove(&self, lease: Lease) -> Result<(), StoreError> {
        let statement = "DELETE FROM {s}.tasks WHERE id = $1 AND attempt = $2";
        let values = Values::default().text(lease.id.as_str()).number(lease.attempt);
        self.query("remove a task", statement, values)?;
        Ok(())
    }
}
