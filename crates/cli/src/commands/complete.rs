//! `mcp-bash complete`: what a client would offer while the user types an argument of a prompt or part of a URI.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::get;
use crate::open::connect::ServerArguments;
use crate::open::talk::{Talk, refused};
use crate::terminal::print::{print, print_json};
use clap::ValueEnum;
use mcp_bash_terminal::{complain, harmless_line};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to complete: an argument of a prompt, or a variable of a resource template
    #[arg(value_enum)]
    of: Of,

    /// The name of the prompt, or the URI template
    name: String,

    /// The argument, or the variable
    argument: String,

    /// The text typed so far
    #[arg(default_value = "")]
    prefix: String,

    /// Other arguments that are already known
    #[arg(value_name = "key=value")]
    known: Vec<String>,

    /// Print the result as JSON on one line, exactly as the server sent it
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash complete prompt review language ba
  mcp-bash complete prompt deploy service \"\" stage=test
  mcp-bash complete resource 'db://users/{id}' id 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    Prompt,
    Resource,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let reference = match arguments.of {
        Of::Prompt => json!({ "type": "ref/prompt", "name": arguments.name }),
        Of::Resource => json!({ "type": "ref/resource", "uri": arguments.name }),
    };
    let mut params = json!({
        "ref": reference,
        "argument": { "name": arguments.argument, "value": arguments.prefix },
    });
    if !arguments.known.is_empty() {
        params["context"] = json!({ "arguments": known(&arguments.known)? });
    }
    let result = Talk::with(common, &arguments.server, |talk| {
        if arguments.of == Of::Prompt && talk.offers("prompts") {
            get::listed(talk, &arguments.name)?;
        }
        talk.request("completion/complete", &params).map_err(|failure| refused(failure, arguments.json))
    })?;
    if arguments.json {
        print_json(result.get())?;
        return Ok(ExitCode::SUCCESS);
    }
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let values = result["completion"]["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lines: Vec<String> = values.map(|value| harmless_line(value) + "\n").collect();
    print(&lines.concat())?;
    if result["completion"]["hasMore"] == true && !common.quiet {
        complain("there are more; type more of the word to see them");
    }
    Ok(ExitCode::SUCCESS)
}

fn known(words: &[String]) -> Result<Map<String, Value>, Error> {
    let pair = |word: &String| match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), Value::from(value))),
        _ => Err(Error::of_command(Exit::Usage, format!("`{word}` is no argument: write key=value"))),
    };
    words.iter().map(pair).collect()
}
