//! Project health checks: runs `server.d/health-checks.sh` for people and for `--health`.

use mcp_bash_project::Paths;
use mcp_bash_scripts::{Outcome, Scripts};
use mcp_bash_terminal::tell;
use std::time::Duration;

/// Runs the checks of a project and shows their output. `None` if it has none, otherwise whether they passed or why they
/// did not run.
pub(crate) fn run(scripts: &Scripts, paths: &Paths) -> Option<Result<(), String>> {
    let timeout = scripts.settings().health_timeout;
    match scripts.check_health(paths, timeout) {
        Ok(outcome) => outcome.map(|outcome| {
            let printed = outcome.errors();
            if !printed.is_empty() {
                tell(printed.strip_suffix('\n').unwrap_or(&printed));
            }
            verdict(&outcome, timeout)
        }),
        Err(error) => Some(Err(error.to_string())),
    }
}

fn verdict(outcome: &Outcome, timeout: Duration) -> Result<(), String> {
    match outcome.exit_status() {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("server.d/health-checks.sh failed: {status}")),
        None => Err(format!("server.d/health-checks.sh did not end within {} s", timeout.as_secs())),
    }
}
