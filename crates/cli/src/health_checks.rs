//! `server.d/health-checks.sh`: what a project itself wants to be looked at before it is called healthy.

use mcp_bash_project::{Paths, environment_without_secret, trust};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest checks that are run, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// How long the checks may take, where `MCPBASH_HEALTH_TIMEOUT_SECS` does not say.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The functions a check is written with. What it prints is for people, so it goes to standard error.
const PRELUDE: &str = r#"
exec 1>&2
_mcp_checked() { if [ "$1" = 0 ]; then printf '  ✓ %s\n' "$2"; else printf '  ✗ %s (%s)\n' "$2" "$3"; fi; return "$1"; }
mcp_health_check_command() {
	command -v "$1" >/dev/null 2>&1
	_mcp_checked $? "${2:-Required command: $1}" 'not found in PATH'
}
mcp_health_check_env() {
	[ -n "${!1:-}" ]
	_mcp_checked $? "${2:-Required env var: $1}" 'not set'
}
. /dev/stdin
"#;

/// Runs the checks of a project. Nothing where it has none, else whether they passed or why they did not run.
pub(crate) fn run(paths: &Paths) -> Option<Result<(), String>> {
    match trust::read(&paths.server.join("health-checks.sh"), &paths.root, LONGEST) {
        Ok(text) => text.map(|text| attend(paths, text)),
        Err(distrust) => Some(Err(format!("server.d/health-checks.sh is not trusted: {distrust}"))),
    }
}

fn attend(paths: &Paths, text: Vec<u8>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("server.d/health-checks.sh cannot be run: {error}");
    let mut child = Command::new("bash")
        .args(["-c", PRELUDE, "health-checks.sh"])
        .current_dir(&paths.root)
        .env_clear()
        .envs(environment_without_secret())
        .env("MCPBASH_PROJECT_ROOT", &paths.root)
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // One that ends before it has read itself says so by its exit code, and one that never reads is not waited for.
        std::thread::spawn(move || input.write_all(&text));
    }
    let outcome = wait(&mut child);
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    outcome
}

fn wait(child: &mut Child) -> Result<(), String> {
    let setting = std::env::var("MCPBASH_HEALTH_TIMEOUT_SECS").ok().and_then(|text| text.parse().ok());
    let timeout = setting.filter(|seconds| *seconds > 0).map_or(TIMEOUT, Duration::from_secs);
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("server.d/health-checks.sh failed: {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(format!("server.d/health-checks.sh did not end within {} s", timeout.as_secs()))
}
