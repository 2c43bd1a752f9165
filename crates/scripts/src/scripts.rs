//! What all scripts of a process share.

use crate::env_file::{Changes, EnvFile};
use crate::error::NoEnvironment;
use crate::failed_loads::FailedLoads;
use crate::outcome::Outcome;
use crate::process::Process;
use crate::readings::Readings;
use crate::toolbox::Toolbox;
use crate::workers::Workers;
use mcp_bash_budget::Budget;
use mcp_bash_project::Paths;
use mcp_bash_runner::{Question, Runner, StartError, StateDir, Variables};
use mcp_bash_settings::{PROCESS_SETTING, Settings};
use parking_lot::Mutex;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Notify, watch};

/// How long a call waits for the search path. A login shell that is asked for it may take as long.
const LONGEST_SEARCH: Duration = Duration::from_secs(5);

/// Runs the scripts of a project, and has what they need.
pub struct Scripts {
    settings: Arc<Settings>,
    runner: Arc<Runner>,
    state_dir: Arc<StateDir>,
    /// What is held in all.
    budget: Arc<Budget>,
    search_path: OnceLock<OsString>,
    search_path_is_known: Notify,
    /// Whether somebody is finding it out.
    search_path_is_awaited: AtomicBool,
    toolbox: Mutex<Option<Arc<Toolbox>>>,
    /// Whether the SDK is the one in the cache of the user.
    shares_sdk: AtomicBool,
    on_missing_sdk: OnceLock<TellOfError>,
    /// Whether it is known that scripts find no SDK.
    is_sdk_missing: AtomicBool,
    pub(crate) failed_loads: FailedLoads,
    pub(crate) readings: Readings,
    pub(crate) env_file: EnvFile,
    pub(crate) common_environment: Mutex<Option<CommonEnvironment>>,
    pub(crate) workers: Workers,
    /// Whether every process is to end.
    has_ended: watch::Sender<bool>,
}

type TellOfError = Box<dyn Fn(&io::Error) + Send + Sync>;

/// The variables that all scripts have in common, and what they were made of.
pub(crate) struct CommonEnvironment {
    pub(crate) search_path: Option<OsString>,
    pub(crate) paths: Paths,
    pub(crate) changes: Arc<Changes>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) variables: Variables,
}

impl Scripts {
    pub fn new(settings: Settings, state_dir: Arc<StateDir>) -> Self {
        let runner = Runner::new(Arc::clone(&state_dir));
        Self::with_runner(runner, settings, state_dir)
    }

    /// The same with a runner that is there already.
    pub fn with_runner(runner: Runner, settings: Settings, state_dir: Arc<StateDir>) -> Self {
        Self {
            runner: Arc::new(runner),
            budget: Budget::new(settings.max_process_bytes, PROCESS_SETTING),
            settings: Arc::new(settings),
            state_dir,
            search_path: OnceLock::new(),
            search_path_is_known: Notify::new(),
            search_path_is_awaited: AtomicBool::new(false),
            toolbox: Mutex::default(),
            shares_sdk: AtomicBool::new(false),
            on_missing_sdk: OnceLock::new(),
            is_sdk_missing: AtomicBool::new(false),
            failed_loads: FailedLoads::default(),
            readings: Readings::default(),
            env_file: EnvFile::default(),
            common_environment: Mutex::default(),
            workers: Workers::default(),
            has_ended: watch::Sender::new(false),
        }
    }

    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub fn state_dir(&self) -> &Arc<StateDir> {
        &self.state_dir
    }

    /// What is held in all.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Runs the processes of everything that is part of a project.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Where scripts find their programs from now on. Only the first word on it counts.
    pub fn set_search_path(&self, path: OsString) {
        let _ = self.search_path.set(path);
        self.search_path_is_known.notify_waiters();
    }

    /// Lets those wait who do not find a program: where programs are found will be known soon.
    pub fn await_search_path(&self) {
        self.search_path_is_awaited.store(true, Ordering::Release);
    }

    /// Waits until it is known where scripts find their programs; not for long, since it need not ever be.
    pub(crate) async fn search_path_is_known(&self) {
        let known = self.search_path_is_known.notified();
        if self.search_path().is_none() && self.search_path_is_awaited.load(Ordering::Acquire) {
            let _ = tokio::time::timeout(LONGEST_SEARCH, known).await;
        }
    }

    /// Whether scripts find other programs than those on our own path.
    pub fn finds_more_programs(&self) -> bool {
        self.search_path().is_some_and(|path| std::env::var_os("PATH").as_ref() != Some(path))
    }

