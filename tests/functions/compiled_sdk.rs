//! The modules of the SDK are compiled once, also for workers that may not keep what they compile.

use super::{call, quiet_with, text};
use crate::harness::Project;
use serde_json::json;

const NO_COMPILED_FILES: &str = "PYTHONDONTWRITEBYTECODE";

/// Says whether the modules of the SDK, those of every start and those of few, are compiled.
const COMPILED: &str = "import os
from importlib.util import cache_from_source
from mcp_bash import tool

@tool
def compiled() -> list:
    import mcp_bash
    sdk = os.path.dirname(mcp_bash.__file__)
    files = ['serving/start.py', 'fastmcp.py', 'testing/__init__.py']
    return [os.path.exists(cache_from_source(os.path.join(sdk, file))) for file in files]
";

fn project(settings: &str) -> Project {
    Project::new().file("server.d/server.meta.json", settings).file("tools/one.py", COMPILED)
}

/// What a function sees of the SDK in a new cache.
fn compiled(project: &Project, environment: &[(&str, &str)]) -> String {
    let cache = tempfile::tempdir().unwrap();
    let cache = ("XDG_CACHE_HOME", cache.path().to_str().unwrap());
    let environment: Vec<_> = environment.iter().copied().chain([cache]).collect();
    let mut server = quiet_with(project, &environment);
    let seen = text(&call(&mut server, "compiled", &json!({}))).to_owned();
    assert!(!project.path("tools/__pycache__").exists(), "nothing is written into the project");
    seen.split_whitespace().collect()
}

#[test]
fn the_sdk_is_compiled_for_a_confined_worker() {
    let project = project(r#"{"name": "p", "sandbox": "on"}"#);
    assert_eq!(compiled(&project, &[(NO_COMPILED_FILES, "")]), "[true,true,false]");
}

#[test]
fn the_sdk_is_compiled_where_nothing_compiled_is_kept_beside_sources() {
    let project = project(r#"{"name": "p"}"#);
    assert_eq!(compiled(&project, &[(NO_COMPILED_FILES, "1")]), "[true,true,false]");
    // Otherwise a worker keeps what it loads, and nothing more.
    assert_eq!(compiled(&project, &[(NO_COMPILED_FILES, "")]), "[true,false,false]");
}

#[test]
fn an_interpreter_of_the_project_compiles_nothing_outside_of_its_sandbox() {
    let python = "#!/bin/sh\necho \"$*\" >>\"$MCPBASH_PROJECT_ROOT/runs\"\nexec python3 \"$@\"\n";
    let project =
        project(r#"{"name": "p", "sandbox": {"write": ["project"]}}"#).script(".venv/bin/python", python);
    assert_eq!(compiled(&project, &[(NO_COMPILED_FILES, "1")]), "[false,false,false]");
    let runs = project.read("runs");
    assert!(!runs.is_empty() && runs.lines().all(|run| run.contains("/worker.py ")), "{runs}");
}
