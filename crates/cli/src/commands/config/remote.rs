//! Remote entries: what a client needs for a server over HTTP.

use super::{Arguments, ConfigError};
use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::own_entry::OwnEntry;
use mcp_bash_entries::{CLIENTS, Client, Remote, Token, client};
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::tell;
use serde_json::json;

pub(super) fn text(common: &Common, arguments: &Arguments, url: &str) -> Result<String, Error> {
    if !is_address(url) {
        return Err(ConfigError::NoAddress(url.to_owned()).into());
    }
    // With a name for the entry, the project need not be available.
    let name = match &arguments.entry.name {
        Some(name) => name.clone(),
        None => OwnEntry::new(common, &arguments.entry)?.entry.name,
    };
    let variable = arguments.token_env.as_deref();
    let told = |client: &'static Client| snippet(client, &name, url, variable);
    if arguments.json {
        return Ok(format!("{:#}\n", json!({ "name": name, "url": url, "tokenEnv": variable })));
    }
    if arguments.inspector {
        return Ok(inspector(url, variable));
    }
    if let Some(name) = &arguments.client {
        return Ok(told(client(name).map_err(ConfigError::from)?)?);
    }
    // Clients that take no address, or would need a token that is missing, are left out.
    let (mut all, mut without_token) = (Vec::new(), Vec::new());
    for client in CLIENTS {
        match told(client) {
            Ok(snippet) => all.push(format!("# {}\n{snippet}", client.title)),
            Err(ConfigError::NoToken(..)) => without_token.push(client.title),
            Err(error @ ConfigError::Replaced(_)) => {
                tell(&format!("mcp-bash: {} is left out: {error}", client.title));
            }
            Err(_) => {}
        }
    }
    if let Some(variable) = variable.filter(|_| !without_token.is_empty()) {
        tell(&format!(
            "mcp-bash: the variable {variable} is not set, and these want the token itself in their entry: {}",
            without_token.join(", ")
        ));
    }
    Ok(all.join("\n"))
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control()))
}

fn snippet(
    client: &'static Client,
    name: &str,
    url: &str,
    variable: Option<&str>,
) -> Result<String, ConfigError> {
    let token = variable.map(|variable| {
        let value = std::env::var(variable).ok();
        if value.is_none() && client.wants_token_itself() && !client.asks_for_token() {
            return Err(ConfigError::NoToken(variable.to_owned(), client.title));
        }
        Ok(Token { variable: variable.to_owned(), value: value.unwrap_or_default() })
    });
    let remote = Remote { name: client.adapted_name(name), url: url.to_owned(), token: token.transpose()? };
    client.check_remote(&remote)?;
    client.remote_snippet(&remote).ok_or(ConfigError::NoRemote(client))
}

/// A command line for a shell.
fn inspector(url: &str, variable: Option<&str>) -> String {
    let header = variable.map(|variable| format!(" --header \"Authorization: Bearer ${{{variable}}}\""));
    let header = header.unwrap_or_default();
    format!("npx @modelcontextprotocol/inspector --transport http --server-url {}{header}\n", shell_word(url))
}
