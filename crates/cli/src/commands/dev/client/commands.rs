//! Prompt commands: what can be typed, and what it does.

use super::vocabulary::COMMANDS;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::error::CallError;
use crate::commands::call::given::{Pair, assembled};
use crate::commands::call::parameters::Parameters;
use crate::commands::call::show::Shown;
use crate::commands::get;
use crate::commands::list::{self, EntryKind};
use crate::open::shell_words::{self, SplitError};
use crate::open::talk::{Talk, refused};
use crate::terminal::print::print;
use clap::ValueEnum;
use mcp_bash_terminal::for_stdout;
use mcp_bash_terminal::words::time;
use mcp_bash_terminal::{Terminal, harmless_line};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::time::Instant;
use thiserror::Error as ThisError;

/// What happens after a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line,
    Quit,
}

#[derive(Debug, ThisError)]
enum Misuse {
    #[error("`{0}` takes {1}")]
    Takes(&'static str, &'static str),
    #[error("a quote ({0}) is not closed")]
    OpenQuote(char),
    #[error("the line ends with a backslash")]
    LastBackslash,
    #[error("the result of `{0}` is an error")]
    Failed(String),
}

const HELP: &str = "\
TOOL key=value …         call a tool; key:=JSON gives a value as JSON, Ctrl-C cancels
list [KIND]              what there is: tools, resources, templates, prompts
help TOOL                what a tool takes
read URI                 what a resource holds
get PROMPT key=value …   the messages of a prompt
call TOOL …              call a tool that is named like one of these
quit                     or Ctrl-D
";

/// Runs a line.
pub(super) fn run(talk: &mut Talk, line: &str, terminal: Terminal) -> Result<Next, Error> {
    let words = match shell_words::split(line) {
        Ok(words) => words,
        Err(SplitError::Nothing) => return Ok(Next::Line),
        Err(SplitError::OpenQuote(quote)) => {
            return Err(Error::of_command(Exit::Usage, Misuse::OpenQuote(quote)));
        }
        Err(SplitError::LastBackslash) => return Err(Error::of_command(Exit::Usage, Misuse::LastBackslash)),
    };
    let Some((first, rest)) = words.split_first() else { return Ok(Next::Line) };
    match (first.as_str(), rest) {
        ("quit" | "exit", []) => return Ok(Next::Quit),
        ("help" | "?", []) => print(HELP)?,
        ("help" | "?", [tool]) => help(talk, tool, terminal)?,
        ("list", []) => list(talk, None, terminal)?,
        ("list", [kind]) => match EntryKind::from_str(kind, true) {
            Ok(kind) => list(talk, Some(kind), terminal)?,
            Err(_) => return Err(misuse("list", "tools, resources, templates or prompts, or nothing")),
        },
        ("read", [uri]) => read(talk, uri)?,
        ("get", [prompt, pairs @ ..]) => {
            let result = get::ask(talk, prompt, pairs, false)?;
            get::show_messages(&Shown { name: prompt, save: None }, &value(&result))?;
        }
        ("call", [tool, pairs @ ..]) => call(talk, tool, pairs, terminal)?,
        ("list" | "help" | "?" | "quit" | "exit", _) => {
            return Err(misuse("list, help and quit", "one word at most"));
        }
        ("read", _) => return Err(misuse("read", "the URI of a resource")),
        ("get", _) => return Err(misuse("get", "the name of a prompt, and its arguments as key=value")),
        ("call", _) => return Err(misuse("call", "the name of a tool, and its arguments as key=value")),
        (tool, pairs) => call(talk, tool, pairs, terminal)?,
    }
    Ok(Next::Line)
}

fn misuse(command: &'static str, takes: &'static str) -> Error {
    Error::of_command(Exit::Usage, Misuse::Takes(command, takes))
}

fn call(talk: &mut Talk, name: &str, words: &[String], terminal: Terminal) -> Result<(), Error> {
    let usage = |error| Error::of_command(Exit::Usage, error);
    let tool = tool(talk, name)?;
    let pairs: Result<Vec<Pair>, _> = words.iter().map(|word| Pair::read(word)).collect();
    let parameters = Parameters::of(&tool["inputSchema"]);
    let of = format!("`{}`", harmless_line(name));
    let given = pairs.and_then(|pairs| assembled(&of, &parameters, None, &pairs)).map_err(usage)?;
    let meta = if talk.host().wants_progress() { r#","_meta":{"progressToken":1}"# } else { "" };
    let params = format!(r#"{{"name":{},"arguments":{given}{meta}}}"#, Value::from(name));
    let params = RawValue::from_string(params).map_err(|error| Error::of_command(Exit::Usage, error))?;
    let start = Instant::now();
    let answer = talk.request("tools/call", &params);
    talk.host().finish();
    let result = value(&answer.map_err(|failure| refused(failure, false))?);
    Shown { name, save: None }.result(&result)?;
    if terminal.is_one() {
        print(&format!("{}\n", terminal.painted("2", &format!("({})", time(start.elapsed())))))?;
    }
    if result["isError"] == true {
        return Err(Error::of_command(Exit::Failed, Misuse::Failed(name.to_owned())));
    }
    Ok(())
}

fn read(talk: &mut Talk, uri: &str) -> Result<(), Error> {
    let answer = talk.request("resources/read", &json!({ "uri": uri }));
    let result = value(&answer.map_err(|failure| refused(failure, false))?);
    let (shown, mut text) = (Shown { name: uri, save: None }, String::new());
    for content in result["contents"].as_array().into_iter().flatten() {
        shown.push_resource(&mut text, content)?;
    }
    print(&for_stdout(text))
}

fn list(talk: &mut Talk, kind: Option<EntryKind>, terminal: Terminal) -> Result<(), Error> {
    let kinds = kind.map_or_else(|| list::ALL.to_vec(), |kind| vec![kind]);
    let mut text = String::new();
    for kind in kinds {
        let entries = list::entries(talk, kind, false)?;
        if !entries.is_empty() {
            text.push_str(&terminal.painted("1", &format!("{} ({})", kind.name(), entries.len())));
            text.push('\n');
            list::push_table(&mut text, kind, &entries, false, terminal);
        }
    }
    print(if text.is_empty() { "nothing yet\n" } else { &text })
}

fn help(talk: &mut Talk, name: &str, terminal: Terminal) -> Result<(), Error> {
    let mut text = String::new();
    list::push_table(&mut text, EntryKind::Tools, &[tool(talk, name)?], true, terminal);
    print(&text)
}

/// The tool of that name, as clients see it.
fn tool(talk: &mut Talk, name: &str) -> Result<Value, Error> {
    let tools = talk.entries("tools/list", "tools")?;
    if let Some(tool) = tools.iter().find(|tool| tool["name"] == name) {
        return Ok(tool.clone());
    }
    let known = tools.iter().filter_map(|tool| tool["name"].as_str()).chain(COMMANDS);
    let known: Vec<&str> = known.collect();
    Err(Error::of_command(Exit::NotFound, CallError::not_found("tool", name, &known, "tools")))
}

fn value(result: &RawValue) -> Value {
    serde_json::from_str(result.get()).unwrap_or_default()
}
