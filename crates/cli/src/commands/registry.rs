//! `mcp-bash registry`: writes the registry of a project again, or shows its state. A running server notices by itself.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::startup;
use crate::terminal::print::print;
use clap::{Args, Subcommand};
use mcp_bash_project::{Diagnostic, Paths};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::complain;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Read the project and write its registry: exit 0 if all of it is written, 1 if something was skipped or
    /// failed
    #[command(after_help = REFRESH_EXAMPLES)]
    Refresh(RefreshArguments),
    /// Show what the registry contains
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
}

const REFRESH_EXAMPLES: &str = "\
Examples:
  mcp-bash registry refresh
  mcp-bash registry refresh --filter tools/git --quiet";

const STATUS_EXAMPLES: &str = "\
Examples:
  mcp-bash registry status
  mcp-bash registry status | jq .tools.count";

#[derive(Debug, Clone, Args)]
pub(crate) struct RefreshArguments {
    /// Read only this folder of tools, resources or prompts, and keep the rest of the registry
    #[arg(long, value_name = "PATH")]
    pub(crate) filter: Option<PathBuf>,

    /// Do not report skipped entries
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Accepted for older scripts: a running server detects changes by itself
    #[arg(long)]
    no_notify: bool,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let (paths, settings) = startup::project(common)?;
    match arguments {
        Arguments::Refresh(options) => refresh(&paths, settings, options),
        Arguments::Status => status(&paths, settings.registry_limit),
    }
}

/// Reads the project and writes its registry: exit 0 on success, 1 if something was skipped or not written.
fn refresh(paths: &Paths, settings: Settings, options: &RefreshArguments) -> Result<ExitCode, Error> {
    let (runtime, scripts) = startup::scripts(settings)?;
    let mut reading = scripts.reading(paths);
    reading.static_registry = false;
    reading.only = only(paths, options.filter.as_deref(), scripts.settings())?;
    let catalog = startup::read_whole(&runtime, &scripts, paths, &reading);
    let error = match &catalog.failure {
        Some(failure) => Some(failure.clone()),
        None => catalog.store(&reading).err().map(|error| error.to_string()),
    };
    if !options.quiet {
        for diagnostic in &catalog.diagnostics {
            complain(&diagnostic.to_string());
        }
    }
    let skipped: Vec<&Diagnostic> =
        catalog.diagnostics.iter().filter(|told| told.tells_of_a_skip()).collect();
    let kind = |folder: &Path, count: usize| kind(folder, count, error.as_deref(), &skipped);
    print_report(&json!({
        "tools": kind(&paths.tools, catalog.tools.len()),
        "resources": kind(&paths.resources, catalog.resources.len()),
        "resourceTemplates": kind(&paths.resources, catalog.templates.len()),
        "prompts": kind(&paths.prompts, catalog.prompts.len()),
        "ui": { "status": "skipped", "count": 0, "error": null },
        "notificationsSent": false,
        "mode": if scripts.settings().minimal { "minimal" } else { "full" },
    }))?;
    Ok(if error.is_none() && skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The result for the kind in `folder`: `ok` only if all is written and nothing was skipped.
fn kind(folder: &Path, count: usize, error: Option<&str>, skipped: &[&Diagnostic]) -> Value {
    if let Some(error) = error {
        return json!({ "status": "failed", "count": count, "error": error });
    }
    let own: Vec<String> =
        skipped.iter().filter(|told| told.path.starts_with(folder)).map(ToString::to_string).collect();
    if own.is_empty() {
        return json!({ "status": "ok", "count": count, "error": null });
    }
    json!({ "status": "incomplete", "count": count, "error": own.join("\n") })
}

fn status(paths: &Paths, limit: usize) -> Result<ExitCode, Error> {
    let [functions, providers] = ["functions.json", "providers.json"]
        .map(|name| envelope(&paths.registry.join(name), limit).unwrap_or_default());
    let file = |name: &str, in_functions: &str| {
        let more = held(&functions, in_functions);
        // A provider of tools provides nothing else.
        let more = more + if name == "tools.json" { held(&providers, "/tools") } else { 0 };
        status_of(&paths.registry.join(name), more, limit)
    };
    print_report(&json!({
        "projectRoot": paths.root.to_string_lossy(),
        "jsonTool": "jq",
        "tools": file("tools.json", "/tools"),
        "resources": file("resources.json", "/rest/resources"),
        "resourceTemplates": file("resource-templates.json", "/rest/templates"),
        "prompts": file("prompts.json", "/rest/prompts"),
        "ui": file("ui-resources.json", ""),
    }))?;
    Ok(ExitCode::SUCCESS)
}

/// The content of a registry file, if it can be read.
fn envelope(path: &Path, limit: usize) -> Option<Value> {
    serde_json::from_slice(&mcp_bash_files::read(path, limit as u64).ok()?).ok()
}

/// How many entries of one kind are in the items of a registry file.
fn held(envelope: &Value, pointer: &str) -> usize {
    let items = envelope["items"].as_array().into_iter().flatten();
    items.filter_map(|item| Some(item.pointer(pointer)?.as_array()?.len())).sum()
}

/// The content of one registry file, and the number of entries of its kind, including those in other files.
fn status_of(path: &Path, more: usize, limit: usize) -> Value {
    let envelope = envelope(path, limit);
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let changed =
        changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs());
    json!({
        "status": if envelope.is_some() { "present" } else if path.exists() { "unreadable" } else { "missing" },
        "path": path.to_string_lossy(),
        "count": envelope.as_ref().and_then(|envelope| envelope["total"].as_u64()).unwrap_or(0) + more as u64,
        "hash": envelope.as_ref().and_then(|envelope| envelope["hash"].as_str()).unwrap_or_default(),
        "mtime": changed,
    })
}

/// The only part of the project that is read, if it is not all of it: by the flag, otherwise by the setting.
fn only(paths: &Paths, flag: Option<&Path>, settings: &Settings) -> Result<Option<PathBuf>, Error> {
    let by_flag = flag.map(|path| (path, "--filter"));
    let by_setting =
        settings.registry_refresh_path.as_deref().map(|path| (path, "MCPBASH_REGISTRY_REFRESH_PATH"));
    let Some((path, named_by)) = by_flag.or(by_setting) else { return Ok(None) };
    match below(paths, path) {
        Some(part) => Ok(Some(part)),
        None => Err(Error::Filter { path: path.to_owned(), named_by }),
    }
}

/// A folder of tools, resources or prompts, as the user names it: by its path in the project, or in `tools/`.
fn below(paths: &Paths, path: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir);
    let is_part = |part: &PathBuf| {
        let folders = [&paths.tools, &paths.resources, &paths.prompts];
        part.is_dir() && folders.iter().any(|folder| part.starts_with(folder))
    };
    // Joining with an absolute path gives that path.
    let named = [paths.root.join(path), paths.tools.join(path)];
    path.components().all(is_plain).then_some(named)?.into_iter().find(is_part)
}

fn print_report(report: &Value) -> Result<(), Error> {
    print(&format!("{report:#}\n"))
}
