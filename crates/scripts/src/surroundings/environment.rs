//! Environment of a script: the variables that it receives.

use crate::running::error::{NoEnvironment, ScriptError};
use crate::running::process::Limits;
use crate::running::processes::Processes;
use crate::surroundings::Surroundings;
use crate::surroundings::env_file::Changes;
use crate::surroundings::project_programs::{ProgramEnvironment, ProjectPrograms};
use crate::surroundings::secrets::HiddenVariables;
use crate::surroundings::server_variables::{self, Described};
use crate::surroundings::toolbox::Toolbox;
use mcp_bash_project::{Paths, environment_without_secret, languages, variable_without_secret};
use mcp_bash_runner::Variables;
use mcp_bash_settings::EnvironmentMode;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use tokio::time::timeout;

/// Variables of our own environment that every script receives.
const INHERITED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ"];

/// Variables that every script receives, even if our own environment lacks them.
const DEFAULTS: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TMPDIR", "/tmp"), ("LANG", "C")];

/// The variables that all scripts have in common, and the inputs they were built from.
pub(crate) struct CommonEnvironment {
    search_path: Option<OsString>,
    paths: Paths,
    changes: Arc<Changes>,
    toolbox: Arc<Toolbox>,
    described: Described,
    /// The variables that hold secrets.
    hidden: Arc<HiddenVariables>,
    variables: Variables,
}

impl Surroundings {
    /// The environment of every script that serves a caller, and of an executable that lists its tools, including the toolbox.
    /// It is rebuilt only when one of its inputs has changed.
    pub(crate) async fn common_environment(&self, paths: &Paths) -> Result<Variables, NoEnvironment> {
        let mode = &self.settings().environment_mode;
        let changes = self.changes(mode, paths).await?;
        let toolbox = self.toolbox()?;
        let (described, hidden) = (Described::of(paths), self.secrets.hidden());
        let mut common = self.common_environment.lock();
        match &*common {
            Some(known)
                if known.search_path.as_ref() == self.search_path.get()
                    && Arc::ptr_eq(&known.changes, &changes)
                    && Arc::ptr_eq(&known.toolbox, &toolbox)
                    && Arc::ptr_eq(&known.hidden, &hidden)
                    && known.paths == *paths
                    && known.described == described =>
            {
                Ok(known.variables.clone())
            }
            _ => {
                let variables = self.with_toolbox(&toolbox, compose(self, mode, paths, &changes));
                let (search_path, paths) = (self.search_path.get().cloned(), paths.clone());
                *common = Some(CommonEnvironment {
                    search_path,
                    paths,
                    changes,
                    toolbox,
                    described,
                    hidden,
                    variables: variables.clone(),
                });
                Ok(variables)
            }
        }
    }

    /// The same for a call, which waits no longer than its timeout.
    pub(crate) async fn environment_in_time(
        &self,
        what: impl FnOnce() -> String,
        limits: &Limits<'_>,
        paths: &Paths,
    ) -> Result<Variables, ScriptError> {
        let limit = limits.patience.limit;
        let known = timeout(limit, self.common_environment(paths)).await;
        Ok(known.map_err(|_| ScriptError::NotStarted { what: what(), limit })??)
    }

    /// The environment of an executable that reads resources.
    pub(crate) async fn provider_environment(&self, paths: &Paths) -> Result<Variables, NoEnvironment> {
        let mode = &self.settings().resources.environment_mode;
        let changes = self.changes(mode, paths).await?;
        Ok(self.with_toolbox(&*self.toolbox()?, compose(self, mode, paths, &changes)))
    }

    /// The environment of a script of `server.d`. Operators write those, so they receive all of our environment except the
    /// secrets of the server, with the changes of `env.sh`, and the toolbox.
    pub(crate) async fn server_environment(&self, paths: &Paths) -> Result<Variables, NoEnvironment> {
        Ok(self.with_toolbox(&*self.toolbox()?, self.exported(paths).await?))
    }

    /// The same without the toolbox, for a caller that only inspects it, so that no file is written.
    pub(crate) async fn exported(&self, paths: &Paths) -> Result<Variables, NoEnvironment> {
        let changes = self.env_file_changes(paths).await?;
        Ok(changed(self, own_map(self, paths), &changes).into_iter().collect())
    }

    /// The changes of `server.d/env.sh` to the environment, unless the mode is refused.
    async fn changes(&self, mode: &EnvironmentMode, paths: &Paths) -> Result<Arc<Changes>, NoEnvironment> {
        if let EnvironmentMode::Refused(why) = mode {
            return Err(NoEnvironment::Mode(why.clone()));
        }
        self.env_file_changes(paths).await
    }

    async fn env_file_changes(&self, paths: &Paths) -> Result<Arc<Changes>, NoEnvironment> {
        let given = || Ok(self.with_toolbox(&*self.toolbox()?, own_map(self, paths).into_iter().collect()));
        self.env_file.changes(&self.processes, self.effective_search_path(), paths, given).await
    }

