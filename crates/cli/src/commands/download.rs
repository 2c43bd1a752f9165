//! `mcp-bash download`: fetches a file from the public internet, for scripts. The allowed hosts are those of resources.

use crate::base::error::Error;
use crate::open::startup;
use crate::terminal::print::print;
use clap::Args;
use mcp_bash_fetch::{Download, HostList, Https, HttpsPolicy, download};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  mcp-bash download https://example.com/data.json --out data.json --allow-host example.com
  mcp-bash download https://example.com/big.bin --out big.bin --max-bytes 1000000 --retry 3";

#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The https URL of the file
    pub(crate) url: String,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The maximum size in bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_bytes: Option<u64>,
    /// The timeout in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// The number of attempts
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub(crate) retry: u32,
    /// Seconds before the second attempt; doubled for each further one
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) retry_delay: f64,
    /// An allowed host, instead of those in `MCPBASH_HTTPS_ALLOW_HOSTS`
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// A denied host, in addition to those in `MCPBASH_HTTPS_DENY_HOSTS`
    #[arg(long, value_name = "HOST")]
    pub(crate) deny_host: Vec<String>,
    /// The User-Agent header
    #[arg(long, value_name = "WORDS")]
    pub(crate) user_agent: Option<String>,
}

/// Prints the outcome as one line of JSON: exit 0 if the file was written, 1 if not.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Start { source })?;
    let (report, is_there) = match request(arguments) {
        Err(report) => (report, false),
        Ok((request, policy)) => match runtime.block_on(download(&request, &Https::new(policy))) {
            Ok(downloaded) => (downloaded.to_json(), true),
            Err(error) => (error.to_json(), false),
        },
    };
    print(&format!("{report}\n"))?;
    Ok(if is_there { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refused(why: &str) -> Value {
    json!({ "success": false, "error": { "type": "invalid_params", "message": why } })
}

/// The request, or the report of what is wrong with it.
fn request(arguments: &Arguments) -> Result<(Download, HttpsPolicy), Value> {
    let (settings, problems) = startup::settings();
    // A list that cannot be read may have denied this very host.
    if let Some(problem) = problems.iter().find(|problem| problem.fatal) {
        return Err(refused(&problem.to_string()));
    }
    let hosts =
        |list: &[String]| HostList::parse(&list.join(",")).map_err(|error| refused(&error.to_string()));
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
