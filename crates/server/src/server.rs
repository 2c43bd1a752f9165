//! What all connections of a process share.

use crate::admission::Admission;
use crate::call::Pace;
use crate::guard::Guard;
use crate::listing::Listing;
use crate::log::Log;
use crate::payloads::Payloads;
use crate::settings::Settings;
use mcp_bash_project::Catalog;
use mcp_bash_runner::{Runner, StateDir};
use mcp_bash_wire::{LogLevel, Revision};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

pub struct Server {
    settings: Settings,
    catalog: Arc<Catalog>,
    listing: Listing,
    runner: Runner,
    admission: Arc<Admission>,
    guard: Option<Guard>,
    payloads: Option<Payloads>,
    log: Log,
    runtime: Handle,
    state_dir: Arc<StateDir>,
}

impl Server {
    /// A server for `catalog` that does its work on `runtime`.
    pub fn new(
        settings: Settings,
        catalog: Catalog,
        log: Log,
        runtime: Handle,
        state_dir: Arc<StateDir>,
    ) -> Self {
        let admission = Admission::new(
            runtime.clone(),
            settings.max_concurrent,
            settings.max_waiting,
            settings.max_waiting_bytes,
        );
        let server = Self {
            guard: settings.remote_token.as_ref().map(Guard::new),
            payloads: record_payloads(&settings, &state_dir, &log),
            listing: Listing::default(),
            runner: Runner::new(Arc::clone(&state_dir)),
            admission: Arc::new(admission),
            catalog: Arc::new(catalog),
            settings,
            log,
            runtime,
            state_dir,
        };
        server.report_catalog();
        server
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Ends every process of every call, and removes what was only there while the server ran.
    pub fn end(&self, grace: Duration) {
        self.runner.end_all(grace);
        self.state_dir.remove();
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    pub(crate) fn tools(&self, revision: Revision) -> &str {
        self.listing.tools(&self.catalog, revision)
    }

    pub(crate) fn runner(&self) -> &Runner {
        &self.runner
    }

    pub(crate) fn state_dir(&self) -> &StateDir {
        &self.state_dir
    }

    pub(crate) fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    pub(crate) fn payloads(&self) -> Option<&Payloads> {
        self.payloads.as_ref()
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(crate) fn pace(&self) -> Pace {
        Pace {
            progress_per_minute: self.settings.progress_per_minute,
            logs_per_minute: self.settings.logs_per_minute,
            live: self.settings.live_progress,
        }
    }

    /// What this server can do, as the text of a capabilities object. It holds what is served and nothing else.
    pub(crate) fn capabilities(&self) -> String {
        let mut capabilities = json!({ "logging": {} });
        if !self.settings.minimal {
            capabilities["tools"] = json!({});
        }
        capabilities.to_string()
    }

    fn report_catalog(&self) {
        for diagnostic in &self.catalog.diagnostics {
            self.log.event(LogLevel::Warning, "mcp.project", &diagnostic.to_string(), &json!({}));
        }
        let details = json!({ "project": self.catalog.paths.root, "tools": self.catalog.tools.len() });
        self.log.event(LogLevel::Debug, "mcp.project", "project read", &details);
    }
}

fn record_payloads(settings: &Settings, state_dir: &StateDir, log: &Log) -> Option<Payloads> {
    if !settings.debug_payloads {
        return None;
    }
    let secret = settings.remote_token.as_ref().map(|token| token.secret.clone());
    match Payloads::create(state_dir, secret) {
        Ok(payloads) => {
            let details = json!({ "file": payloads.path() });
            log.event(LogLevel::Warning, "mcp.payloads", "every message is recorded", &details);
            Some(payloads)
        }
        Err(error) => {
            let details = json!({ "error": error.to_string() });
            log.event(LogLevel::Error, "mcp.payloads", "messages cannot be recorded", &details);
            None
        }
    }
}
