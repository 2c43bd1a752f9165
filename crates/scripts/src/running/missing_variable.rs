//! Missing variables: why a script did not receive a variable that it reads. With `set -u`, the message of the shell names it;
//! otherwise, the text of the script is searched.

use mcp_bash_project::{Paths, Tool, variables_from_outside};
use mcp_bash_settings::{EnvironmentMode, Settings};
use std::fmt;

/// A variable that a script needs and did not receive.
#[derive(Debug, PartialEq, Eq)]
pub struct MissingVariable {
    name: String,
    /// Whether it is set in the environment of the server.
    is_known: bool,
    /// Whether the metadata names it.
    is_named: bool,
    /// Whether the script reported it.
    is_reported: bool,
}

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, is_known, is_named, is_reported } = self;
        if *is_reported && *is_known {
            write!(f, "The server has the variable `{name}`")?;
        } else if *is_reported {
            write!(f, "The variable `{name}` is not set where the server runs")?;
        } else {
            let why = if *is_known { "the server has it" } else { "it is not set where the server runs" };
            write!(f, "The script reads the variable `{name}` and did not receive it: {why}")?;
        }
        let (joint, separator) = if *is_known {
            (", but scripts receive only the variables that their metadata names", ";")
        } else {
            ("; set it in the configuration of your client (`env`)", ", and")
        };
        f.write_str(joint)?;
        if !is_named {
            write!(f, "{separator} add \"env\": [\"{name}\"] to the metadata of this tool")?;
        }
        f.write_str(".")
    }
}

/// The variable whose absence explains why a script failed: the one that `errors` reports as missing, or else one that the
/// script reads. The script is read for that, so this is only for calls that failed.
pub fn missing_variable(
    tool: &Tool,
    paths: &Paths,
    settings: &Settings,
    errors: &str,
) -> Option<MissingVariable> {
    if let Some(name) = errors.lines().rev().find_map(named_in) {
        return missing(tool, settings, name, true);
    }
    // Another host has other variables.
    if tool.options.launcher.as_ref().is_some_and(|launcher| !launcher.is_here()) {
        return None;
    }
    let read = variables_from_outside(tool, paths);
    read.iter().find_map(|name| missing(tool, settings, name, false))
}

/// `None` if the script received the server's variable.
fn missing(tool: &Tool, settings: &Settings, name: &str, is_reported: bool) -> Option<MissingVariable> {
    let is_passed = match &settings.environment_mode {
        EnvironmentMode::Inherit => true,
        EnvironmentMode::Allowlist(names) => names.iter().any(|allowed| allowed == name),
        EnvironmentMode::Minimal | EnvironmentMode::Refused(_) => false,
    };
    let of_all = settings.project_variables.iter().chain(&settings.chosen_variables);
    let is_named = tool.options.variables.iter().chain(of_all).any(|variable| variable == name);
    let is_known = std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_known && (is_passed || is_named) {
        return None;
    }
    Some(MissingVariable { name: name.to_owned(), is_known, is_named, is_reported })
}

/// The name in a message of a shell (`X: unbound variable`, `X: parameter not set`, and the text of `${X:?text}`) or of Python
/// (`KeyError: 'X'`).
fn named_in(line: &str) -> Option<&str> {
    if let Some(key) = line.strip_prefix("KeyError: '") {
        return key.strip_suffix('\'').filter(|name| is_name(name));
    }
    let parts: Vec<&str> = line.split(": ").collect();
    let place = parts.iter().position(|part| is_name(part))?;
    // A shell names the script and the line first: `x.sh: line 4: X: …` or `x.sh: 4: X: …`.
    let is_behind_line = place
        .checked_sub(1)
        .and_then(|before| parts.get(before))
        .is_some_and(|line| line.trim_start_matches("line ").parse::<u32>().is_ok());
    let says = parts.get(place + 1)?;
    let is_missing_program =
        says.contains("not found") || says.contains("No such file") || says.contains("denied");
    (is_behind_line && !is_missing_program).then_some(parts[place])
}

/// Whether a word looks like the name of an environment variable that is not one of ours.
fn is_name(word: &str) -> bool {
    let is_upper =
        |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    word.len() > 1
        && word.starts_with(|first: char| first.is_ascii_uppercase() || first == '_')
        && word.chars().all(is_upper)
        && !word.starts_with("MCP_")
        && !word.starts_with("MCPBASH_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_shells_and_python_name_the_variable() {
        for line in [
            "tools/x/tool.sh: line 4: API_TOKEN: unbound variable",
            "tools/x/tool.sh: line 4: API_TOKEN: parameter null or not set",
            "tools/x/tool.sh: 4: API_TOKEN: parameter not set",
            "/a b/tool.sh: line 12: API_TOKEN: set it to your token: see the page",
            "KeyError: 'API_TOKEN'",
        ] {
            assert_eq!(named_in(line), Some("API_TOKEN"), "{line}");
        }
        for line in [
            "tool.sh: line 4: API_TOKEN: command not found",
            "tool.sh: line 4: token: unbound variable",
            "ERROR: something is wrong",
            "2026: line 4: ERROR",
            "KeyError: 'name'",
            "tool.sh: line 4: MCP_SDK: unbound variable",
            "",
        ] {
            assert_eq!(named_in(line), None, "{line}");
        }
    }
}
