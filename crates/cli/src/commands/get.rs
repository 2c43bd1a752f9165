//! `mcp-bash get`: shows the messages of a prompt.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::error::CallError;
use crate::commands::call::given::{Pair, assembled};
use crate::commands::call::parameters::Parameters;
use crate::commands::call::show::Shown;
use crate::open::connect::ServerArguments;
use crate::open::talk::{Talk, refused};
use crate::terminal::print::{print, print_json};
use mcp_bash_terminal::for_stdout;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the prompt, as `mcp-bash list prompts` shows it
    prompt: String,

    /// Its arguments, all as text
    #[arg(value_name = "key=value")]
    pairs: Vec<String>,

    /// Print the result as JSON on one line, exactly as the server sent it
    #[arg(long)]
    json: bool,

    /// Save images, audio and other files of the messages in this folder; nothing there is overwritten
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,

    #[command(flatten)]
    server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash get review language=bash
  mcp-bash get review language=bash --json
  mcp-bash get greeting --command \"npx -y some-server\"";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let result = Talk::with(common, &arguments.server, |talk| prompt(talk, arguments))?;
    if arguments.json {
        print_json(result.get())?;
        return Ok(ExitCode::SUCCESS);
    }
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let shown = Shown { name: &arguments.prompt, save: arguments.save.as_deref() };
    show_messages(&shown, &result)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the messages of a prompt.
pub(crate) fn show_messages(shown: &Shown<'_>, result: &Value) -> Result<(), Error> {
    let mut text = String::new();
    for (index, message) in result["messages"].as_array().into_iter().flatten().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{}:", message["role"].as_str().unwrap_or("user"));
        match &message["content"] {
            Value::Array(parts) => parts.iter().try_for_each(|part| shown.push(&mut text, part))?,
            content => shown.push(&mut text, content)?,
        }
    }
    print(&for_stdout(text))
}

fn prompt(talk: &mut Talk, arguments: &Arguments) -> Result<Box<RawValue>, Error> {
    ask(talk, &arguments.prompt, &arguments.pairs, arguments.json)
}

/// The prompt of that name, filled with `words`, which are `key=value` pairs.
pub(crate) fn ask(
    talk: &mut Talk,
    name: &str,
    words: &[String],
    is_json: bool,
) -> Result<Box<RawValue>, Error> {
    let usage = |error| Error::of_command(Exit::Usage, error);
    let entry = listed(talk, name)?;
    let pairs: Result<Vec<Pair>, _> = words.iter().map(|word| Pair::read(word)).collect();
    let given = pairs.and_then(|pairs| assembled(&format!("`{name}`"), &parameters(&entry), None, &pairs));
    let params = format!(r#"{{"name":{},"arguments":{}}}"#, Value::from(name), given.map_err(usage)?);
    let params = RawValue::from_string(params).map_err(|error| Error::of_command(Exit::Usage, error))?;
    talk.request("prompts/get", &params).map_err(|failure| refused(failure, is_json))
}

/// The prompt of that name, as the server lists it.
pub(crate) fn listed(talk: &mut Talk, name: &str) -> Result<Value, Error> {
    let prompts = talk.entries("prompts/list", "prompts")?;
    if let Some(entry) = prompts.iter().find(|prompt| prompt["name"] == name) {
        return Ok(entry.clone());
    }
    let known: Vec<&str> = prompts.iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    Err(Error::of_command(Exit::NotFound, CallError::not_found("prompt", name, &known, "prompts")))
}

/// The arguments of a prompt, as those of a tool that takes only texts. A prompt that declares none may take any.
fn parameters(prompt: &Value) -> Parameters {
    let declared =
        prompt["arguments"].as_array().into_iter().flatten().filter_map(|argument| argument["name"].as_str());
    let properties: Map<String, Value> =
        declared.map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
    Parameters::of(&json!({ "properties": properties }))
}
