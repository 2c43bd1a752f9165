//! Tables, and how they change. Old and new servers use them side by side during an upgrade, so a new version only adds: a
//! server goes on with tables that are newer than it knows, unless they say that it is too old for them.

use tokio_postgres::{Client, Error};

/// The statements of each version. `{s}` is the schema.
const VERSIONS: [&str; 5] = [
    "
    CREATE TABLE {s}.tasks (
        id text PRIMARY KEY,
        nonce bytea NOT NULL,
        owner_known_by text NOT NULL,
        owner_name text NOT NULL,
        record text NOT NULL,
        request text,
        result text,
        is_final boolean NOT NULL,
        attempt bigint NOT NULL,
        lease_until timestamptz NOT NULL,
        expires_ms bigint NOT NULL
    );
    CREATE INDEX tasks_owner ON {s}.tasks (owner_known_by, owner_name, id);
    CREATE INDEX tasks_lease ON {s}.tasks (lease_until) WHERE NOT is_final;
    CREATE INDEX tasks_expiry ON {s}.tasks (expires_ms);
    CREATE TABLE {s}.notes (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        task text NOT NULL REFERENCES {s}.tasks ON DELETE CASCADE,
        nonce bytea NOT NULL UNIQUE,
        note text NOT NULL
    );
    CREATE INDEX notes_task ON {s}.notes (task, number);
    CREATE TABLE {s}.records (
        key text PRIMARY KEY,
        owner text NOT NULL,
        mime_type text NOT NULL,
        bytes bytea NOT NULL,
        expires_at timestamptz NOT NULL
    );
    CREATE INDEX records_owner ON {s}.records (owner, expires_at);
    CREATE TABLE {s}.used_keys (key bytea PRIMARY KEY, expires_at timestamptz NOT NULL, nonce bytea);
    CREATE INDEX used_keys_expiry ON {s}.used_keys (expires_at);
",
    "
    ALTER TABLE {s}.tasks ADD COLUMN entrant text;
    CREATE INDEX tasks_turns ON {s}.tasks (lease_until) WHERE entrant IS NOT NULL AND NOT is_final;
    CREATE TABLE {s}.turns (decisions bigint NOT NULL);
    INSERT INTO {s}.turns VALUES (0);
",
    "
    CREATE UNLOGGED TABLE {s}.rates (
        counter text PRIMARY KEY,
        paid_at bigint NOT NULL,
        taken bigint NOT NULL,
        nonce bytea
    );
    CREATE INDEX rates_paid ON {s}.rates (paid_at);
",
    r#"
    CREATE TABLE {s}.audit (
        chain text COLLATE "C" NOT NULL,
        seq bigint NOT NULL CHECK (seq > 0),
        line text NOT NULL,
        time text COLLATE "C" GENERATED ALWAYS AS (coalesce(substring(line from '"time":"([^"]{1,40})"'), '')) STORED,
        PRIMARY KEY (chain, seq)
    );
    CREATE INDEX audit_time ON {s}.audit (time, chain, seq);
"#,
    "
    CREATE TABLE {s}.streams (
        session bytea NOT NULL,
        number bigint NOT NULL,
        lost_answer text,
        is_over boolean NOT NULL,
        is_followed boolean NOT NULL DEFAULT false,
        bytes bigint NOT NULL,
        lease_until timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (session, number)
    );
    CREATE INDEX streams_expiry ON {s}.streams (expires_at);
    CREATE TABLE {s}.events (
        session bytea NOT NULL,
        number bigint NOT NULL,
        first bigint NOT NULL,
        last bigint NOT NULL,
        messages bytea NOT NULL,
        PRIMARY KEY (session, number, first),
        FOREIGN KEY (session, number) REFERENCES {s}.streams ON DELETE CASCADE
    );
",
];

/// The version that this program makes.
pub(crate) const KNOWN: i32 = 5;

/// The oldest version of a program that can use the tables that this one makes.
const OLDEST: i32 = 1;

/// What the tables of a schema say of themselves.
pub(crate) enum Found {
    Usable,
    /// Only a newer program can use them.
    TooNew(i32),
}

/// Makes the tables, or adds what they lack. Servers that start at once take turns.
pub(crate) async fn migrate(client: &mut Client, schema: &str) -> Result<Found, Error> {
    if let Some((version, oldest)) = version(client, schema).await?
        && (version >= KNOWN || oldest > KNOWN)
    {
        return Ok(found(version, oldest));
    }
    let changes = client.transaction().await?;
    // A lock of the transaction, since a pooler may give the next one another connection.
    changes.batch_execute("SELECT pg_advisory_xact_lock(hashtext('mcp-bash migrations'))").await?;
    let create = format!(
        "CREATE SCHEMA IF NOT EXISTS {schema};
         CREATE TABLE IF NOT EXISTS {schema}.versions (version int NOT NULL, oldest int NOT NULL)"
    );
    changes.batch_execute(&create).await?;
    let row =
        changes.query_typed(&format!("SELECT max(version), max(oldest) FROM {schema}.versions"), &[]).await?;
    let (version, oldest): (Option<i32>, Option<i32>) =
        row.first().map_or((None, None), |row| (row.get(0), row.get(1)));
    let done = version.unwrap_or(0);
    if done < KNOWN {
        for statements in VERSIONS.iter().skip(usize::try_from(done).unwrap_or(0)) {
            changes.batch_execute(&statements.replace("{s}", schema)).await?;
        }
        changes.batch_execute(&format!("INSERT INTO {schema}.versions VALUES ({KNOWN}, {OLDEST})")).await?;
    }
    changes.commit().await?;
    Ok(found(done.max(KNOWN), oldest.unwrap_or(OLDEST)))
}

/// The version of the tables, and the oldest program that may use them. `None` if there are none.
async fn version(client: &Client, schema: &str) -> Result<Option<(i32, i32)>, Error> {
    let exists =
        client.query_typed(&format!("SELECT to_regclass('{schema}.versions') IS NOT NULL"), &[]).await?;
    if !exists.first().is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let rows =
        client.query_typed(&format!("SELECT max(version), max(oldest) FROM {schema}.versions"), &[]).await?;
    Ok(rows.first().and_then(|row| Some((row.get::<_, Option<i32>>(0)?, row.get::<_, Option<i32>>(1)?))))
}

fn found(version: i32, oldest: i32) -> Found {
    if oldest > KNOWN { Found::TooNew(version) } else { Found::Usable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_its_statements() {
        assert_eq!(usize::try_from(KNOWN), Ok(VERSIONS.len()));
    }
}
