//! What all connections of a process share.

use crate::admission::Admission;
use crate::call::Pace;
use crate::guard::Guard;
use crate::listing::Snapshot;
use crate::log::Log;
use crate::payloads::Payloads;
use crate::resources::Resources;
use crate::settings::Settings;
use crate::setup::Setup;
use crate::subscriptions::Subscriptions;
use arc_swap::ArcSwap;
use mcp_bash_project::{Catalog, Changes, Paths, Reading, RegistryError};
use mcp_bash_runner::{Runner, StateDir};
use mcp_bash_wire::{LogLevel, Revision};
use serde_json::json;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;

pub struct Server {
    settings: Arc<Settings>,
    snapshot: ArcSwap<Snapshot>,
    reading: Reading,
    runner: Arc<Runner>,
    admission: Arc<Admission>,
    guard: Option<Guard>,
    payloads: Option<Payloads>,
    resources: Resources,
    subscriptions: Subscriptions,
    log: Log,
    runtime: Handle,
    state_dir: Arc<StateDir>,
    search_path: OnceLock<OsString>,
}

impl Server {
    /// A server for `catalog`, which was read as `reading` says.
    pub fn new(setup: Setup, catalog: Catalog, reading: Reading, log: Log) -> Self {
        let Setup { settings, runtime, runner, state_dir } = setup;
        let admission = Admission::new(
            runtime.clone(),
            settings.max_concurrent,
            settings.max_waiting,
            settings.max_waiting_bytes,
        );
        report(&log, &catalog);
        Self {
            guard: settings.remote_token.as_ref().map(Guard::new),
            payloads: record_payloads(&settings, &state_dir, &log),
            resources: Resources::new(&settings, &catalog.paths),
            subscriptions: Subscriptions::default(),
            runner,
            admission: Arc::new(admission),
            snapshot: ArcSwap::from_pointee(Snapshot::new(catalog)),
            reading,
            settings,
            log,
            runtime,
            state_dir,
            search_path: OnceLock::new(),
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Where the project is.
    pub fn paths(&self) -> Paths {
        self.snapshot().catalog.paths.clone()
    }

    /// Reads the project again, as far as it changed, and tells the clients if its tools have. A project that cannot be
    /// served any more does not take the place of one that can.
    pub fn reload(&self, changes: &Changes) {
        let before = self.snapshot();
        let catalog = before.catalog.read_again(&self.reading, changes);
        if catalog.failure.is_some() && before.catalog.failure.is_none() {
            report(&self.log, &catalog);
            self.log.event(
                LogLevel::Error,
                "mcp.project",
                "the last good state of the project is served",
                &json!({}),
            );
            return;
        }
        let news = [
            ("tools", !catalog.tells_the_same_tools_as(&before.catalog)),
            ("resources", !catalog.tells_the_same_resources_as(&before.catalog)),
        ];
        if catalog.diagnostics != before.catalog.diagnostics {
            report(&self.log, &catalog);
        }
        self.snapshot.store(Arc::new(Snapshot::new(catalog)));
        if news.iter().any(|(_, is_news)| *is_news) {
            self.store_registry();
        }
        for (kind, _) in news.into_iter().filter(|(_, is_news)| *is_news) {
            let message = format!("the {kind} have changed");
            self.log.event(LogLevel::Info, "mcp.project", &message, &json!({}));
            self.log.peers().announce(&format!("notifications/{kind}/list_changed"));
        }
    }

    /// Writes the registry. A project that cannot be written to is served all the same.
    pub fn store_registry(&self) {
        if let Err(error) = self.snapshot().catalog.store(&self.reading) {
            let level = if matches!(error, RegistryError::TooLarge { .. }) {
                LogLevel::Error
            } else {
                LogLevel::Debug
            };
            self.log.event(level, "mcp.registry", &error.to_string(), &json!({}));
        }
    }

    /// Where scripts find their programs from now on. Only the first word on it counts.
    pub fn set_search_path(&self, path: OsString) {
        let _ = self.search_path.set(path);
    }

    pub(crate) fn search_path(&self) -> Option<&OsString> {
        self.search_path.get()
    }

    /// Ends every process of every call, and removes what was only there while the server ran.
    pub fn end(&self, grace: Duration) {
        self.runner.end_all(grace);
        self.state_dir.remove();
    }

    /// What is served now. Whoever holds it goes on with it, whatever is served next.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    pub(crate) fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
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
    pub(crate) fn capabilities(&self, _revision: Revision) -> String {
        let mut capabilities = json!({ "logging": {} });
        if !self.settings.minimal {
            capabilities["tools"] = json!({ "listChanged": true });
            capabilities["resources"] = json!({ "subscribe": true, "listChanged": true });
        }
        capabilities.to_string()
    }
}

/// Logs what is wrong with a project.
fn report(log: &Log, catalog: &Catalog) {
    for diagnostic in &catalog.diagnostics {
        log.event(LogLevel::Warning, "mcp.project", &diagnostic.to_string(), &json!({}));
    }
    if catalog.tools.len() > MANY {
        let details = json!({ "tools": catalog.tools.len() });
        log.event(
            LogLevel::Warning,
            "mcp.project",
            "so many tools are better registered in register.json",
            &details,
        );
    }
    let details = json!({ "project": catalog.paths.root, "tools": catalog.tools.len() });
    log.event(LogLevel::Debug, "mcp.project", "project read", &details);
}

/// How many tools are worth a warning.
const MANY: usize = 500;

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
