//! Programs of an image: the interpreters of scripts and functions, the commands of metadata, and the dependencies in
//! `server.d/requirements.json`.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::bundle::contents::Contents;
use crate::open::package_facts::optional;
use mcp_bash_project::{Catalog, Execution, interpreter_name};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// How much is read for the first line of a script, in bytes.
const MOST_BYTES: u64 = 512;

pub(super) fn needed(catalog: &Catalog, contents: &Contents) -> Result<BTreeSet<String>, Error> {
    let mut programs = BTreeSet::new();
    let own = contents.files.iter().filter(|(path, _)| !path.starts_with("node_modules/"));
    for (_, file) in own {
        programs.extend(interpreter(&file.source));
    }
    for tool in catalog.tools.items() {
        let language = tool.worker().and_then(|worker| worker.program.language());
        programs.extend(language.map(|language| language.interpreter.to_owned()));
        if let Execution::Command { program, .. } = &tool.execution {
            programs.insert(program.clone());
        }
    }
    let file = catalog.paths.server.join("requirements.json");
    if let Some(text) = optional(&file)? {
        let read: Value = serde_json::from_str(&text).map_err(|error| {
            Error::of_command(Exit::Failed, format!("{} cannot be used: {error}", file.display()))
        })?;
        programs.extend(read["dependencies"].as_array().into_iter().flatten().filter_map(dependency));
    }
    Ok(programs)
}

/// The program that a dependency names; the first, if one of several is enough.
fn dependency(dependency: &Value) -> Option<String> {
    let first = dependency["or"].as_array().and_then(|names| names.first());
    let name = first.or_else(|| dependency.get("name")).unwrap_or(dependency);
    name.as_str().map(str::to_owned)
}

/// The interpreter in the first line of a script.
fn interpreter(script: &Path) -> Option<String> {
    let mut beginning = Vec::new();
    mcp_bash_files::open(script).ok()?.take(MOST_BYTES).read_to_end(&mut beginning).ok()?;
    let line = beginning.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok().filter(|line| line.starts_with("#!"))?;
    interpreter_name(line).map(str::to_owned)
}
