//! What a script finds in its environment.

use crate::server::Server;
use crate::settings::EnvironmentMode;
use crate::spill::Spill;
use crate::work::Work;
use mcp_bash_project::roots::{self, Root};
use mcp_bash_project::{Paths, Tool};
use mcp_bash_runner::Variables;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a script may always read of our own environment.
const INHERITED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ"];

/// What a script must have, even where we have not.
const DEFAULTS: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TMPDIR", "/tmp"), ("LANG", "C")];

/// The environment of one call, and the files it names. They vanish with this value.
pub(crate) struct Environment<'a> {
    _spill: Spill<'a>,
    error_file: PathBuf,
    resources_file: PathBuf,
    cancel_file: PathBuf,
    /// Whether the script was told of its cancellation.
    is_told: AtomicBool,
}

impl<'a> Environment<'a> {
    pub(crate) fn for_call(
        work: &'a Work,
        tool: &Tool,
        arguments: &str,
        paths: &Paths,
        roots: &[Root],
    ) -> io::Result<(Self, Variables)> {
        let (server, settings) = (work.server(), work.server().settings());
        let mut variables = for_script(server, paths);
        let mut spill = Spill::new(server.state_dir(), settings.payload_threshold);
        spill.json(&mut variables, "MCP_TOOL_ARGS", arguments)?;
        spill.json(&mut variables, "MCP_TOOL_METADATA", tool.registry_text())?;
        spill.json(&mut variables, "MCP_TOOL_META", &work.meta())?;
        // The script makes these if it has something to say in them.
        let error_file = server.state_dir().fresh("error")?;
        let resources_file = server.state_dir().fresh("resources")?;
        let cancel_file = server.state_dir().fresh("cancel")?;
        let root_paths: Vec<_> = roots.iter().map(|root| root.path.to_string_lossy()).collect();

        variables.set("MCP_TOOL_NAME", &tool.name);
        variables.set("MCP_TOOL_PATH", &tool.script);
        variables.set("MCP_PROGRESS_TOKEN", work.progress_token_text());
        variables.set("MCP_TOOL_ERROR_FILE", &error_file);
        variables.set("MCP_TOOL_RESOURCES_FILE", &resources_file);
        variables.set("MCP_CANCEL_FILE", &cancel_file);
        variables.set("MCP_ELICIT_SUPPORTED", if work.capabilities().can_elicit() { "1" } else { "0" });
        variables.set("MCP_ROOTS_JSON", roots::to_json(roots));
        variables.set("MCP_ROOTS_PATHS", root_paths.join("\n"));
        variables.set("MCP_ROOTS_COUNT", roots.len().to_string());
        let is_told = AtomicBool::new(false);
        Ok((Self { _spill: spill, error_file, resources_file, cancel_file, is_told }, variables))
    }

    /// Lets the script find out that nobody waits for it any more.
    pub(crate) fn tell_of_cancellation(&self) {
        self.is_told.store(true, Ordering::Relaxed);
        // It is about to be told to end anyway.
        let _ = std::fs::write(&self.cancel_file, "");
    }

    /// Where a script leaves a JSON-RPC error, if it wants one.
    pub(crate) fn error_file(&self) -> &Path {
        &self.error_file
    }

    /// Where a script names files that belong to its result.
    pub(crate) fn resources_file(&self) -> &Path {
        &self.resources_file
    }
}

impl Drop for Environment<'_> {
    fn drop(&mut self) {
        let cancel_file = self.is_told.load(Ordering::Relaxed).then_some(&self.cancel_file);
        for file in [&self.error_file, &self.resources_file].into_iter().chain(cancel_file) {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// What every script that serves a request finds in its environment: the toolbox as well.
pub(crate) fn for_script(server: &Server, paths: &Paths) -> Variables {
    server.common_environment(|| common(server, paths))
}

/// What all scripts have in common, which is the same from call to call.
fn common(server: &Server, paths: &Paths) -> Variables {
    let mut variables = base(&server.settings().environment_mode, server.search_path(), paths);
    if let Some(toolbox) = server.toolbox() {
        variables.extend(toolbox.variables());
        if let Some(path) = variables.get("PATH") {
            let completed = toolbox.completed(path);
            variables.set("PATH", completed);
        }
    }
    variables
}

/// What every process of a project finds in its environment.
pub(crate) fn base(mode: &EnvironmentMode, search_path: Option<&OsString>, paths: &Paths) -> Variables {
    let mut variables = inherited(mode);
    if let Some(path) = search_path {
        variables.set("PATH", path);
    }
    for (name, value) in DEFAULTS {
        if variables.get(name).is_none() {
            variables.set(name, value);
        }
    }
    variables.set("MCPBASH_PROJECT_ROOT", &paths.root);
    variables.set("MCPBASH_TOOLS_DIR", &paths.tools);
    variables.set("MCPBASH_SERVER_DIR", &paths.server);
    variables.set("MCPBASH_MODE", "full");
    variables
}

/// What the mode lets through of our own environment. The remote token never gets through: it is the gateway's secret,
/// not the script's.
fn inherited(mode: &EnvironmentMode) -> Variables {
    let allowed = |name: &OsStr| {
        let name = name.to_string_lossy();
        let ours =
            (name.starts_with("MCP_") || name.starts_with("MCPBASH_")) && !name.contains("REMOTE_TOKEN");
        ours || match mode {
            EnvironmentMode::Inherit => !name.contains("MCPBASH_REMOTE_TOKEN"),
            EnvironmentMode::Minimal => INHERITED.contains(&&*name),
            EnvironmentMode::Allowlist(names) => {
                INHERITED.contains(&&*name) || names.iter().any(|known| *known == name)
            }
        }
    };
    std::env::vars_os().filter(|(name, _)| allowed(name)).collect()
}
