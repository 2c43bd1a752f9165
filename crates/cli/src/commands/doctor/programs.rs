//! Programs of scripts: where scripts find them, here and in a server that a desktop has started.

use super::requirements::is_there;
use crate::open::search_path::{DESKTOP, SearchPath};
use crate::report::Group;
use crate::report::finding::Finding;
use mcp_bash_project::{Catalog, Execution, Source, interpreter_name};
use mcp_bash_scripts::Scripts;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

/// Findings about search paths.
pub(super) struct Programs {
    pub(super) section: Group,
    pub(super) facts: Value,
    /// The search path of a server that a desktop has started.
    pub(super) desktop: OsString,
}

/// How much is read for the first line of a script, in bytes.
const MOST_BYTES: u64 = 512;

/// Checks search paths, and the programs that a project needs.
pub(super) fn look(scripts: &Scripts, search_path: &SearchPath, project: Option<&Catalog>) -> Programs {
    let login_shell = scripts.ask_login_shell();
    let desktop = SearchPath::of_desktop(scripts.settings(), login_shell.as_deref());
    let with_project = |path: &SearchPath| {
        project.map_or_else(|| path.path.clone(), |catalog| path.for_project(&catalog.paths))
    };
    let (here, there) = (with_project(search_path), with_project(&desktop));
    let mut checks = vec![Finding::good(
        "path.scripts",
        format!("scripts look in {} (from {})", shown(&search_path.path), search_path.source),
    )];
    checks.push(match &login_shell {
        Some(path) => Finding::good("path.login_shell", format!("the login shell has {}", shown(path))),
        None => Finding::warning("path.login_shell", "the login shell does not tell its PATH in time")
            .remedy(
                "a server that a desktop starts then has only the folders of the system; set MCPBASH_PATH",
            ),
    });
    checks.push(Finding::good(
        "path.desktop",
        format!("started by a desktop with {DESKTOP}, scripts look in {}", shown(&desktop.path)),
    ));
    for (program, user) in project.map(needed).unwrap_or_default() {
        if is_there(&program, &here) && !is_there(&program, &there) {
            let words =
                format!("`{program}` (for {user}) is found here, and not where a desktop starts the server");
            let remedy = "add its folder to PATH in the profile of your login shell, or set MCPBASH_PATH in the \
                          client's entry";
            checks.push(Finding::warning("path.desktop_missing", words).remedy(remedy));
        }
    }
    let facts = json!({
        "scripts": shown(&search_path.path),
        "source": search_path.source,
        "loginShell": login_shell.as_deref().map(shown),
        "desktop": shown(&desktop.path),
    });
    Programs { section: Group::new("Search path", checks), facts, desktop: there }
}

/// The programs that scripts and metadata name, each with one entry that needs it.
fn needed(catalog: &Catalog) -> BTreeMap<String, String> {
    let mut needed = BTreeMap::new();
    let mut need = |program: Option<String>, user: &str| {
        if let Some(program) = program.filter(|program| !program.contains('/')) {
            needed.entry(program).or_insert_with(|| user.to_owned());
        }
    };
    for tool in catalog.tools.items() {
        let language = tool.worker().and_then(|worker| worker.program.language());
        let program = match (&tool.execution, language) {
            (Execution::Command { program, .. }, _) => Some(program.clone()),
            (_, Some(language)) => Some(language.interpreter.to_owned()),
            (_, None) => interpreter(&tool.script),
        };
        need(program, &tool.name);
    }
    for prompt in catalog.prompts.items().iter().filter(|prompt| matches!(prompt.source, Source::Script)) {
        need(interpreter(&prompt.file), &prompt.name);
    }
    needed
}

/// The program that the first line of a script looks up on `PATH`.
fn interpreter(script: &Path) -> Option<String> {
    let mut beginning = Vec::new();
    mcp_bash_files::open(script).ok()?.take(MOST_BYTES).read_to_end(&mut beginning).ok()?;
    let line = beginning.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let first = line.strip_prefix("#!")?.split_whitespace().next()?;
    if !first.ends_with("/env") {
        return None;
    }
    interpreter_name(line).map(str::to_owned)
}

fn shown(path: &OsStr) -> String {
    path.to_string_lossy().into_owned()
}
