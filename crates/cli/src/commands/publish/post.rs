//! The request to the registry, and what its answer means.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::end_signals::EndSignals;
use mcp_bash_fetch::{FetchError, OperatorClient, OperatorUrl, Reply};
use mcp_bash_secrets::Secret;
use mcp_bash_terminal::harmless_line;
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::runtime::Builder;

const VARIABLE: &str = "MCP_REGISTRY_URL";
const OFFICIAL: &str = "https://registry.modelcontextprotocol.io";
/// The longest answer, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;
/// The most of an answer that is shown, in characters.
const MOST_SHOWN: usize = 300;

/// The registry that is published to.
pub(super) struct Registry {
    url: OperatorUrl,
    shown: String,
}

impl Registry {
    /// The official one, unless the environment names another.
    pub(super) fn of_environment() -> Result<Self, Error> {
        let named = std::env::var(VARIABLE).ok().filter(|url| !url.trim().is_empty());
        let base = named.as_deref().unwrap_or(OFFICIAL).trim().trim_end_matches('/');
        let url = OperatorUrl::parse(&format!("{base}/v0/publish")).map_err(|error| {
            Error::of_command(Exit::Usage, format!("{VARIABLE} is no URL of a registry, `{base}`: {error}"))
        })?;
        Ok(Self { url, shown: base.to_owned() })
    }

    /// Sends an entry, once.
    pub(super) fn publish(&self, entry: &Value, token: &Secret, limit: Duration) -> Result<(), Error> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| Error::Start { source })?;
        let mut signals = EndSignals::catch(&runtime)?;
        let client = OperatorClient::new(limit, LONGEST);
        let secret = String::from_utf8_lossy(token.reveal()).into_owned();
        let authorization = format!("Bearer {secret}");
        let headers = [("authorization", authorization.as_str())];
        let reply = runtime.block_on(async {
            tokio::select! {
                biased;
                () = signals.next() => None,
                reply = client.post_json(&self.url, &headers, entry.to_string()) => Some(reply),
            }
        });
        let interrupted =
            || Error::of_command(Exit::Interrupted, "interrupted; the registry may have the entry already");
        let reply = reply.ok_or_else(interrupted)?.map_err(|error| unreachable(&error))?;
        self.judge(&reply, &secret)
    }

    fn judge(&self, reply: &Reply, secret: &str) -> Result<(), Error> {
        let json: Value = serde_json::from_slice(&reply.bytes).unwrap_or_default();
        let reasons = reasons(&json, &reply.bytes).replace(secret, "…");
        match reply.status {
            200..=299 if json.is_object() => Ok(()),
            401 | 403 => {
                let words = format!(
                    "{self} does not accept the token (HTTP {}): {reasons}; tokens are valid for minutes, so log in again with \
                     `mcp-publisher login`, and as an owner of the namespace",
                    reply.status
                );
                Err(Error::of_command(Exit::Refused, words))
            }
            400 | 409 | 422 => {
                Err(Error::of_command(Exit::Failed, format!("{self} refuses the entry: {reasons}")))
            }
            status => {
                let words = format!(
                    "{self} answered with HTTP {status} and no entry ({reasons}); is {VARIABLE} right?"
                );
                Err(Error::of_command(Exit::NoServer, words))
            }
        }
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

fn unreachable(error: &FetchError) -> Error {
    let exit = if matches!(error, FetchError::NoAnswer { .. }) { Exit::TimedOut } else { Exit::NoServer };
    Error::of_command(exit, format!("the entry was not published: {error}"))
}

/// The reasons in an answer: those of problem details (RFC 9457), otherwise its beginning.
fn reasons(json: &Value, bytes: &[u8]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(json["detail"].as_str().or_else(|| json["error"].as_str()).map(str::to_owned));
    for error in json["errors"].as_array().into_iter().flatten() {
        let place = error["location"].as_str().map(|place| format!("{place}: ")).unwrap_or_default();
        reasons.extend(error["message"].as_str().map(|message| format!("{place}{message}")));
    }
    let words = if reasons.is_empty() {
        String::from_utf8_lossy(bytes).trim().to_owned()
    } else {
        reasons.join("; ")
    };
    let words: String = words.chars().take(MOST_SHOWN).collect();
    if words.is_empty() { "it gave no reason".to_owned() } else { harmless_line(&words) }
}
