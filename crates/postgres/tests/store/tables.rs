//! The tables: made once, by servers that start together; added to, never replaced.

use super::{fresh_url, open, sql, wait};
use mcp_bash_tasks::TaskStore as _;
use std::sync::Barrier;
use std::thread;

#[test]
fn servers_that_start_together_make_the_tables_once() {
    let (url, schema) = fresh_url();
    let barrier = Barrier::new(6);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let store = open(&url);
                barrier.wait();
                store.check().unwrap();
            });
        }
    });
    assert_eq!(sql(&format!("SELECT version, oldest FROM {schema}.versions")), "5|1");
}

#[test]
fn a_new_server_adds_to_old_tables_and_old_ones_go_on() {
    let (url, schema) = fresh_url();
    open(&url).check().unwrap();
    // As the first version made them.
    sql(&format!(
        "DROP TABLE {schema}.turns; DROP TABLE {schema}.rates; DROP TABLE {schema}.audit; DROP TABLE {schema}.events;
         DROP TABLE {schema}.streams; DROP INDEX {schema}.tasks_turns; ALTER TABLE {schema}.tasks DROP COLUMN entrant;
         UPDATE {schema}.versions SET version = 1;
         INSERT INTO {schema}.tasks VALUES ('a', '', 'token', 'me', '{{}}', NULL, NULL, false, 1, now(), 1)"
    ));
    open(&url).check().unwrap();
    assert_eq!(sql(&format!("SELECT max(version), max(oldest) FROM {schema}.versions")), "5|1");
    // An old server leaves out what it does not know.
    sql(&format!("INSERT INTO {schema}.tasks (id, nonce, owner_known_by, owner_name, record, is_final, attempt, lease_until,
         expires_ms) VALUES ('b', '', 'token', 'me', '{{}}', false, 1, now() + interval '9 s', 1)"));
    assert!(open(&url).entrants().unwrap().is_empty(), "what an old server runs takes no turns");
}

#[test]
fn a_server_goes_on_with_newer_tables_unless_it_is_too_old_for_them() {
    let (url, schema) = fresh_url();
    open(&url).check().unwrap();
    sql(&format!("INSERT INTO {schema}.versions VALUES (7, 1)"));
    open(&url).check().unwrap();
    sql(&format!("INSERT INTO {schema}.versions VALUES (8, 7)"));
    let error = open(&url).check().unwrap_err().to_string();
    assert!(error.contains("version 8") && error.contains("upgrade this server"), "{error}");
}

#[test]
fn a_role_that_may_not_make_tables_uses_those_that_are_there() {
    let (url, schema) = fresh_url();
    sql(&format!("CREATE ROLE reader_{schema} LOGIN"));
    let poor = url.replace("user=postgres", &format!("user=reader_{schema}"));
    let error = open(&poor).check().unwrap_err().to_string();
    assert!(error.contains("make its tables") && error.contains("permission denied"), "{error}");
    open(&url).check().unwrap();
    sql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO reader_{schema};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}"
    ));
    let store = open(&poor);
    store.check().unwrap();
    assert!(wait(store.use_once([1; 16], u64::from(u32::MAX))).unwrap());
}
