//! `mcp-bash registry`: the registry of a project, written anew or looked at. A server that runs notices by itself.

use crate::arguments::{Arguments, RefreshArguments, RegistryCommand};
use crate::error::Error;
use crate::startup;
use mcp_bash_project::{Catalog, Location, Paths};
use mcp_bash_settings::Settings;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

pub(crate) fn run(arguments: &Arguments, command: &RegistryCommand) -> Result<ExitCode, Error> {
    let (settings, _) = startup::settings();
    let Location::Folder(root) = startup::location(arguments, &settings)? else {
        return Err(Error::NoProject);
    };
    let paths = startup::paths(&root, &settings);
    match command {
        RegistryCommand::Refresh(options) => refresh(&paths, settings, options),
        RegistryCommand::Status => Ok(status(&paths, settings.registry_limit)),
    }
}

/// Reads the project and writes its registry: exit 0 when all went well, 1 when something was skipped or not written.
fn refresh(paths: &Paths, settings: Settings, options: &RefreshArguments) -> Result<ExitCode, Error> {
    let (_runtime, scripts) = startup::scripts(settings)?;
    let mut reading = scripts.reading(paths);
    reading.static_registry = false;
    reading.only = options.filter.as_deref().map(|filter| below(&paths.tools, filter)).transpose()?;
    let catalog = Catalog::read(paths, &reading);
    let error = match &catalog.failure {
        Some(failure) => Some(failure.clone()),
        None => catalog.store(&reading).err().map(|error| error.to_string()),
    };
    if !options.quiet {
        for diagnostic in &catalog.diagnostics {
            eprintln!("mcp-bash: {diagnostic}");
        }
    }
    let status = if error.is_some() { "failed" } else { "ok" };
    let kind = |count: usize| json!({ "status": status, "count": count, "error": error });
    print(&json!({
        "tools": kind(catalog.tools.len()),
        "resources": kind(catalog.resources.len()),
        "resourceTemplates": kind(catalog.templates.len()),
        "prompts": kind(catalog.prompts.len()),
        "notificationsSent": false,
        "mode": if scripts.settings().minimal { "minimal" } else { "full" },
    }));
    Ok(if error.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn status(paths: &Paths, limit: usize) -> ExitCode {
    let file = |name: &str| status_of(&paths.registry.join(name), limit);
    print(&json!({
        "projectRoot": paths.root,
        "tools": file("tools.json"),
        "resources": file("resources.json"),
        "resourceTemplates": file("resource-templates.json"),
        "prompts": file("prompts.json"),
    }));
    ExitCode::SUCCESS
}

/// What one registry file holds.
fn status_of(path: &Path, limit: usize) -> Value {
    let text = mcp_bash_files::read(path, limit as u64).ok();
    let envelope: Option<Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let changed =
        changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs());
    json!({
        "status": if envelope.is_some() { "present" } else if path.exists() { "unreadable" } else { "missing" },
        "path": path,
        "count": envelope.as_ref().and_then(|envelope| envelope["total"].as_u64()).unwrap_or(0),
        "hash": envelope.as_ref().and_then(|envelope| envelope["hash"].as_str()).unwrap_or_default(),
        "mtime": changed,
    })
}

/// A part of the tools folder, as a person names it.
fn below(tools: &Path, filter: &Path) -> Result<PathBuf, Error> {
    let relative = filter.strip_prefix(tools).unwrap_or(filter);
    let relative = relative.strip_prefix("tools").unwrap_or(relative);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside && tools.join(relative).is_dir() {
        Ok(tools.join(relative))
    } else {
        Err(Error::Filter(filter.to_owned()))
    }
}

fn print(report: &Value) {
    // Whoever closed our output does not want the report; the exit code says it all.
    let _ = writeln!(std::io::stdout(), "{report:#}");
}
