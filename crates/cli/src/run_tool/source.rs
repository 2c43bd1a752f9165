//! Files that are sourced before a tool is run: `--source`, and `server.d/env.sh` with `--with-server-env`. What they export
//! counts for everything after them, settings included, and reaches the tool. So bash sources them and then becomes this
//! program again, with the same words; what looks different in its environment then is what the files did.

use super::Arguments;
use crate::error::Error;
use crate::exit::Exit;
use mcp_bash_project::trust;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// The variable that says which process has sourced its files, since it stays the same one, and what its environment was
/// before: a line for each variable, with the digest of its value.
const BEFORE: &str = "__MCP_BASH_BEFORE_SOURCE";

/// What every shell sets for itself.
const OF_THE_SHELL: [&str; 6] = ["_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", BEFORE];

/// The longest file that is sourced, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// Sources each file with nothing to read and nothing to print but on standard error, then becomes the program again. The
/// first word is the program, then how many files there are, the files, and the words of the command line.
const SOURCE: &str = r#"
__mcp_bash_program=$1 __mcp_bash_files=$2
shift 2
trap 'printf "mcp-bash: %s ends the shell with exit; use return\n" "$__mcp_bash_file" >&2; exit 2' EXIT
while [ "$__mcp_bash_files" -gt 0 ]; do
	__mcp_bash_file=$1 __mcp_bash_files=$((__mcp_bash_files - 1))
	shift
	if . "$__mcp_bash_file" </dev/null 1>&2; then :; else
		printf 'mcp-bash: %s ended with status %s; where its last line is a test that may fail, add a line `true`\n' "$__mcp_bash_file" "$?" >&2
		trap - EXIT
		exit 2
	fi
done
trap - EXIT
exec "$__mcp_bash_program" "$@"
"#;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
enum SourceError {
    #[error("env file not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("env file {} is not trusted: {why}", file.display())]
    Distrusted { file: PathBuf, why: trust::Distrust },
    #[error("env files need bash, which cannot be started: {0}")]
    NoBash(std::io::Error),
}

/// A file that is to be sourced.
pub(super) struct EnvFile {
    pub(super) path: PathBuf,
    /// `server.d/env.sh`, which need not be there.
    pub(super) is_of_server: bool,
}

/// The files that are to be sourced, in their order. Relative paths are those of the project.
pub(super) fn files(root: &Path, arguments: &Arguments) -> Vec<EnvFile> {
    let by_variable = std::env::var_os("MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV");
    let is_wanted = by_variable.is_some_and(|value| value == "1" || value == "true");
    let of_server = (arguments.with_server_env || is_wanted)
        .then(|| EnvFile { path: root.join("server.d/env.sh"), is_of_server: true });
    let named = arguments.source.iter().map(|path| EnvFile { path: root.join(path), is_of_server: false });
    of_server.into_iter().chain(named).collect()
}

/// Has the files sourced and starts again, unless that was done or there are none.
pub(super) fn restart_with(root: &Path, files: &[EnvFile], is_verbose: bool) -> Result<(), Error> {
    if files.is_empty() || before().is_some() {
        return Ok(());
    }
    let usage = |error| Error::of_command(Exit::Usage, error);
    let mut paths = Vec::new();
    for file in files {
        let path = file.path.canonicalize();
        let path = match path {
            Ok(path) if path.is_file() => path,
            Err(error) if error.kind() == ErrorKind::NotFound && file.is_of_server => continue,
            _ => return Err(usage(SourceError::NotFound(file.path.clone()))),
        };
        let judged = trust::read(&path, root, LONGEST);
        judged.map_err(|why| {
            Error::of_command(Exit::Refused, SourceError::Distrusted { file: path.clone(), why })
        })?;
        if is_verbose {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(std::io::stderr(), "run-tool: sourcing {}", path.display());
        }
        paths.push(path);
    }
    if paths.is_empty() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|source| Error::Start { source })?;
    let failed = Command::new("bash")
        .args(["-c", SOURCE, "run-tool"])
        .arg(program)
        .arg(paths.len().to_string())
        .args(paths)
        .args(std::env::args_os().skip(1))
        .env(BEFORE, written_environment())
        .exec();
    Err(Error::of_command(Exit::Failed, SourceError::NoBash(failed)))
}

/// The variables that sourced files have set or changed.
pub(super) fn chosen_variables() -> Vec<String> {
    let Some(before) = before() else { return Vec::new() };
    let known: HashSet<&str> = before.lines().collect();
    let names = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let is_new = !known.contains(&*line_of(&name, &value)) && !OF_THE_SHELL.contains(&&*name);
        is_new.then_some(name)
    });
    names.collect()
}

/// The environment as it was before this process sourced its files, if it did.
fn before() -> Option<String> {
    let before = std::env::var(BEFORE).ok()?;
    let (process, variables) = before.split_once('\n')?;
    (process == std::process::id().to_string()).then(|| variables.to_owned())
}

fn written_environment() -> String {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some(line_of(&name.into_string().ok()?, &value)));
    let lines: Vec<String> = std::iter::once(std::process::id().to_string()).chain(variables).collect();
    lines.join("\n")
}

fn line_of(name: &str, value: &OsStr) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{name}={:x}", hasher.finish())
}
