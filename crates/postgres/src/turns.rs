//! Turns of tasks in the database. A server reads who waits and who runs, decides, and writes its decision if nobody has decided
//! anything meanwhile: the number of decisions is what servers compete for. So no limit is passed, and no lock is held.

use crate::tasks::LEASE;
use crate::{Postgres, Values};
use mcp_bash_tasks::turns::may_begin;
use mcp_bash_tasks::{Entrant, Lease, StoreError, TaskRecord, TurnLimits};
use tokio_postgres::Row;

/// The tasks that take turns and whose servers live, each with the number of decisions so far.
const LOOK: &str = "
    SELECT turns.decisions, tasks.entrant FROM {s}.turns LEFT JOIN {s}.tasks
    ON entrant IS NOT NULL AND NOT is_final AND lease_until > now()";

/// Another server that decides at the same time waits for this one at the row of `turns`, and then finds another number there.
const DECIDE: &str = "
    WITH decision AS (UPDATE {s}.turns SET decisions = decisions + 1 WHERE decisions = $3 RETURNING 1)
    UPDATE {s}.tasks SET record = $4, entrant = $5, request = CASE WHEN $6 THEN request END,
        lease_until = now() + $7 * interval '1 second'
    WHERE id = $1 AND attempt = $2 AND EXISTS (SELECT FROM decision) RETURNING 1";

pub(crate) fn begin(
    store: &Postgres,
    lease: &Lease,
    record: &mut TaskRecord,
    limits: TurnLimits,
) -> Result<bool, StoreError> {
    loop {
        let rows = store.query("look whose turn it is", LOOK, Values::default())?;
        let Some(decisions) = rows.first().map(|row| row.get::<_, i64>(0)) else { return Ok(false) };
        let entrants = read(&rows);
        let Some(mut task) = Entrant::of(record) else { return Ok(false) };
        if !may_begin(&task, &entrants, limits) {
            return if is_known(store, lease)? { Ok(false) } else { Err(store.stale(&lease.id)) };
        }
        task.turn.waits = false;
        let begun = TaskRecord { turn: Some(task.turn), ..record.clone() };
        let values = Values::default().text(lease.id.as_str()).number(lease.attempt);
        let values = values.number(u64::try_from(decisions).unwrap_or(0)).text(&store.text(&begun)?);
        let values = values.optional_text(store.entrant(&begun)?.as_deref()).is(record.repeatable);
        let decided = store.query("let a task begin", DECIDE, values.fraction(LEASE.as_secs_f64()))?;
        // Done twice, because its connection broke before the answer, it finds another number, and the task begun.
        if !decided.is_empty() || has_begun(store, lease)? {
            *record = begun;
            return Ok(true);
        }
    }
}

pub(crate) fn entrants(store: &Postgres) -> Result<Vec<Entrant>, StoreError> {
    Ok(read(&store.query("look who waits", LOOK, Values::default())?))
}

fn read(rows: &[Row]) -> Vec<Entrant> {
    let texts = rows.iter().filter_map(|row| row.get::<_, Option<&str>>(1));
    texts.filter_map(|text| serde_json::from_str(text).ok()).collect()
}

/// Whether the task is still the lease's.
fn is_known(store: &Postgres, lease: &Lease) -> Result<bool, StoreError> {
    let statement = "SELECT 1 FROM {s}.tasks WHERE id = $1 AND attempt = $2";
    let values = Values::default().text(lease.id.as_str()).number(lease.attempt);
    Ok(!store.query("look after a task", statement, values)?.is_empty())
}

/// Whether this attempt has begun. An error if the task is another server's now.
fn has_begun(store: &Postgres, lease: &Lease) -> Result<bool, StoreError> {
    let statement = "SELECT entrant FROM {s}.tasks WHERE id = $1 AND attempt = $2 AND NOT is_final";
    let values = Values::default().text(lease.id.as_str()).number(lease.attempt);
    let rows = store.query("look after a task", statement, values)?;
    let Some(row) = rows.first() else { return Err(store.stale(&lease.id)) };
    let entrant = row.get::<_, Option<&str>>(0).and_then(|text| serde_json::from_str::<Entrant>(text).ok());
    Ok(entrant.is_some_and(|entrant| !entrant.turn.waits))
}
