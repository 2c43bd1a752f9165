//! Several servers of one project that share a PostgreSQL database behave as one.

mod audit;
mod consents;
mod database;
mod kept_texts;
mod keys;
mod lists;
mod rates;
mod sessions;
mod states;
mod streams;
mod tasks;

use crate::harness::Project;
use crate::harness::http::{HttpServer, stateless_with};
use mcp_bash_postgres_server::Server as Database;
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// The key of the servers of a fleet.
pub(super) const FIRST_KEY: &str = "1:b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZCA=\n";

fn write_private(file: &Path, text: &str) {
    fs::write(file, text).expect("a file");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("permissions");
}

/// Servers of one project, each with its own address, and what they share.
pub(super) struct Fleet {
    pub(super) servers: Vec<HttpServer>,
    pub(super) database: Database,
    tokens: [String; 2],
    shared: TempDir,
    settings: Vec<(&'static str, &'static str)>,
}

impl Fleet {
    pub(super) fn start(project: &Project, size: usize) -> Self {
        Self::start_with(project, size, &[])
    }

    /// Starts servers with these settings.
    pub(super) fn start_with(
        project: &Project,
        size: usize,
        settings: &[(&'static str, &'static str)],
    ) -> Self {
        let shared = tempfile::tempdir().expect("a folder");
        let made =
            ["me", "stranger"].map(|name| TokenLine::generate(name, Grant::default()).expect("a token"));
        let lines = made.each_ref().map(|(line, _)| line.to_string()).join("\n");
        write_private(&shared.path().join("tokens"), &lines);
        write_private(&shared.path().join("keys"), FIRST_KEY);
        let tokens = made.map(|(_, token)| format!("Bearer {token}"));
        let settings = settings.to_vec();
        let mut fleet = Self { servers: Vec::new(), database: Database::start(), tokens, shared, settings };
        fleet.database.pretend_to_be_old();
        for _ in 0..size {
            fleet.add(project);
        }
        fleet
    }

    /// Replaces the keys, for servers that start from now on.
    pub(super) fn write_keys(&self, keys: &[&str]) {
        write_private(&self.shared.path().join("keys"), &keys.concat());
    }

    /// Starts one more server.
    pub(super) fn add(&mut self, project: &Project) {
        let shared = |name: &str| self.shared.path().join(name).to_str().expect("a path").to_owned();
        let (tokens, keys, store) = (shared("tokens"), shared("keys"), self.database.url("fleet"));
        let mut environment = vec![("MCPBASH_STATE_KEYS_FILE", &*keys), ("MCPBASH_STORE", &*store)];
        environment.extend(&self.settings);
        self.servers.push(HttpServer::start_with(project.root(), &["--tokens", &tokens], &environment));
    }

    pub(super) fn token(&self) -> &str {
        &self.tokens[0]
    }

    pub(super) fn strangers_token(&self) -> &str {
        &self.tokens[1]
    }

    /// Asks one of the servers, as a client that can answer questions, and knows tasks if `meta` says so.
    pub(super) fn ask_with(&self, server: usize, method: &str, params: &Value, meta: &Value) -> Value {
        let mut params = params.clone();
        params["_meta"] = meta.clone();
        let headers = [("Authorization", self.token())];
        self.servers[server].send(&stateless_with(&headers, 1, method, &params)).json()
    }

    /// Asks one of the servers, as a client that knows tasks.
    pub(super) fn ask(&self, server: usize, method: &str, params: &Value) -> Value {
        self.ask_with(server, method, params, &crate::tasks::declaring(&json!({ "elicitation": {} })))
    }

    /// Ends the leases of all tasks, as time does when no server renews them.
    pub(super) fn end_leases(&self) {
        self.database.query("UPDATE fleet.tasks SET lease_until = now() - interval '1 second'");
    }
}
