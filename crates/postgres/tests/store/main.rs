//! The store against a real PostgreSQL server.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod access;
mod audit_logs;
#[path = "../../../tasks/tests/store/contract/mod.rs"]
mod contract;
mod contract_of_stores;
mod cut_connections;
mod leases;
mod pooler;
mod shared_facts;
mod streams;
mod tables;

use mcp_bash_postgres::{Address, Postgres};
use mcp_bash_postgres_server::Server;
use mcp_bash_tasks::TaskRecord;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One server for all tests that do not stop it. A static value is never dropped: the server ends with its parent.
fn server() -> &'static Mutex<Server> {
    static SERVER: OnceLock<Mutex<Server>> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Server::start();
        server.pretend_to_be_old();
        Mutex::new(server)
    })
}

/// The address of a schema that no other test uses.
fn fresh_url() -> (String, String) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let schema = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    (locked().url(&schema), schema)
}

/// The server for one statement. A test that failed meanwhile has not harmed it.
fn locked() -> MutexGuard<'static, Server> {
    server().lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(url: &str) -> Postgres {
    Postgres::new(Address::parse(url, None).unwrap()).unwrap()
}

/// Waits for an operation that blocks nothing.
fn wait<T>(operation: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(operation)
}

fn sql(statement: &str) -> String {
    locked().query(statement)
}

/// A new task of attempt 1 that lives for a minute and may run again.
fn record(number: u8) -> TaskRecord {
    contract::record(number, true)
}
