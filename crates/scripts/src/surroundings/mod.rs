//! Surroundings of scripts: search path, SDK and jq, environment variables, `server.d/env.sh`.

pub(crate) mod cached_home;
pub(crate) mod called_by;
pub(crate) mod env_file;
pub(crate) mod environment;
pub(crate) mod known_variables;
pub(crate) mod login_shell;
pub(crate) mod program;
pub(crate) mod project_programs;
pub(crate) mod script_roots;
pub(crate) mod sdk;
pub(crate) mod sdk_files;
pub(crate) mod search_path;
pub(crate) mod secret_command;
pub(crate) mod secrets;
pub(crate) mod server_variables;
pub(crate) mod toolbox;
pub(crate) mod trace_variables;

use crate::running::error::NoEnvironment;
use crate::running::processes::Processes;
use env_file::EnvFile;
use environment::CommonEnvironment;
use mcp_bash_budget::Budget;
use mcp_bash_project::Paths;
use mcp_bash_runner::Runner;
use mcp_bash_settings::Settings;
use parking_lot::Mutex;
use sdk::Sdk;
use search_path::SearchPath;
use secrets::Secrets;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use toolbox::Toolbox;

/// What every script of a project can use.
pub(crate) struct Surroundings {
    pub(crate) processes: Processes,
    pub(crate) search_path: SearchPath,
    pub(crate) sdk: Sdk,
    env_file: EnvFile,
    secrets: Secrets,
    common_environment: Mutex<Option<CommonEnvironment>>,
    /// The interpreters for which this process has tried to compile the SDK. Locked during a compilation.
    pub(crate) tried_interpreters: tokio::sync::Mutex<HashSet<PathBuf>>,
}

impl Surroundings {
    pub(crate) fn new(processes: Processes) -> Self {
        Self {
            processes,
            search_path: SearchPath::default(),
            sdk: Sdk::default(),
            env_file: EnvFile::default(),
            secrets: Secrets::default(),
            common_environment: Mutex::default(),
            tried_interpreters: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.processes.settings
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.processes.budget
    }

    pub(crate) fn runner(&self) -> &Arc<Runner> {
        &self.processes.runner
    }

    pub(crate) fn toolbox(&self) -> Result<Arc<Toolbox>, NoEnvironment> {
        self.sdk.toolbox(&self.processes)
    }

    /// A file of the SDK for a language, which exists from now on.
    pub(crate) fn file_for_language(&self, name: &str) -> Result<PathBuf, NoEnvironment> {
        Ok(self.toolbox()?.of_language(name))
    }

    /// Touches the private folder and the SDK, so that no cleaner removes them for their age.
    pub(crate) fn refresh(&self) {
        // Missing files are written again when they are needed.
        let _ = self.processes.state_dir.refresh();
        self.processes.runner.discard_spare_folders();
        self.sdk.refresh();
    }

    /// Why no script could run now, if that is so: the project, the private folder or the SDK is missing. Creates again what it
    /// can.
    pub(crate) fn unready(&self, paths: &Paths) -> Option<String> {
        if !paths.root.is_dir() {
            return Some(format!("the project folder {} is not there", paths.root.display()));
        }
        if let Err(error) = self.toolbox() {
            return Some(error.to_string());
        }
        let folder = self.runner().folder().err()?;
        Some(format!("No script is run: a call has no private folder: {folder}"))
    }
}
