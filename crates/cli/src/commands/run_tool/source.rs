//! Sourced files: `--source`, and `server.d/env.sh` with `--with-server-env`, before a tool is run. Their exports apply to
//! everything after them, settings included, and reach the tool. So bash sources them, in a process group of its own and
//! with a timeout, and then executes this program with the same words, which notices that its parent waits for it and
//! prints its environment. With that environment the parent starts again; the difference is what the files did.

use super::Arguments;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::Failure;
use crate::open::end_signals::EndSignals;
use mcp_bash_project::trust;
use mcp_bash_terminal::tell;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// The variable that names the process whose files are sourced, since its id stays the same, and the environment before: a
/// line for each variable, with the digest of its value.
const BEFORE: &str = "__MCP_BASH_BEFORE_SOURCE";

/// The prefix of that value if the process waits for the one that has the variable.
const WAITS: &str = "for ";

/// Variables that every shell sets for itself.
const OF_THE_SHELL: [&str; 6] = ["_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", BEFORE];

/// The largest file that is sourced, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The timeout of all files together without `--timeout`, as for `server.d/env.sh`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The exit code of bash after it has reported the problem.
const TOLD: i32 = 2;

/// Sources each file without input and with its output on standard error, then executes the program, which prints its
/// environment to the original standard output. The first word is the program, then come the number of files, the files,
/// and the words of the command line.
const SOURCE: &str = r#"
__mcp_bash_program=$1 __mcp_bash_files=("${@:3:$2}")
shift "$((2 + $2))"
__mcp_bash_words=("$@")
set --
exec 3>&1 1>&2 </dev/null
trap 'printf "mcp-bash: %s ends the shell with exit; use return\n" "$__mcp_bash_file" >&2; exit 2' EXIT
for __mcp_bash_file in "${__mcp_bash_files[@]}"; do
	if . "$__mcp_bash_file" 3>&-; then :; else
		printf 'mcp-bash: %s ended with status %s; where its last line is a test that may fail, add a line `true`\n' "$__mcp_bash_file" "$?" >&2
		trap - EXIT
		exit 2
	fi
done
trap - EXIT
exec "$__mcp_bash_program" "${__mcp_bash_words[@]}" 1>&3 3>&-
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
    #[error("{files} did not end within {} s{}", limit.as_secs(), if *is_usual { "; --timeout gives more" } else { "" })]
    TimedOut { files: String, limit: Duration, is_usual: bool },
    #[error("{files} ended the shell ({status}); use return")]
    Ended { files: String, status: ExitStatus },
    #[error("the environment after the env files cannot be used: {0}")]
    Restart(std::io::Error),
}

/// A file that is to be sourced.
pub(super) struct EnvFile {
    pub(super) path: PathBuf,
    /// `server.d/env.sh`, which is optional.
    pub(super) is_of_server: bool,
}

/// The files to source, in order. Relative paths start in the project.
pub(super) fn files(root: &Path, arguments: &Arguments) -> Vec<EnvFile> {
    let by_variable = std::env::var_os("MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV");
    let is_wanted = by_variable.is_some_and(|value| value == "1" || value == "true");
    let of_server = (arguments.with_server_env || is_wanted)
        .then(|| EnvFile { path: root.join("server.d/env.sh"), is_of_server: true });
    let named = arguments.source.iter().map(|path| EnvFile { path: root.join(path), is_of_server: false });
    of_server.into_iter().chain(named).collect()
}

