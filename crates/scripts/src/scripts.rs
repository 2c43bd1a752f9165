//! Scripts of a project: the single entry point for everything that is run.

use crate::confining::tracing::AccessTrace;
use crate::definitions::readings::{FileInProgress, Readings};
use crate::running::processes::Processes;
use crate::surroundings::Surroundings;
use crate::workers::{WorkerNews, Workers};
use mcp_bash_budget::Budget;
use mcp_bash_project::{Catalog, Paths, Reading, Tool};
use mcp_bash_runner::{Runner, StateDir};
use mcp_bash_sandbox::InForce;
use mcp_bash_secrets::{KnownSecrets, Need, SecretError};
use mcp_bash_settings::Settings;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Runs the scripts of a project, and holds what they share.
pub struct Scripts {
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) workers: Arc<Workers>,
    readings: Arc<Readings>,
}

impl Scripts {
    /// The tasks of workers run in `runtime`: the one that most calls run on, so that they wake no other thread.
    pub fn new(settings: Settings, state_dir: Arc<StateDir>, runtime: Handle) -> Self {
        let runner = Runner::new(Arc::clone(&state_dir));
        Self::with_runner(runner, settings, state_dir, runtime)
    }

    /// The same with an existing runner.
    pub fn with_runner(
        runner: Runner,
        settings: Settings,
        state_dir: Arc<StateDir>,
        runtime: Handle,
    ) -> Self {
        let surroundings = Arc::new(Surroundings::new(Processes::new(runner, settings, state_dir)));
        let workers = Arc::new(Workers::new(Arc::clone(&surroundings), runtime));
        let readings = Arc::new(Readings::new(Arc::clone(&surroundings), Arc::clone(&workers)));
        Self { surroundings, workers, readings }
    }

    pub fn settings(&self) -> &Arc<Settings> {
        self.surroundings.settings()
    }

    pub fn state_dir(&self) -> &Arc<StateDir> {
        &self.surroundings.processes.state_dir
    }

    /// The budget of the whole server.
    pub fn budget(&self) -> &Arc<Budget> {
        self.surroundings.budget()
    }

    /// Runs the processes of everything that is part of a project.
    pub fn runner(&self) -> &Arc<Runner> {
        self.surroundings.runner()
    }

    /// The secrets that are known so far. Nothing may show them.
    pub fn known_secrets(&self) -> &Arc<KnownSecrets> {
        &self.surroundings.processes.known_secrets
    }

    /// The source of a secret, in words, if it is available. Its value is read, but not returned.
    pub async fn find_secret(&self, need: &Need, paths: &Paths) -> Result<String, SecretError> {
        self.surroundings.secret(need, paths).await.map(|found| found.place)
    }

    /// The same, but a command counts as available and is not run: it may ask the user for a passphrase.
    pub fn look_for_secret(&self, need: &Need) -> Result<String, SecretError> {
        self.surroundings.look_for_secret(need)
    }

    /// Sets the search path of scripts. Only the first call counts.
    pub fn set_search_path(&self, path: OsString) {
        self.surroundings.search_path.set(path);
    }

    /// Makes calls that do not find a program wait for the search path, which will be known soon.
    pub fn await_search_path(&self) {
        self.surroundings.search_path.expect();
    }

    /// Whether the search path is known.
    pub fn has_search_path(&self) -> bool {
        self.surroundings.search_path.get().is_some()
    }

    /// Whether scripts find programs outside our own search path.
    pub fn finds_more_programs(&self) -> bool {
        let path = self.surroundings.search_path.get();
        path.is_some_and(|path| std::env::var_os("PATH").as_ref() != Some(path))
    }

    /// Runs the user's login shell for its `PATH`, and blocks until it has answered. A shell that hangs is killed, with
    /// everything that it started.
    pub fn ask_login_shell(&self) -> Option<OsString> {
        self.surroundings.processes.ask_login_shell()
    }

    /// The version of the bash that scripts find. Blocks until bash has answered.
    pub fn bash_version(&self) -> Option<String> {
        self.surroundings.processes.bash_version()
    }

    /// Tools whose programs or launchers do not exist, as messages for the operator.
    pub fn missing_programs(&self, catalog: &Catalog) -> Vec<String> {
        let is_elsewhere = |tool: &Tool, program: &str| self.is_found_elsewhere(tool, program);
        let mut missing = self.surroundings.missing_programs(catalog, is_elsewhere);
        missing.extend(self.launcher_problems(catalog));
        missing
    }

    /// Sets a callback for the error by which scripts have no SDK. It is called once per series of failures.
    pub fn on_missing_sdk(&self, report: impl Fn(&io::Error) + Send + Sync + 'static) {
        self.surroundings.sdk.on_missing(report);
    }

    /// Lets scripts use the SDK in the user's cache, if possible. For a command that exits after one call.
    pub fn share_sdk(&self) {
        self.surroundings.sdk.share();
    }

    /// Touches the private folder and the SDK, so that no cleaner removes them for their age. To be called periodically.
    pub fn refresh_private_folder(&self) {
        self.surroundings.refresh();
    }

    /// Why no script could run now, if that is so: the project, the private folder or the SDK is missing. Creates again what it
    /// can.
    pub fn unready(&self, paths: &Paths) -> Option<String> {
        self.surroundings.unready(paths)
    }

    /// Sets a callback for messages to the operator about workers.
    pub fn on_worker_news(&self, report: impl Fn(&WorkerNews<'_>) + Send + Sync + 'static) {
        self.workers.on_news(report);
    }

    /// Sets a callback for sandboxes that this machine does not fully enforce. It is called when such a sandbox is first used.
    pub fn on_sandbox_shortfall(&self, report: impl Fn(&InForce) + Send + Sync + 'static) {
        self.surroundings.processes.sandboxes.on_shortfall(report);
    }

    /// Starts a worker in advance for each script whose author wants that, and retires the workers that nothing in the catalog
    /// uses any more.
    pub async fn start_workers_ahead(&self, catalog: &Catalog) {
        self.workers.start_ahead(catalog).await;
    }

    /// The options for reading the project in `paths`.
    pub fn reading(&self, paths: &Paths) -> Reading {
        self.readings.reading(paths)
    }

    /// Sets a callback for files whose definitions are now known. It is called where it may block, and reads the file again.
    pub fn on_definitions(&self, report: impl Fn(&Path) + Send + Sync + 'static) {
        self.readings.on_definitions(report);
    }

    /// The files whose definitions are not served yet.
    pub fn files_in_progress(&self) -> watch::Receiver<Vec<FileInProgress>> {
        self.readings.files_in_progress()
    }

    /// Traces the accesses of this tool from now on. Its sandbox is on, even if it declares none.
    pub fn trace_access(&self, tool: &Tool) -> io::Result<Arc<AccessTrace>> {
        let trace = Arc::new(AccessTrace::new(tool.script.clone())?);
        self.surroundings.processes.sandboxes.trace(Arc::clone(&trace));
        Ok(trace)
    }

    /// Terminates every process, and removes the private folder.
    pub fn end(&self, grace: Duration) {
        self.surroundings.processes.end(grace);
    }
}
