//! `mcp-bash download`: a file from the public internet, for scripts. What may be reached is what may be reached as a
//! resource.

use crate::arguments::DownloadArguments;
use crate::error::Error;
use crate::startup;
use mcp_bash_fetch::{Download, HostList, Https, HttpsPolicy, download};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Prints the outcome as one line of JSON: exit 0 if the file is there, 1 if not.
pub(crate) fn run(arguments: &DownloadArguments) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Start { source })?;
    let (report, is_there) = match request(arguments) {
        Err(problem) => (refused(&problem), false),
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

fn request(arguments: &DownloadArguments) -> Result<(Download, HttpsPolicy), String> {
    let (settings, problems) = startup::settings();
    // A list that cannot be read may have denied the very host.
    if let Some(problem) = problems.iter().find(|problem| problem.fatal) {
        return Err(problem.to_string());
    }
    let hosts = |list: &[String]| HostList::parse(&list.join(",")).map_err(|error| error.to_string());
    let policy = settings.resources.https;
    let delay = Duration::try_from_secs_f64(arguments.retry_delay).unwrap_or(Duration::from_secs(1));
    let request = Download {
        url: arguments.url.clone(),
        out: arguments.out.clone(),
        allow: hosts(&arguments.allow_host)?,
        deny: hosts(&arguments.deny_host)?,
        max_bytes: arguments.max_bytes,
        timeout: arguments.timeout.map(Duration::from_secs),
        user_agent: arguments.user_agent.clone(),
        attempts: arguments.retry.max(1),
        delay,
    };
    Ok((request, policy))
}
