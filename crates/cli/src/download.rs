//! `mcp-bash download`: a file from the public internet, for scripts. What may be reached is what may be reached as a
//! resource.

use crate::arguments::DownloadArguments;
use crate::error::Error;
use mcp_bash_fetch::{Download, HostList, HostListError, Https, HttpsPolicy, download};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Prints what came of it as one line of JSON: exit 0 if the file is there, 1 if not.
pub(crate) fn run(arguments: &DownloadArguments) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Start)?;
    let (report, is_there) = match request(arguments) {
        Err(error) => (refused(&error.to_string()), false),
        Ok((request, policy)) => match runtime.block_on(download(&request, &Https::new(policy))) {
            Ok(downloaded) => (downloaded.to_json(), true),
            Err(error) => (error.to_json(), false),
        },
    };
    // Whoever closed our output does not want to know.
    let _ = writeln!(std::io::stdout(), "{report}");
    Ok(if is_there { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refused(why: &str) -> Value {
    json!({ "success": false, "error": { "type": "invalid_params", "message": why } })
}

fn request(arguments: &DownloadArguments) -> Result<(Download, HttpsPolicy), HostListError> {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let mut policy = HttpsPolicy::default();
    policy.hosts.allow = HostList::parse(&setting("MCPBASH_HTTPS_ALLOW_HOSTS"))?;
    policy.hosts.deny = HostList::parse(&setting("MCPBASH_HTTPS_DENY_HOSTS"))?;
    policy.hosts.allow_all = setting("MCPBASH_HTTPS_ALLOW_ALL") == "true";
    if let Ok(seconds) = setting("MCPBASH_HTTPS_TIMEOUT").parse() {
        policy.timeout = Duration::from_secs(seconds);
    }
    if let Ok(bytes) = setting("MCPBASH_HTTPS_MAX_BYTES").parse() {
        policy.max_bytes = bytes;
    }
    let delay = Duration::try_from_secs_f64(arguments.retry_delay).unwrap_or(Duration::from_secs(1));
    let request = Download {
        url: arguments.url.clone(),
        out: arguments.out.clone(),
        allow: HostList::parse(&arguments.allow_host.join(","))?,
        deny: HostList::parse(&arguments.deny_host.join(","))?,
        max_bytes: arguments.max_bytes,
        timeout: arguments.timeout.map(Duration::from_secs),
        user_agent: arguments.user_agent.clone(),
        attempts: arguments.retry.max(1),
        delay,
    };
    Ok((request, policy))
}
