//! Remote server: the flags that name a server over HTTP, and the token for it.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_client::Remote;

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RemoteArguments {
    /// Talk to the server at this URL instead, e.g. `https://example.com/mcp`
    #[arg(long, value_name = "URL", conflicts_with = "project_root")]
    pub(crate) url: Option<String>,

    /// The environment variable with the token for the server at `--url`
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) token_env: Option<String>,
}

impl RemoteArguments {
    /// The flags as the user gave them.
    pub(crate) fn flags(&self) -> Vec<String> {
        let flags = [("--url", &self.url), ("--token-env", &self.token_env)];
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]));
        given.flatten().collect()
    }

    /// The server, if one is named. The token is in the environment, and never on a command line that others can see.
    pub(crate) fn read(&self) -> Result<Option<Remote>, Error> {
        let usage = |words: String| Error::of_command(Exit::Usage, words);
        let Some(url) = &self.url else { return Ok(None) };
        let token = match &self.token_env {
            None => None,
            Some(name) if is_name(name) => {
                let value = std::env::var(name).unwrap_or_default();
                if value.trim().is_empty() {
                    return Err(usage(format!(
                        "{name}, which `--token-env` names, is not set; set it to the token"
                    )));
                }
                Some((name.as_str(), value))
            }
            // It may be the token itself, and is not repeated.
            Some(_) => {
                let words =
                    "`--token-env` takes the name of an environment variable, and not the token itself";
                return Err(usage(words.to_owned()));
            }
        };
        let token = token.as_ref().map(|(name, value)| (*name, value.as_str()));
        Remote::new(url, token).map(Some).map_err(|error| Error::of_command(Exit::Usage, error))
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.starts_with("mcpb_")
        && name.bytes().all(is_part)
}
