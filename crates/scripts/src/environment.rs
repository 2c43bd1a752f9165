//! What a script finds in its environment.

use crate::scripts::Scripts;
use mcp_bash_project::{Paths, environment_without_secret};
use mcp_bash_runner::Variables;
use mcp_bash_settings::EnvironmentMode;
use std::ffi::{OsStr, OsString};

/// What a script may always read of our own environment.
const INHERITED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ"];

/// What a script must have, even where we have not.
const DEFAULTS: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TMPDIR", "/tmp"), ("LANG", "C")];

/// What all scripts that serve somebody have in common, which is the same from call to call: the toolbox as well.
pub(crate) fn common(scripts: &Scripts, paths: &Paths) -> Variables {
    let mut variables = base(&scripts.settings().environment_mode, scripts.search_path(), paths);
    if let Some(toolbox) = scripts.toolbox() {
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

/// What belongs to one call or one question. Where the server is itself run by a script of another one, what that script
/// was given is nobody else's.
pub(crate) const OF_ONE_CALL: [&str; 41] = [
    "MCP_ASK_KEY",
    "MCP_ASK_SOCKET",
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
];

/// What the mode lets through of our own environment. The remote token never gets through: it is the gateway's secret,
/// not the script's.
fn inherited(mode: &EnvironmentMode) -> Variables {
    let allowed = |name: &OsStr| {
        let name = name.to_string_lossy();
        if OF_ONE_CALL.contains(&&*name) {
            return false;
        }
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
    environment_without_secret().filter(|(name, _)| allowed(name)).collect()
}