    pub(crate) fn search_path(&self) -> Option<&OsString> {
        self.search_path.get()
    }

    /// Lets `tell` know why scripts find no SDK, should it be impossible to lay it out: once, until it succeeds.
    pub fn on_missing_sdk(&self, tell: impl Fn(&io::Error) + Send + Sync + 'static) {
        let _ = self.on_missing_sdk.set(Box::new(tell));
    }

    /// Lets scripts find the SDK in the cache of the user, where it can be: for a command that ends after one call.
    pub fn share_sdk(&self) {
        self.shares_sdk.store(true, Ordering::Relaxed);
    }

    /// What scripts find beside their own project. It is laid out when the first one needs it, and again when it is gone.
    pub(crate) fn toolbox(&self) -> Result<Arc<Toolbox>, NoEnvironment> {
        let mut toolbox = self.toolbox.lock();
        if let Some(laid_out) = toolbox.as_ref().filter(|toolbox| toolbox.is_laid_out()) {
            return Ok(Arc::clone(laid_out));
        }
        // What was removed with it was not seen to go.
        self.runner.discard_spare_folders();
        let shared = self.shares_sdk.load(Ordering::Relaxed);
        let laid_out = Toolbox::lay_out(&self.state_dir, shared).map(Arc::new);
        *toolbox = laid_out.as_ref().ok().cloned();
        drop(toolbox);
        let was_missing = self.is_sdk_missing.swap(laid_out.is_err(), Ordering::Relaxed);
        laid_out.map_err(|error| {
            if !was_missing && let Some(tell) = self.on_missing_sdk.get() {
                tell(&error);
            }
            NoEnvironment::Sdk(error.to_string())
        })
    }

    /// A file of the SDK of Python or of Node.js, which is there from now on.
    pub(crate) fn file_for_language(&self, name: &str) -> Result<PathBuf, NoEnvironment> {
        Ok(self.toolbox()?.of_language(name))
    }

    /// Makes the private folder and the SDK look used, so that nobody removes them for their age. To be called now and then.
    pub fn refresh_private_folder(&self) {
        // Whatever is gone is made when it is needed.
        let _ = self.state_dir.refresh();
        self.runner.discard_spare_folders();
        let mut toolbox = self.toolbox.lock();
        toolbox.take_if(|toolbox| toolbox.refresh().is_err());
    }

    /// Why no script could be run now, if none could: its project, the private folder or the SDK is not there. What can be made
    /// again is made.
    pub fn unready(&self, paths: &Paths) -> Option<String> {
        if !paths.root.is_dir() {
            return Some(format!("the project folder {} is not there", paths.root.display()));
        }
        if let Err(error) = self.toolbox() {
            return Some(error.to_string());
        }
        let folder = self.runner.folder().err()?;
        Some(format!("No script is run: a call has no private folder: {folder}"))
    }

    /// Runs a process to its end. It ends when `cancelled` completes, or when this is dropped.
    pub(crate) async fn run(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
        on_line: impl FnMut(&[u8]),
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        self.runner.run(process.into(), cancelled, on_line, on_question).await.map(Outcome::from)
    }

    /// Runs a process that has no way to talk to us while it runs.
    pub(crate) async fn run_without_talk(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, StartError> {
        self.run(process, cancelled, |_| {}, drop).await
    }

    /// The same for a thread that may block, and drives no runtime itself: one of our own does, since that of a server need
    /// not be under way yet.
    pub(crate) fn run_blocking(&self, process: Process<'_>) -> Result<Outcome, StartError> {
        let program = process.start.program.clone();
        match block_on(self.run_without_talk(process, std::future::pending())) {
            Ok(outcome) => outcome,
            Err(source) => Err(StartError::Spawn { program, source }),
        }
    }

    /// Completes when every process is to end: what only begins then is dropped, and not told to end first.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut has_ended = self.has_ended.subscribe();
        async move {
            // Without the sender there is nobody to wait for either.
            let _ = has_ended.wait_for(|has_ended| *has_ended).await;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.has_ended.borrow()
    }

    /// Ends every process, and removes what was only there while they ran.
    pub fn end(&self, grace: Duration) {
        self.has_ended.send_replace(true);
        self.runner.end_all(grace);
        self.state_dir.remove();
    }
}

/// Waits for what runs a process, on a thread that may block.
pub(crate) fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    Ok(Builder::new_current_thread().enable_all().build()?.block_on(future))
}
