//! Launching: tools that run on another host. The process that the runner starts is then the bridge of `mcp_bash_launchers`;
//! everything else about the call stays the same.

use crate::calls::tool_call::ToolCall;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use crate::scripts::Scripts;
use mcp_bash_launchers::{Files, Launcher, Plan, Report, Sdk, bridge};
use mcp_bash_project::trust::Start;
use mcp_bash_project::{Execution, Paths, SdkVariable, Tool, language_of_script, languages};
use mcp_bash_runner::{ProcessEnding, Variables};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The grace period of the bridge, which terminates the tool on the other host: longer than all its own timeouts.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// A call that is about to be launched.
pub(crate) struct Launch<'a> {
    pub(crate) launcher: &'a Launcher,
    /// What would be started on this host without the launcher.
    pub(crate) start: &'a Start,
    pub(crate) words: &'a [OsString],
    /// The working directory on this host.
    pub(crate) folder: &'a Path,
    pub(crate) call_folder: &'a Path,
    /// The variables of the tool itself, from the mapping of its arguments.
    pub(crate) own_variables: Vec<String>,
}

impl Scripts {
    /// The launcher of a tool; or why it is unknown, not allowed, or unable to enforce the sandbox of the tool. `None` if the
    /// tool runs on this host, as workers always do.
    pub fn launcher_of(&self, tool: &Tool) -> Result<Option<Launcher>, ScriptError> {
        let (own, settings) = (tool.options.launcher.as_ref(), self.settings());
        let refused = |why: String| ScriptError::NotLaunched { tool: tool.name.clone(), why };
        if tool.worker().is_some() || own.is_some_and(mcp_bash_launchers::Declaration::is_here) {
            return Ok(None);
        }
        let launchers = settings.project_launchers.as_ref().map_err(|why| {
            refused(format!("`launchers` in server.d/server.meta.json cannot be used: {why}"))
        })?;
        let Some(launcher) = launchers.of(own).map_err(|error| refused(error.to_string()))? else {
            return Ok(None);
        };
        if settings.allowed_launchers.as_ref().is_some_and(|names| !launcher.is_allowed(names)) {
            let name = launcher.words();
            return Err(refused(format!("MCPBASH_LAUNCHERS does not allow the launcher {name}")));
        }
        let sandbox = self.surroundings.processes.sandboxes.in_force(tool.options.sandbox.as_ref());
        if !matches!(sandbox, Ok(None)) {
            let name = launcher.words();
            return Err(refused(format!(
                "it would run by the launcher {name}, where its sandbox is not enforced; declare \
                 `\"sandbox\": \"off\"` for it, or `\"launcher\": \"here\"`"
            )));
        }
        Ok(Some(launcher))
    }

    /// Whether the program of a tool is looked up on another host.
    pub(crate) fn is_found_elsewhere(&self, tool: &Tool, program: &str) -> bool {
        !program.contains('/') && matches!(self.launcher_of(tool), Ok(Some(_)))
    }
}

impl Launch<'_> {
    /// The process that is started in place of the tool.
    pub(crate) fn bridge(self, call: &ToolCall<'_>, variables: &mut Variables) -> Result<Start, ScriptError> {
        let launch = self;
        let (tool, paths) = (call.tool.tool, call.tool.paths);
        let refused = |why: String| ScriptError::NotLaunched { tool: tool.name.clone(), why };
        let (id, mark) = Plan::names().map_err(|error| refused(error.to_string()))?;
        let mut crossing = crossing_names(tool, variables);
        crossing.extend(tool.options.variables.iter().cloned());
        crossing.extend(tool.options.secrets.iter().map(|need| need.variable.clone()));
        crossing.extend(launch.own_variables);
        let (carried, project_there) = project_files(launch.launcher, tool, paths).map_err(refused)?;
        let seconds = seconds(call);
        let plan = Plan {
            commands: launch.launcher.commands(&id, seconds),
            id,
            mark,
            temporary: launch.launcher.temporary.clone(),
            call_folder: launch.call_folder.to_owned(),
            project: paths.root.clone(),
            project_there,
            carried,
            sdk: sdk_folders(tool, variables),
            words: command_words(tool, launch.start, launch.words),
            directory: launch.folder.to_owned(),
            variables: crossing,
        };
        let refused = |error: std::io::Error| ScriptError::NotLaunched {
            tool: tool.name.clone(),
            why: format!("its call cannot be written to {}: {error}", launch.call_folder.display()),
        };
        let written = plan.write().map_err(refused)?;
        for name in bridge::INHERITED {
            if let (None, Some(value)) = (variables.get(name), std::env::var_os(name)) {
                variables.set(name, value);
            }
        }
        let program = std::env::current_exe().map_err(refused)?;
        Ok(Start { program, arguments: vec![bridge::WORD.into(), written.into()] })
    }
}

