//! Traps in shell scripts: what they expect of a terminal or of the user's environment.

use super::beginning;
use crate::declarations::server_config::ServerConfig;
use crate::ground::interpreters::{SHELLS, interpreter_name};
use crate::{Catalog, Diagnostic, Execution, Paths, Tool, Words};
use mcp_bash_importing::{ShellTraps, shell_traps};
use std::path::{Path, PathBuf};

/// How much of a script is read, in bytes.
const LONGEST: u64 = 256 * 1024;

/// Checks the shell scripts of all tools, also those that a `command` starts.
pub(super) fn check(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let env_file = env_file(&catalog.paths);
    let common = ServerConfig::read(&catalog.paths, &mut Vec::new()).variables;
    for tool in catalog.tools.items() {
        let Some(Script { path: script, text }) = shell_script(tool, &catalog.paths.root) else { continue };
        let ShellTraps { questions, variables } = shell_traps(&text);
        let has_answers = tool
            .execution
            .mapping()
            .is_some_and(|mapping| mapping.input.as_ref().is_some_and(|input| !input.parts.is_empty()));
        // What `stdin` holds answers `read`.
        for question in questions.into_iter().filter(|question| !has_answers || question != "read -p") {
            let problem =
                format!("asks at a terminal (`{question}`), and a tool has none: it gets the end of input");
            let remedy = match question.as_str() {
                "sudo" => "use `sudo -n`, and allow the command without a password in sudoers",
                "less" | "more" | "most" => "print the text itself, as `cat` does",
                _ => {
                    "ask the user through the client with `mcp_elicit_confirm` and its like (docs/asking.md), or take the answer as an argument"
                }
            };
            found.push(at(
                &text,
                question.split(' ').next().unwrap_or_default(),
                Diagnostic::warning(&script, problem, remedy),
            ));
        }
        let is_named =
            |name: &String| tool.options.variables.iter().chain(&common).any(|known| known == name);
        for name in variables.iter().filter(|name| {
            !is_set_by_project(tool, name) && !is_named(name) && !env_file.contains(name.as_str())
        }) {
            let problem = format!("reads the variable `{name}`, which it does not receive");
            let remedy =
                format!("add \"env\": [\"{name}\"] to its metadata, or give it a default (`${{{name}:-}}`)");
            found.push(at(&text, name, Diagnostic::warning(&script, problem, &remedy)));
        }
    }
}

/// The variables that the shell script of a tool reads without a default, and that neither the script nor the project sets.
/// The script is read for it.
pub fn variables_from_outside(tool: &Tool, paths: &Paths) -> Vec<String> {
    let Some(Script { text, .. }) = shell_script(tool, &paths.root) else { return Vec::new() };
    let mut variables = shell_traps(&text).variables;
    variables.retain(|name| !is_set_by_project(tool, name));
    if !variables.is_empty() {
        let env_file = env_file(paths);
        variables.retain(|name| !env_file.contains(name.as_str()));
    }
    variables
}

/// A shell script, and its text.
pub(super) struct Script {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// The script of a tool, if a shell runs it.
pub(super) fn shell_script(tool: &Tool, root: &Path) -> Option<Script> {
    if tool.is_function() {
        return None;
    }
    let path = script(tool, root)?;
    let text = beginning(&path, LONGEST);
    let interpreter = interpreter_name(text.lines().next().unwrap_or_default())?;
    SHELLS.contains(&interpreter).then_some(Script { path, text })
}

/// The script of a tool, or the one in the project that its `command` starts, itself or with a shell.
fn script(tool: &Tool, root: &Path) -> Option<PathBuf> {
    let Execution::Command { program, mapping } = &tool.execution else { return Some(tool.script.clone()) };
    let is_shell = SHELLS.contains(&program.rsplit('/').next().unwrap_or(program));
    let word = match mapping.words.first() {
        Some(Words::Word(word)) if is_shell => word.template.fixed()?,
        _ if program.contains('/') => program,
        _ => return None,
    };
    let file = root.join(word.trim_start_matches("./"));
    let is_below = file.canonicalize().ok()?.starts_with(root.canonicalize().ok()?);
    (is_below && file.is_file()).then_some(file)
}

fn env_file(paths: &Paths) -> String {
    beginning(&paths.server.join("env.sh"), LONGEST)
}

/// Whether metadata sets the variable: to an argument, a fixed text or a secret.
fn is_set_by_project(tool: &Tool, name: &str) -> bool {
    let mapped = tool
        .execution
        .mapping()
        .is_some_and(|mapping| mapping.variables.iter().any(|variable| variable.name == name));
    mapped || tool.options.secrets.iter().any(|need| need.variable == name)
}

/// The diagnostic, at the first line with the word.
fn at(text: &str, word: &str, diagnostic: Diagnostic) -> Diagnostic {
    let is_there = |line: &str| !line.trim_start().starts_with('#') && line.contains(word);
    match text.lines().position(is_there) {
        Some(line) => diagnostic.at_line(line as u64 + 1),
        None => diagnostic,
    }
}
