//! Test project in a temporary folder, and what runs its scripts.

use mcp_bash_budget::Budget;
use mcp_bash_project::{Catalog, Changes, Paths, Tool};
use mcp_bash_scripts::{CalledBy, Outcome, ScriptError, ScriptRoots, Scripts, ToolCall, TraceVariables};
use mcp_bash_settings::Settings;
use parking_lot::{Mutex, MutexGuard};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

pub(crate) struct Project {
    _folder: TempDir,
    _turn: Turn,
    pub(crate) paths: Paths,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) catalog: Catalog,
    pub(crate) roots: ScriptRoots,
    pub(crate) trace: TraceVariables,
}

impl Project {
    /// A project of these files. Those that start with `#!` are executable.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with_settings(files, &[])
    }

    pub(crate) fn with_settings(files: &[(&str, &str)], set: &[(&str, &str)]) -> Self {
        let (turn, folder) = (turn(), tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap().join("project");
        for (path, text) in files {
            let file = root.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        }
        let setting = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).into());
        let (settings, problems) = Settings::read(setting);
        assert!(problems.is_empty(), "{problems:?}");
        let state_dir = mcp_bash_scripts::StateDir::new(folder.path().to_owned(), false);
        let scripts = Arc::new(Scripts::new(settings, Arc::new(state_dir), HOME.handle().clone()));
        let paths = Paths::of(&root);
        // Reading a project blocks, which a thread of a runtime may not.
        let read = || {
            let reading = scripts.reading(&paths);
            let (catalog, mut in_progress) = (Catalog::read(&paths, &reading), scripts.files_in_progress());
            HOME.block_on(in_progress.wait_for(Vec::is_empty)).unwrap();
            catalog.read_again(&reading, &Changes::anywhere())
        };
        let catalog = std::thread::scope(|scope| scope.spawn(read).join().unwrap());
        Self {
            _folder: folder,
            _turn: turn,
            paths,
            scripts,
            catalog,
            roots: ScriptRoots::new(&[]),
            trace: TraceVariables::default(),
        }
    }

    /// A project of one tool called `t`, which is this script for `sh`.
    pub(crate) fn with_tool(script: &str) -> Self {
        Self::new(&[("tools/t/tool.sh", &format!("#!/bin/sh\n{script}\n"))])
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.paths.root.join(name)
    }

    pub(crate) fn tool(&self, name: &str) -> &Tool {
        self.catalog.tools.get(name).unwrap_or_else(|| panic!("{:?}", self.catalog.diagnostics))
    }

    /// A call of a tool that has no listener and can ask no questions.
    pub(crate) async fn prepare<'a>(&'a self, name: &str, arguments: &'a str) -> ToolCall<'a> {
        self.prepare_tool(self.tool(name), arguments).await
    }

    /// The same for a tool that need not be in the catalog.
    pub(crate) async fn prepare_tool<'a>(&'a self, tool: &'a Tool, arguments: &'a str) -> ToolCall<'a> {
        let budget = self.scripts.budget();
        let allowed = self
            .scripts
            .allow(tool, &self.paths, CalledBy::named("alice"), budget, std::future::pending())
            .await;
        ToolCall {
            opened_roots: &[],
            tool: allowed.unwrap_or_else(|error| panic!("{error}")),
            arguments,
            caller: CalledBy::named("test"),
            meta: "{}",
            session_state: None,
            trace: &self.trace,
            progress_token: "",
            roots: &self.roots,
            has_unasked_roots: false,
            may_ask: false,
            may_elicit: false,
            is_heard: false,
            limits: self.scripts.limits_of(tool, None, budget),
        }
    }

    pub(crate) async fn run(&self, call: ToolCall<'_>) -> Result<Outcome, ScriptError> {
        self.scripts.call(call, std::future::pending(), |_| {}, drop).await
    }

    /// How a call of the tool `t` without arguments ended.
    pub(crate) async fn call(&self) -> Outcome {
        self.run(self.prepare("t", "{}").await).await.unwrap()
    }

    /// A budget of this size.
    pub(crate) fn budget(&self, bytes: usize) -> Arc<Budget> {
        self.scripts.budget().part(bytes, "SMALL_SETTING")
    }
}

/// The runtime in which files are asked for their definitions, and workers are attended to.
static HOME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// Tests take turns: a process that one of them starts inherits, until it executes its program, every file that another one
/// is writing, and a script that is open for writing cannot be executed (`ETXTBSY`).
type Turn = Rc<MutexGuard<'static, ()>>;

/// The turn of the test on this thread, which may have several projects.
fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    thread_local!(static OURS: RefCell<Weak<MutexGuard<'static, ()>>> = RefCell::default());
    OURS.with_borrow_mut(|ours| {
        ours.upgrade().unwrap_or_else(|| {
            let turn = Rc::new(TURN.lock());
            *ours = Rc::downgrade(&turn);
            turn
        })
    })
}

/// The message of an error.
pub(crate) fn said<T>(result: Result<T, ScriptError>) -> String {
    match result {
        Ok(_) => panic!("it should have failed"),
        Err(error) => error.to_string(),
    }
}

/// The value of a variable in the output of `env`.
pub(crate) fn variable<'a>(printed: &'a str, name: &str) -> Option<&'a str> {
    printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}
