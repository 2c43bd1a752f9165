//! What all connections of a process share.

use crate::admission::Admission;
use crate::call::Pace;
use crate::guard::Guard;
use crate::listing::Snapshot;
use crate::log::Log;
use crate::parking::Parking;
use crate::payloads::Payloads;
use crate::resources::Resources;
use crate::roots::Roots;
use crate::settings::{CONNECTION_SETTING, Settings};
use crate::setup::Setup;
use crate::subscriptions::Subscriptions;
use crate::toolbox::Toolbox;
use arc_swap::ArcSwap;
use mcp_bash_budget::Budget;
use mcp_bash_project::roots;
use mcp_bash_project::{Catalog, Changes, Paths, Reading, RegistryError};
use mcp_bash_runner::{Runner, StateDir, Variables};
use mcp_bash_wire::{LogLevel, Revision};
use serde_json::json;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// A search path, and the variables that go with it.
type CommonEnvironment = (Option<OsString>, Variables);

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
    /// Where the answers to questions of the stateless era are waited for.
    parking: Parking,
    own_roots: Arc<Roots>,
    toolbox: OnceLock<Option<Toolbox>>,
    common_environment: Mutex<Option<CommonEnvironment>>,
    /// What is held in all.
    budget: Arc<Budget>,
}

impl Server {
    /// A server for `catalog`, which was read as `reading` says.
    pub fn new(setup: Setup, catalog: Catalog, reading: Reading, log: Log) -> Self {
        let Setup { settings, runtime, runner, state_dir, budget } = setup;
        let admission = Admission::new(
            runtime.clone(),
            settings.max_concurrent,
            settings.max_waiting,
            settings.max_waiting_bytes,
        );
        report(&log, &catalog);
        let own_roots = Arc::new(Roots::new(&own_roots(&settings, &catalog.paths, &log)));
        Self {
            guard: settings.remote_token.as_ref().map(Guard::new),
            payloads: record_payloads(&settings, &state_dir, &log),
            resources: Resources::new(&settings, &catalog.paths, Arc::clone(&state_dir)),
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
            parking: Parking::default(),
            own_roots,
            toolbox: OnceLock::new(),
            common_environment: Mutex::default(),
            budget,
        }
    }

    /// What scripts find beside their own project, laid out when the first one needs it.
    pub(crate) fn toolbox(&self) -> Option<&Toolbox> {
        let lay_out = || match Toolbox::lay_out(&self.state_dir) {
            Ok(toolbox) => Some(toolbox),
            Err(error) => {
                let details = json!({ "error": error.to_string() });
                self.log.event(LogLevel::Error, "mcp.tools", "scripts have no SDK", &details);
                None
            }
        };
        self.toolbox.get_or_init(lay_out).as_ref()
    }

    /// What scripts find in their environment, put together again only when their search path is another.
    pub(crate) fn common_environment(&self, put_together: impl FnOnce() -> Variables) -> Variables {
        let mut common = self.common_environment.lock().unwrap_or_else(PoisonError::into_inner);
        match &*common {
            Some((search_path, variables)) if search_path.as_ref() == self.search_path() => variables.clone(),
            _ => {
                let variables = put_together();
                *common = Some((self.search_path().cloned(), variables.clone()));
                variables
            }
        }
    }

    /// The folders that scripts may work in where their client names none.
    pub(crate) fn own_roots(&self) -> &Arc<Roots> {
        &self.own_roots
    }

    pub(crate) fn parking(&self) -> &Parking {
        &self.parking
    }

    /// A word that nobody can guess; none only while the system has no random numbers.
    pub(crate) fn unguessable_word(&self) -> Option<String> {
        self.state_dir.unguessable_word().ok()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A budget for one more client: what is held for it, as a part of what is held in all.
    pub fn client_budget(&self) -> Arc<Budget> {
        self.budget.part(self.settings.max_connection_bytes, CONNECTION_SETTING)
    }

    /// What is held in all.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Where the project is.
    pub fn paths(&self) -> Paths {
        self.snapshot().catalog.paths.clone()
    }

    /// Reads the project again, as far as it changed, and tells the clients of each kind that has. A project that cannot be
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
            (!catalog.tells_the_same_tools_as(&before.catalog), "tools"),
            (!catalog.tells_the_same_resources_as(&before.catalog), "resources"),
            (!catalog.tells_the_same_prompts_as(&before.catalog), "prompts"),
        ];
        let news = news.into_iter().filter_map(|(is_news, kind)| is_news.then_some(kind));
        let news: Vec<&str> = news.collect();
        if catalog.diagnostics != before.catalog.diagnostics {
            report(&self.log, &catalog);
        }
        self.snapshot.store(Arc::new(Snapshot::new(catalog)));
        if news.is_empty() {
            return;
        }
        let catalog = &self.snapshot().catalog;
        let details = json!({
            "tools": catalog.tools.len(),
            "resources": catalog.resources.len(),
            "prompts": catalog.prompts.len(),
        });
        self.store_registry();
        for kind in news {
            self.log.event(LogLevel::Info, "mcp.project", &format!("the {kind} have changed"), &details);
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

    pub(crate) fn runner(&self) -> &Arc<Runner> {
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
    pub(crate) fn capabilities(&self, revision: Revision) -> String {
        let mut capabilities = json!({ "logging": {} });
        if !self.settings.minimal {
            for kind in ["tools", "prompts"] {
                capabilities[kind] = json!({ "listChanged": true });
            }
            capabilities["resources"] = json!({ "subscribe": true, "listChanged": true });
            if revision.has_completions() {
                capabilities["completions"] = json!({});
            }
        }
        capabilities.to_string()
    }
}

/// The roots of the project. A setting that is wrong leaves none: it was written to keep scripts inside.
fn own_roots(settings: &Settings, paths: &Paths, log: &Log) -> Vec<roots::Root> {
    let mut diagnostics = Vec::new();
    let found = roots::of_project(paths, settings.roots.as_deref(), &mut diagnostics);
    for diagnostic in &diagnostics {
        log.event(LogLevel::Warning, "mcp.roots", &diagnostic.to_string(), &json!({}));
    }
    found.unwrap_or_else(|problem| {
        log.event(LogLevel::Error, "mcp.roots", &format!("MCPBASH_ROOTS {problem}"), &json!({}));
        Vec::new()
    })
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
    let details = json!({ "project": catalog.paths.root, "tools": catalog.tools.len(), "prompts": catalog.prompts.len() });
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
