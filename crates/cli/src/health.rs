//! `mcp-bash --health`: whether the project could be served now. Writes nothing, and starts only what the project says
//! itself which tools it has.

use crate::arguments::Arguments;
use crate::search_path::SearchPath;
use crate::{health_checks, startup};
use mcp_bash_project::{Catalog, Location, no_project};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (report, code) = examine(arguments);
    // Whoever closed our output does not want the report; the exit code says it all.
    let _ = writeln!(std::io::stdout(), "{report}");
    ExitCode::from(code)
}

fn examine(arguments: &Arguments) -> (Value, u8) {
    let (settings, problems) = startup::settings();
    let mode = if settings.minimal { "minimal" } else { "full" };
    let misconfigured =
        |problems: Vec<String>| (json!({ "status": "misconfigured", "mode": mode, "problems": problems }), 2);
    if !problems.is_empty() {
        return misconfigured(problems.iter().map(ToString::to_string).collect());
    }
    let folder = match startup::location(arguments, &settings) {
        Ok(Location::Folder(folder)) => folder,
        Ok(Location::Embedded) => {
            let here = std::env::current_dir().ok();
            return misconfigured(vec![no_project(here.as_deref())]);
        }
        Err(error) => return misconfigured(vec![error.to_string()]),
    };
    let (_runtime, scripts) = match startup::scripts(settings) {
        Ok(scripts) => scripts,
        Err(error) => return misconfigured(vec![error.to_string()]),
    };
    let search_path = SearchPath::resolve(&scripts);
    scripts.set_search_path(search_path.path.clone());
    let paths = startup::paths(&folder, scripts.settings());
    let catalog = Catalog::read(&paths, &scripts.reading(&paths));
    let mut problems: Vec<String> = catalog.diagnostics.iter().map(ToString::to_string).collect();
    problems.extend(scripts.missing_programs(&catalog));
    // Half a project is served; one of which nothing is left is not.
    let mut healthy = catalog.failure.is_none() && (problems.is_empty() || !catalog.tools.is_empty());
    let checked = health_checks::run(&scripts, &paths);
    if let Some(Err(problem)) = &checked {
        healthy = false;
        problems.push(problem.clone());
    }
    let report = json!({
        "status": if healthy { "ok" } else { "unhealthy" },
        "mode": mode,
        "project": folder,
        "tools": catalog.tools.len(),
        "path": search_path.path.to_string_lossy(),
        "pathSource": search_path.source,
        "projectChecks": checked.map(|checked| if checked.is_ok() { "ok" } else { "failed" }),
        "problems": problems,
    });
    (report, u8::from(!healthy))
}
