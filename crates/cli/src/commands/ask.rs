//! `mcp-bash ask`: lets a script in any language ask the client of its call. It is made for the SDKs; run by hand, it has
//! no client to ask.

use crate::base::error::Error;
use crate::terminal::print::print;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples (inside a script that a client has called):
  mcp-bash ask roots/list '{}'
  mcp-bash ask all '{\"folders\":{\"method\":\"roots/list\"},\"who\":{\"method\":\"elicitation/create\",\"params\":{…}}}'
  echo \"$params\" | mcp-bash ask elicitation/create - --timeout 60

Exit codes: 0 the client answered with a result, 1 it did not.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`; `all` for several questions at once
    method: String,
    /// The params as JSON, or `-` to read them from standard input; for `all` an object of questions by name
    params: String,
    /// The name of the question [default: `MCP_ASK_NAME`]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Seconds to wait for an answer [default: 300, or `MCPBASH_PARKED_TIMEOUT_SECS` for a client without a session]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

/// Prints the answer as one line of JSON: exit 0 if it holds a result, 1 if not.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let answer = match arguments.params.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(Error::Ask)?;
            ask(arguments, &text)
        }
        params => ask(arguments, params),
    };
    let answer = answer.map_err(Error::Ask)?;
    let is_result = answer.starts_with("{\"result\":");
    print(&format!("{answer}\n"))?;
    Ok(if is_result { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks, and waits as long as the server does.
fn ask(arguments: &Arguments, params: &str) -> std::io::Result<String> {
    let Arguments { method, timeout, .. } = arguments;
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| {
            std::io::Error::other(format!("{name} is not set: the client of this call cannot be asked"))
        })
    };
    let mut stream = UnixStream::connect(variable("MCP_ASK_SOCKET")?)?;
    let params: serde_json::Value = serde_json::from_str(params)?;
    let question = if method == "all" {
        serde_json::json!({ "questions": params, "timeoutSecs": timeout })
    } else {
        let name = arguments.name.clone().or_else(|| std::env::var("MCP_ASK_NAME").ok());
        serde_json::json!({ "method": method, "params": params, "name": name, "timeoutSecs": timeout })
    };
    write!(stream, "{}\n{question}\n", variable("MCP_ASK_KEY")?)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    match answer.trim_end() {
        "" => Err(std::io::Error::other("the server has hung up")),
        answer => Ok(answer.to_owned()),
    }
}
