//! `server.d/register.sh`: registration by a script, for those who allow it.

use crate::secret::environment_without_secret;
use crate::{Paths, trust};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Why a hook registered nothing. The messages complete "server.d/register.sh ...".
#[derive(Debug, Error)]
pub(crate) enum HookError {
    #[error("is not trusted: {0}")]
    Distrusted(#[from] trust::Distrust),
    #[error("cannot be run: {0}")]
    Start(std::io::Error),
    #[error("did not end within {} s", TIMEOUT.as_secs())]
    TimedOut,
    #[error("printed more than {0} bytes; MCPBASH_MAX_MANUAL_REGISTRY_BYTES sets the limit")]
    TooLarge(u64),
    #[error("failed: {0}")]
    Failed(String),
    #[error("registered something that is not JSON: {0}")]
    NotJson(serde_json::Error),
}

/// The longest hook that is run, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// How long a hook may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The functions a hook registers with. Each entry becomes a line of its kind and its JSON on descriptor 3, where
/// nothing else is written: what the hook prints itself goes another way.
const PRELUDE: &str = r#"
exec 3>&1 1>&2
_mcp_entry() { local payload=${2//$'\n'/ }; printf '%s\t%s\n' "$1" "${payload//$'\r'/ }" >&3; }
_mcp_kind() {
	eval "mcp_$1_manual_begin() { return 0; }
mcp_$1_manual_abort() { return 0; }
mcp_$1_manual_finalize() { return 0; }
mcp_$1_register_manual() { _mcp_entry $2 \"\$1\"; }"
}
_mcp_kind tools tools
_mcp_kind resources resources
_mcp_kind resources_templates resourceTemplates
_mcp_kind prompts prompts
_mcp_kind completion completions
mcp_register_tool() { _mcp_entry tools "$1"; }
mcp_register_resource() { _mcp_entry resources "$1"; }
mcp_register_prompt() { _mcp_entry prompts "$1"; }
. /dev/stdin
"#;

/// What a hook registered, as JSON texts by their kind. A kind it did not speak of is not there.
pub(crate) type Registered = BTreeMap<String, Vec<Box<RawValue>>>;

/// Runs the hook of a project. `None` where it has none.
pub(crate) fn run(paths: &Paths, limit: u64) -> Result<Option<Registered>, HookError> {
    let Some(text) = trust::read(&paths.server.join("register.sh"), &paths.root, LONGEST)? else {
        return Ok(None);
    };
    let mut child = Command::new("bash")
        .args(["-c", PRELUDE, "register.sh"])
        .current_dir(&paths.root)
        .env_clear()
        .envs(environment_without_secret())
        .env("MCPBASH_PROJECT_ROOT", &paths.root)
        .env("MCPBASH_TOOLS_DIR", &paths.tools)
        .env("MCPBASH_SERVER_DIR", &paths.server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(HookError::Start)?;
    let outcome = attend(&mut child, text, limit);
    end(&mut child);
    let (entries, printed) = outcome?;
    registered(&entries, &printed).map(Some)
}

/// Feeds the hook and reads what it says, until it has ended or may not go on.
fn attend(child: &mut Child, text: Vec<u8>, limit: u64) -> Result<(Vec<u8>, Vec<u8>), HookError> {
    let deadline = Instant::now() + TIMEOUT;
    if let Some(mut input) = child.stdin.take() {
        std::thread::spawn(move || input.write_all(&text));
    }
    let (entries, printed) = (read_aside(child.stdout.take(), limit), read_aside(child.stderr.take(), limit));
    let read = |from: &std::sync::mpsc::Receiver<Vec<u8>>| {
        let bytes = from
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            .map_err(|_| HookError::TimedOut)?;
        if bytes.len() as u64 > limit { Err(HookError::TooLarge(limit)) } else { Ok(bytes) }
    };
    let (entries, printed) = (read(&entries)?, read(&printed)?);
    let status = wait(child, deadline)?;
    if status.success() {
        return Ok((entries, printed));
    }
    let said = String::from_utf8_lossy(&printed);
    Err(HookError::Failed(said.lines().last().map_or_else(|| status.to_string(), str::to_owned)))
}

/// Reads a pipe in a thread of its own: to its end, or to one byte more than it may hold.
fn read_aside(pipe: Option<impl Read + Send + 'static>, limit: u64) -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(limit + 1).read_to_end(&mut bytes);
        }
        sender.send(bytes)
    });
    receiver
}

/// Waits for a hook that has closed what it writes to, which it may do long before it ends.
fn wait(child: &mut Child, deadline: Instant) -> Result<ExitStatus, HookError> {
    loop {
        match child.try_wait().map_err(HookError::Start)? {
            Some(status) => return Ok(status),
            None if Instant::now() >= deadline => return Err(HookError::TimedOut),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Entries if there are any, else what the hook printed, if that is a registration as JSON.
fn registered(entries: &[u8], printed: &[u8]) -> Result<Registered, HookError> {
    let mut registered = Registered::new();
    for line in String::from_utf8_lossy(entries).lines() {
        let Some((kind, json)) = line.split_once('\t') else { continue };
        let entry = serde_json::from_str(json).map_err(HookError::NotJson)?;
        registered.entry(kind.to_owned()).or_default().push(entry);
    }
    let is_object = printed.trim_ascii_start().starts_with(b"{");
    if registered.is_empty() && is_object && serde_json::from_slice::<&RawValue>(printed).is_ok() {
        let members: BTreeMap<String, Box<RawValue>> =
            serde_json::from_slice(printed).map_err(HookError::NotJson)?;
        for (kind, entries) in members {
            if entries.get().starts_with('[') {
                registered.insert(kind, serde_json::from_str(entries.get()).map_err(HookError::NotJson)?);
            }
        }
    }
    Ok(registered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_closes_its_output_and_goes_on_is_not_waited_for_beyond_its_time() {
        let mut child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let outcome = wait(&mut child, Instant::now());
        end(&mut child);
        assert!(matches!(outcome, Err(HookError::TimedOut)));
        let mut child = Command::new("true").process_group(0).spawn().unwrap();
        assert!(wait(&mut child, Instant::now() + TIMEOUT).unwrap().success());
    }
}
