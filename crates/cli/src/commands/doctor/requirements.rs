//! Project requirements: `server.d/requirements.json`.

use super::program::at_least;
use crate::report::finding::Finding;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

/// A larger file is ignored.
const MOST_BYTES: u64 = 1024 * 1024;

/// Checks the requirements; `path` is where programs are found.
pub(super) fn look(server: &Path, path: &OsStr) -> Vec<Finding> {
    let file = server.join("requirements.json");
    let text = match mcp_bash_files::read(&file, MOST_BYTES) {
        Ok(text) => text,
        Err(_) if file.symlink_metadata().is_err() => return Vec::new(),
        Err(error) => return vec![unusable(&error.to_string())],
    };
    let read: Value = match serde_json::from_slice(&text) {
        Ok(read) => read,
        Err(error) => return vec![unusable(&error.to_string())],
    };
    let mut checks: Vec<Finding> =
        read["framework"]["minVersion"].as_str().map(at_least).into_iter().collect();
    let dependencies = read["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    checks.extend(dependencies.iter().filter_map(|dependency| needed(dependency, path)));
    checks
}

fn unusable(why: &str) -> Finding {
    Finding::warning(
        "project.requirements_invalid",
        format!("server.d/requirements.json cannot be used: {why}"),
    )
    .remedy(r#"write {"framework": {"minVersion": "1.0.0"}, "dependencies": [{"name": "git"}]}, say"#)
}

/// Whether one dependency is present; `None` if it names none.
fn needed(dependency: &Value, path: &OsStr) -> Option<Finding> {
    let any_of: Vec<&str> = match dependency["or"].as_array() {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => dependency["name"].as_str().or_else(|| dependency.as_str()).into_iter().collect(),
    };
    if any_of.is_empty() {
        return None;
    }
    Some(match any_of.iter().find(|name| is_there(name, path)) {
        Some(name) => Finding::good("deps.found", format!("{name} is there, which the project needs")),
        None if any_of.len() == 1 => {
            Finding::error("deps.missing", format!("{} is missing, which the project needs", any_of[0]))
                .remedy(format!("install {}, or add its folder to MCPBASH_PATH", any_of[0]))
        }
        None => Finding::error("deps.missing", format!("the project needs one of {}", any_of.join(", ")))
            .remedy("install one of them, or add its folder to MCPBASH_PATH"),
    })
}

/// Whether scripts find a program. They always find a jq: this program is one.
pub(super) fn is_there(name: &str, path: &OsStr) -> bool {
    let is_program =
        |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    name == "jq" || std::env::split_paths(path).any(|folder| is_program(&folder.join(name)))
}
