//! Wrapper script: starts the project in its own folder, or else the one that it was made for, for clients that only take a
//! file to run.

use super::ConfigError;
use crate::base::error::Error;
use crate::terminal::print::print;
use mcp_bash_entries::Entry;
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::{Terminal, tell};
use std::io::{self, Write};
use std::path::Path;

/// Writes it: on a terminal into the project, otherwise to standard output.
pub(super) fn make(root: &Path, entry: &Entry, with_environment: bool) -> Result<(), Error> {
    let text = script(entry, with_environment);
    if !Terminal::of_stdout().is_one() {
        return print(&text);
    }
    let path = root.join(format!("{}.sh", entry.name));
    let file = mcp_bash_files::create_new(&path, 0o755);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => {
            tell(&format!("Wrapper script created: {}", path.display()));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(ConfigError::WrapperExists(path).into())
        }
        Err(source) => Err(Error::Write { path, source }),
    }
}

fn script(entry: &Entry, with_environment: bool) -> String {
    let variables: String = entry.env.iter().fold(String::new(), |text, (name, value)| {
        format!("{text}export {}\n", shell_word(&format!("{name}={value}")))
    });
    START.replace("@PROJECT@", &shell_word(entry.project_root().unwrap_or_default()))
        + if with_environment { LOGIN_ENVIRONMENT } else { "" }
        + &variables
        + &PROGRAM.replace("@PROGRAM@", &program(entry))
}

/// The words before ours, for a shell.
fn program(entry: &Entry) -> String {
    let words = [&entry.command].into_iter().chain(entry.split_args().0);
    words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

const START: &str = r#"#!/usr/bin/env bash
# Starts the project in this folder as an MCP server, or the one below if this folder is none. Made by `mcp-bash config`.
set -euo pipefail

project=@PROJECT@
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in server.d/server.meta.json tools resources prompts; do
	if [[ -e $folder/$part ]]; then project=$folder; fi
done
"#;

/// A login shell may print a greeting to standard output before the variables: the first NUL ends that.
const LOGIN_ENVIRONMENT: &str = r#"
# A desktop application gives us few variables: take those of the login shell that are not set, and its PATH.
while IFS= read -r -d '' pair; do
	name=${pair%%=*}
	[[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || continue
	case $name in _ | SHLVL | PWD | OLDPWD) continue ;; esac
	[[ $name == PATH || -z ${!name+set} ]] || continue
	export "$name=${pair#*=}" 2>/dev/null || true
done < <("${SHELL:-/bin/bash}" -lic 'printf "\0"; env -0' </dev/null 2>/dev/null)
"#;

const PROGRAM: &str = r#"
program=(@PROGRAM@)
if ! command -v "${program[0]}" >/dev/null; then
	program=("$(command -v mcp-bash || printf '%s' "$HOME/.local/bin/mcp-bash")")
fi
if ! command -v "${program[0]}" >/dev/null; then
	echo "mcp-bash is neither in PATH nor in ~/.local/bin: install it first" >&2
	exit 1
fi
export MCPBASH_TOOL_ALLOWLIST="${MCPBASH_TOOL_ALLOWLIST:-*}"
exec "${program[@]}" --project-root "$project" "$@"
"#;