/// Sources the files and starts again, unless that was done or there are none.
pub(super) fn restart_with(
    root: &Path,
    files: &[EnvFile],
    is_verbose: bool,
    seconds: Option<u64>,
) -> Result<(), Error> {
    if files.is_empty() || before().is_some() {
        return Ok(());
    }
    if process_that_waits() == Some(parent_id()) {
        return print_environment();
    }
    let paths = trusted(root, files, is_verbose)?;
    if paths.is_empty() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|source| Error::Start { source })?;
    let before = written_environment();
    let mut bash = Command::new("bash");
    bash.args(["-c", SOURCE, "run-tool"])
        .arg(&program)
        .arg(paths.len().to_string())
        .args(&paths)
        .args(std::env::args_os().skip(1))
        .env(BEFORE, format!("{WAITS}{before}"))
        .stdout(Stdio::piped())
        .process_group(0);
    let environment = environment_after(bash, &paths, seconds)?;
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1)).env_clear().envs(environment).env(BEFORE, before);
    let failed = again.exec();
    Err(Error::of_command(Exit::Failed, SourceError::Restart(failed)))
}

/// The paths of the existing files, each of which is trusted.
fn trusted(root: &Path, files: &[EnvFile], is_verbose: bool) -> Result<Vec<PathBuf>, Error> {
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
            // A closed standard error is not a failure.
            tell(&format!("run-tool: sourcing {}", path.display()));
        }
        paths.push(path);
    }
    Ok(paths)
}

/// The output of bash at its end. After a timeout or a signal, nothing of it is left running.
fn environment_after(
    mut bash: Command,
    files: &[PathBuf],
    seconds: Option<u64>,
) -> Result<Vec<(OsString, OsString)>, Error> {
    let files = || files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let start = |source| Error::Start { source };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(start)?;
    // Before there is anything that a signal could leave behind.
    let mut signals = EndSignals::catch(&runtime)?;
    let bash = bash.spawn();
    let mut bash = bash.map_err(|error| Error::of_command(Exit::Failed, SourceError::NoBash(error)))?;
    let (printed, all) = oneshot::channel();
    let output = bash.stdout.take();
    std::thread::Builder::new()
        .name("env files".into())
        .spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.map(|mut output| output.read_to_end(&mut bytes));
            // A receiver that is gone has terminated bash.
            let _ = printed.send(bytes);
        })
        .map_err(start)?;
    let limit = seconds.map_or(TIMEOUT, Duration::from_secs);
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            () = signals.next() => Err(Failure::Interrupted.into()),
            all = tokio::time::timeout(limit, all) => all.map_err(|_| {
                let (files, is_usual) = (files(), seconds.is_none());
                Error::of_command(Exit::TimedOut, SourceError::TimedOut { files, limit, is_usual })
            }),
        }
    });
    if ended.is_err() {
        // It is not reaped yet, so the id is still that of its group.
        let group = i32::try_from(bash.id()).ok().and_then(Pid::from_raw);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }
    let status = bash.wait().map_err(start)?;
    let bytes = ended?.unwrap_or_default();
    if status.code() == Some(TOLD) && bytes.is_empty() {
        std::process::exit(Exit::Usage.number().into());
    }
    if !status.success() || bytes.is_empty() {
        return Err(Error::of_command(Exit::Usage, SourceError::Ended { files: files(), status }));
    }
    let variables = bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let end = variable.iter().position(|byte| *byte == b'=')?;
        let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_owned());
        Some((owned(&variable[..end]), owned(&variable[end + 1..])))
    });
    Ok(variables.collect())
}

/// Prints the environment of this process for its parent, and exits.
fn print_environment() -> Result<(), Error> {
    let mut bytes = Vec::new();
    for (name, value) in std::env::vars_os() {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    let printed = std::io::stdout().write_all(&bytes).and_then(|()| std::io::stdout().flush());
    printed.map_err(|error| Error::of_command(Exit::Failed, error))?;
    std::process::exit(Exit::Done.number().into());
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

/// The environment before this process sourced its files, if it did.
fn before() -> Option<String> {
    let before = std::env::var(BEFORE).ok()?;
    let (process, variables) = before.split_once('\n')?;
    (process == std::process::id().to_string()).then(|| variables.to_owned())
}

/// The process that waits for the environment of this one, if any does.
fn process_that_waits() -> Option<u32> {
    let before = std::env::var(BEFORE).ok()?;
    before.strip_prefix(WAITS)?.split_once('\n')?.0.parse().ok()
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
