//! Traps in shell scripts: what they expect of a terminal or of the user's environment.

use super::beginning;
use crate::declarations::server_config::ServerConfig;
use crate::ground::interpreters::{SHELLS, interpreter_name};
use crate::{Catalog, Diagnostic, Execution, Tool};
use mcp_bash_importing::{ShellTraps, shell_traps};

/// How much of a script is read, in bytes.
const LONGEST: u64 = 256 * 1024;

/// Checks the shell scripts of all tools.
pub(super) fn check(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let env_file = beginning(&catalog.paths.server.join("env.sh"), LONGEST);
    let common = ServerConfig::read(&catalog.paths, &mut Vec::new()).variables;
    let is_script = |tool: &Tool| !tool.is_function() && !matches!(tool.execution, Execution::Command { .. });
    for tool in catalog.tools.items().iter().filter(|tool| is_script(tool)) {
        let text = beginning(&tool.script, LONGEST);
        let is_shell = interpreter_name(text.lines().next().unwrap_or_default())
            .is_some_and(|name| SHELLS.contains(&name));
        if !is_shell {
            continue;
        }
        let ShellTraps { questions, variables } = shell_traps(&text);
        for question in questions {
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
                Diagnostic::warning(&tool.script, problem, remedy),
            ));
        }
        for name in variables
            .iter()
            .filter(|name| !is_received(tool, &common, name) && !env_file.contains(name.as_str()))
        {
            let problem = format!("reads the variable `{name}`, which it does not receive");
            let remedy =
                format!("add \"env\": [\"{name}\"] to its metadata, or give it a default (`${{{name}:-}}`)");
            found.push(at(&text, name, Diagnostic::warning(&tool.script, problem, &remedy)));
        }
    }
}

/// Whether metadata gives the variable to the tool.
fn is_received(tool: &Tool, common: &[String], name: &str) -> bool {
    let mapped = tool
        .execution
        .mapping()
        .is_some_and(|mapping| mapping.variables.iter().any(|variable| variable.name == name));
    let is_secret = tool.options.secrets.iter().any(|need| need.variable == name);
    mapped || is_secret || tool.options.variables.iter().chain(common).any(|variable| variable == name)
}

/// The diagnostic, at the first line with the word.
fn at(text: &str, word: &str, diagnostic: Diagnostic) -> Diagnostic {
    let is_there = |line: &str| !line.trim_start().starts_with('#') && line.contains(word);
    match text.lines().position(is_there) {
        Some(line) => diagnostic.at_line(line as u64 + 1),
        None => diagnostic,
    }
}