/// The outcome of a call on another host, with the name of that host; or an error if the launcher failed.
pub(crate) fn judged(
    outcome: Outcome,
    launcher: &Launcher,
    tool: &Tool,
    call_folder: &Path,
) -> Result<Outcome, ScriptError> {
    let Report { node, failed } = Report::read(call_folder);
    match (failed, outcome.ending) {
        (Some(why), ProcessEnding::Exited(_)) => {
            Err(ScriptError::Launcher { tool: tool.name.clone(), launcher: launcher.words(), why })
        }
        _ => Ok(outcome.with_launcher(Some(launcher.summary(node.as_deref())))),
    }
}

/// The longest that the call may take, including the time in which its questions wait for answers.
fn seconds(call: &ToolCall<'_>) -> u64 {
    let patience = call.limits.patience;
    let pause = if call.may_ask { patience.pause } else { Duration::ZERO };
    (patience.most.unwrap_or(patience.limit) + pause).as_secs().max(1)
}

/// The variables that are passed to the other host: those about the call. The others describe this host.
fn crossing_names(tool: &Tool, variables: &Variables) -> Vec<String> {
    let own_sdk = language_of_script(&tool.script).map(|language| language.sdk_variable.name());
    let is_of_language = |name: &str| languages().any(|language| language.sdk_variable.name() == name);
    let crosses = |name: &&str| {
        let is_of_call =
            name.starts_with("MCP_") || name.starts_with("MCPBASH_") || name.starts_with("TRACE");
        Some(*name) == own_sdk || is_of_call && !is_of_language(name)
    };
    let names = variables.names().filter_map(|name| name.to_str());
    names.filter(crosses).map(str::to_owned).collect()
}

/// The files of the project that are copied to the other host, or the folder of the project there.
fn project_files(
    launcher: &Launcher,
    tool: &Tool,
    paths: &Paths,
) -> Result<(Vec<PathBuf>, Option<PathBuf>), String> {
    let more = match &launcher.files {
        Files::There { folder } => {
            let folder = folder.as_ref().map_or_else(|| paths.root.clone(), PathBuf::from);
            return Ok((Vec::new(), Some(folder)));
        }
        Files::Carried { more } => more,
    };
    let own = tool.script.parent().filter(|folder| *folder != paths.tools && *folder != paths.root);
    let mut carried = vec![own.unwrap_or(&tool.script).to_owned()];
    carried.extend(Some(paths.lib.clone()).filter(|lib| lib.is_dir()));
    for path in more {
        let whole = paths.root.join(path);
        if !whole.exists() {
            return Err(format!("`launcher.carry` has `{path}`, which the project does not have"));
        }
        carried.push(whole);
    }
    Ok((carried, None))
}

/// The folders of the SDK that the tool may need: for its language, and for shell scripts.
fn sdk_folders(tool: &Tool, variables: &Variables) -> Vec<Sdk> {
    let of_language = language_of_script(&tool.script).and_then(|language| {
        let value = variables.get(language.sdk_variable.name())?;
        let path = std::env::split_paths(value).last()?;
        let folder = match language.sdk_variable {
            SdkVariable::SearchPath { .. } => Some(path),
            SdkVariable::File { .. } => path.parent().map(Path::to_owned),
        };
        Some(Sdk { folder: folder?, without: Vec::new() })
    });
    let without = languages().map(|language| language.name.to_owned()).collect();
    let of_shell = variables.get("MCP_SDK").map(|folder| Sdk { folder: folder.into(), without });
    of_language.into_iter().chain(of_shell).collect()
}

/// The tool and its arguments. The program of a tool without a script is looked up on the other host.
fn command_words(tool: &Tool, start: &Start, words: &[OsString]) -> Vec<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let mut all: Vec<String> = match &tool.execution {
        Execution::Command { program, .. } if !program.contains('/') => vec![program.clone()],
        _ => std::iter::once(start.program.to_string_lossy().into_owned())
            .chain(start.arguments.iter().map(text))
            .collect(),
    };
    all.extend(words.iter().map(text));
    all
}