    /// The search path of scripts, without the programs of their project.
    pub(crate) fn effective_search_path(&self) -> OsString {
        let own = || std::env::var_os("PATH").filter(|path| !path.is_empty());
        self.search_path.get().cloned().or_else(own).unwrap_or_else(|| DEFAULTS[0].1.into())
    }

    /// The programs that the project contains, unless a setting disables them.
    pub(crate) fn project_programs(&self, paths: &Paths) -> ProjectPrograms {
        if self.settings().project_programs {
            ProjectPrograms::find(paths)
        } else {
            ProjectPrograms::default()
        }
    }

    /// Adds the variables of our own environment that one script declares, except those that hold secrets.
    pub(crate) fn add_needed(&self, variables: &mut Variables, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let hidden = self.secrets.hidden();
        for (name, value) in self.needed(names).filter(|(name, _)| !hidden.contains(OsStr::new(name))) {
            // The changes of `env.sh` take precedence.
            if variables.get(name).is_none() {
                variables.set(name, value);
            }
        }
    }

    /// Adds the toolbox to the environment.
    fn with_toolbox(&self, toolbox: &Toolbox, mut variables: Variables) -> Variables {
        variables.extend(toolbox.variables());
        for language in languages() {
            let (name, value) = toolbox.sdk_variable(language, &variables);
            variables.set(name, value);
        }
        if let Some(path) = variables.get("PATH") {
            let completed = toolbox.completed(path);
            variables.set("PATH", completed);
        }
        // The server of a test run inherits the variable from the run.
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if self.settings().leaves_no_trace || is_set(NO_COMPILED_FILES) {
            variables.set(NO_COMPILED_FILES, "1");
        }
        variables
    }
}

/// Makes Python write no bytecode beside its sources.
const NO_COMPILED_FILES: &str = "PYTHONDONTWRITEBYTECODE";

type Map = BTreeMap<OsString, OsString>;

/// The environment of every script of a project.
fn compose(
    surroundings: &Surroundings,
    mode: &EnvironmentMode,
    paths: &Paths,
    changes: &Changes,
) -> Variables {
    let settings = surroundings.settings();
    let needed = [settings.project_variables.as_slice(), &settings.chosen_variables].concat();
    let hidden = surroundings.secrets.hidden();
    let mut variables = surroundings.inherited(mode, &needed);
    variables.retain(|name, _| !hidden.contains(name));
    set_search_path(surroundings, paths, &mut variables);
    for (name, value) in DEFAULTS {
        variables.entry(name.into()).or_insert_with(|| value.into());
    }
    variables.extend(server_variables::read(paths).map(|(name, value)| (name.into(), value)));
    let temporary = surroundings.settings().logs.temporary.clone().unwrap_or_else(std::env::temp_dir);
    variables.insert("MCPBASH_TMP_ROOT".into(), temporary.into());
    let mut variables = changed(surroundings, variables, changes);
    variables.retain(|name, _| !hidden.contains(name));
    // `env.sh` must not change these paths.
    set_places(paths, &mut variables);
    variables.into_iter().collect()
}

fn set_search_path(surroundings: &Surroundings, paths: &Paths, variables: &mut Map) {
    let programs = surroundings.project_programs(paths);
    variables.insert("PATH".into(), programs.before(&surroundings.effective_search_path()));
    for ProgramEnvironment { place, variable, leads_out } in programs.environments {
        variables.insert(variable.into(), place.into());
        variables.remove(OsStr::new(leads_out));
    }
}

fn set_places(paths: &Paths, variables: &mut Map) {
    variables.insert("MCPBASH_PROJECT_ROOT".into(), paths.root.clone().into());
    variables.insert("MCPBASH_TOOLS_DIR".into(), paths.tools.clone().into());
    variables.insert("MCPBASH_SERVER_DIR".into(), paths.server.clone().into());
    variables.insert("MCPBASH_MODE".into(), "full".into());
}

/// The environment of the scripts of operators.
fn own_map(surroundings: &Surroundings, paths: &Paths) -> Map {
    let mut variables: Map = surroundings.processes.own_environment().collect();
    set_search_path(surroundings, paths, &mut variables);
    set_places(paths, &mut variables);
    variables
}

/// The environment with the changes of `env.sh`.
fn changed(surroundings: &Surroundings, mut variables: Map, changes: &Changes) -> Map {
    let is_chosen =
        |name: &OsStr| surroundings.settings().chosen_variables.iter().any(|chosen| name == chosen.as_str());
    variables.retain(|name, _| is_chosen(name) || !changes.unset.contains(name));
    let may_be_set = |name: &OsStr| {
        if is_chosen(name) {
            return false;
        }
        let name = name.to_string_lossy();
        !OF_ONE_CALL.contains(&&*name) && !surroundings.is_of_server(&name)
    };
    let set = changes.set.iter().filter(|(name, _)| may_be_set(name));
    variables.extend(set.map(|(name, value)| (name.clone(), value.clone())));
    variables
}

/// Variables that belong to one call or one question. If a script of another server runs this one, the variables of that
/// script's call are not passed on.
pub(crate) const OF_ONE_CALL: [&str; 52] = [
    "BAGGAGE",
    "MCPBASH_TIMEOUT_HINT",
    "MCP_ASK_KEY",
    "MCP_ASK_NAME",
    "MCP_ASK_SOCKET",
    "MCP_CALLER",
    "MCP_CALLER_CLAIMS",
    "MCP_CALLER_GROUPS",
    "MCP_CANCEL_FILE",
    "MCP_COMPLETION_ARGS_FILE",
    "MCP_COMPLETION_ARGS_HASH",
    "MCP_COMPLETION_ARGS_JSON",
    "MCP_COMPLETION_CURSOR",
    "MCP_COMPLETION_LIMIT",
    "MCP_COMPLETION_NAME",
    "MCP_COMPLETION_OFFSET",
    "MCP_ELICIT_REQUEST_FILE",
    "MCP_ELICIT_RESPONSE_FILE",
    "MCP_ELICIT_SUPPORTED",
    "MCP_LOG_STREAM",
    "MCP_PROGRESS_STREAM",
    "MCP_PROGRESS_TOKEN",
    "MCP_PROMPT_ARGS_FILE",
    "MCP_PROMPT_ARGS_JSON",
    "MCP_PROMPT_METADATA",
    "MCP_PROMPT_METADATA_FILE",
    "MCP_PROMPT_METADATA_JSON",
    "MCP_PROMPT_NAME",
    "MCP_PROMPT_PATH",
    "MCP_PROMPT_REL_PATH",
    "MCP_RESOURCE_URI",
    "MCP_RESOURCE_VARS_JSON",
    "MCP_ROOTS_COUNT",
    "MCP_ROOTS_FILE",
    "MCP_ROOTS_JSON",
    "MCP_ROOTS_PATHS",
    "MCP_ROOTS_PATHS_FILE",
    "MCP_ROOTS_REFUSED",
    "MCP_TOOL_ARGS_FILE",
    "MCP_TOOL_ARGS_JSON",
    "MCP_TOOL_ERROR_FILE",
    "MCP_TOOL_METADATA_FILE",
    "MCP_TOOL_METADATA_JSON",
    "MCP_TOOL_META_FILE",
    "MCP_TOOL_META_JSON",
    "MCP_TOOL_NAME",
    "MCP_TOOL_PATH",
    "MCP_TOOL_RESOURCES_FILE",
    "MCP_WORKER",
    "MCP_WORKER_OUTPUT",
    "TRACEPARENT",
    "TRACESTATE",
];

impl Processes {
    /// Our own environment without the remote token and without what opens the database of the server.
    pub(super) fn own_environment(&self) -> impl Iterator<Item = (OsString, OsString)> + use<> {
        let is_in_database = self.settings.tasks.is_in_database();
        environment_without_secret()
            .filter(move |(name, _)| !(is_in_database && OF_DATABASE.iter().any(|known| name == known)))
    }
}

impl Surroundings {
    /// Whether a variable may hold a secret of the server: the token that authenticates requests, or what opens its database.
    fn is_of_server(&self, name: &str) -> bool {
        name.contains("MCPBASH_REMOTE_TOKEN")
            || name == STORE
            || self.settings().tasks.is_in_database() && OF_DATABASE.contains(&name)
    }

    /// The variables of our own environment that the mode allows, and those that the project declares. Secrets of the server
    /// are never among them.
    fn inherited(&self, mode: &EnvironmentMode, needed: &[String]) -> Map {
        let allowed = |name: &OsStr| {
            let name = name.to_string_lossy();
            if OF_ONE_CALL.contains(&&*name) || self.is_of_server(&name) {
                return false;
            }
            let ours =
                (name.starts_with("MCP_") || name.starts_with("MCPBASH_")) && !name.contains("REMOTE_TOKEN");
            ours || needed.iter().any(|known| *known == name)
                || match mode {
                    EnvironmentMode::Inherit => true,
                    EnvironmentMode::Allowlist(names) => {
                        INHERITED.contains(&&*name) || names.iter().any(|known| *known == name)
                    }
                    EnvironmentMode::Minimal | EnvironmentMode::Refused(_) => INHERITED.contains(&&*name),
                }
        };
        self.processes.own_environment().filter(|(name, _)| allowed(name)).collect()
    }

    /// The variables of our own environment that one script declares.
    fn needed<'a>(&self, names: &'a [String]) -> impl Iterator<Item = (&'a String, OsString)> {
        let names =
            names.iter().filter(|name| !OF_ONE_CALL.contains(&name.as_str()) && !self.is_of_server(name));
        names.filter_map(|name| Some((name, variable_without_secret(name)?)))
    }
}

const STORE: &str = "MCPBASH_STORE";

/// The address of the database, which may contain a password, and the password that every program of PostgreSQL takes.
const OF_DATABASE: [&str; 2] = [STORE, "PGPASSWORD"];
