//! `mcp-bash call`: calls a tool as a client would, and shows the result to a person or, with `--json`, to a program.

pub(crate) mod arguments;
pub(crate) mod callee;
pub(crate) mod error;
pub(crate) mod flags;
pub(crate) mod given;
pub(crate) mod judge;
pub(crate) mod parameters;
pub(crate) mod save;
pub(crate) mod show;
mod trace;
mod trace_table;
mod whole;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::{Conversation, Failure, OpenProject};
use crate::open::time_limit::TimeLimit;
use crate::terminal::host::CommandLineHost;
use crate::terminal::print::print_json;
pub(crate) use arguments::Arguments;
use arguments::CallOptions;
use callee::{Callee, Unanswered};
use error::CallError;
use mcp_bash_client::Error as ClientError;
use mcp_bash_settings::Settings;
use mcp_bash_terminal::tell;
use serde_json::Value;
use serde_json::value::RawValue;
use show::Shown;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use trace::Trace;

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let asked = Asked::read("call", &arguments.options, &arguments.words)?;
    let may_consent = arguments.yes || asked.has_yes();
    let mut host = CommandLineHost::new(common, asked.roots.clone()).consenting(may_consent);
    let limit = arguments.options.time_limit();
    if arguments.trace_access && arguments.options.server.is_elsewhere() {
        return Err(Error::of_command(Exit::Usage, CallError::TraceElsewhere));
    }
    if let Some(mut conversation) = arguments.options.server.connect(common, &mut host, limit)? {
        let callee = Callee::of_server(&mut conversation, &mut host, &asked.name, limit)?;
        let given = callee.given("call", &asked)?;
        let host = host.consenting(arguments.yes || given.consents);
        return call(arguments, &callee, &given.arguments, conversation, host);
    }
    let reading = TimeLimit::of_reading(limit);
    let adjust = |settings: &mut Settings| {
        arguments.options.adjust(settings);
        if arguments.whole {
            settings.text_limit = 0;
        }
    };
    let project = OpenProject::read_to_call(common, adjust)?;
    drop(reading);
    let callee = Callee::of_project(&project, &asked.name)?;
    let given = callee.given("call", &asked)?;
    let trace = arguments.trace_access.then(|| Trace::begin(&project, &callee.name)).transpose()?;
    let mut host = host.consenting(arguments.yes || given.consents);
    let conversation = Conversation::with_project(project, host.level(), &mut host)?;
    let exit = call(arguments, &callee, &given.arguments, conversation, host);
    if let Some(trace) = trace {
        trace.report(arguments.yes)?;
    }
    exit
}

fn call(
    arguments: &Arguments,
    callee: &Callee,
    given: &str,
    conversation: Conversation,
    host: CommandLineHost,
) -> Result<ExitCode, Error> {
    callee.call(conversation, host, given, &arguments.options, arguments.whole, |answer| match answer {
        Ok(result) => show_result(arguments, callee, given, &result),
        Err(unanswered) => Err(told(arguments, unanswered)),
    })
}

fn show_result(
    arguments: &Arguments,
    callee: &Callee,
    given: &str,
    result: &RawValue,
) -> Result<ExitCode, Error> {
    let exit = judge::of_result(&callee.schema, given, result);
    let read = || -> Value { serde_json::from_str(result.get()).unwrap_or_default() };
    let shown = Shown { name: &callee.name, save: arguments.save.as_deref() };
    if arguments.json {
        if arguments.save.is_some() {
            shown.save_files(&read())?;
        }
        print_json(result.get())?;
        return Ok(exit.into());
    }
    let read = read();
    shown.result(&read)?;
    let items = read["content"].as_array();
    if items.is_some_and(|items| items.iter().any(whole::is_part)) {
        tell("The text is shown as a client receives it; `mcp-bash call --whole` shows all of it.");
    }
    if judge::is_unconfirmed(&read) {
        tell("There is no terminal to ask on; `mcp-bash call --yes TOOL …` gives the consent.");
    }
    Ok(exit.into())
}

/// A call without a result, as an error; for programs on standard output as well.
fn told(arguments: &Arguments, Unanswered { exit, failure }: Unanswered) -> Error {
    if let (true, Failure::Client(ClientError::Refused(refusal))) = (arguments.json, &failure) {
        // The exit code says it too, if the output is not read.
        let _ = print_json(&format!("{{\"error\":{}}}", refusal.text));
    }
    Error::of_command(exit, failure)
}

/// The requested call, before anything is known about the tool.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) roots: Vec<PathBuf>,
    /// The text of `--args`.
    pub(crate) args: Option<String>,
    /// Pairs, and flags that only the schema explains.
    pub(crate) words: Vec<String>,
}

impl Asked {
    /// Whether `--yes` is among the words. Only the schema tells whether it is for the tool.
    pub(crate) fn has_yes(&self) -> bool {
        self.words.iter().any(|word| word == "--yes" || word == "-y")
    }

    pub(crate) fn read(command: &str, options: &CallOptions, words: &[OsString]) -> Result<Self, Error> {
        let usage = |error: CallError| Error::of_command(Exit::Usage, error);
        let text =
            |word: &OsString| word.clone().into_string().map_err(|word| usage(CallError::NotText(word)));
        let mut words: Vec<String> = words.iter().map(text).collect::<Result<_, _>>()?;
        if words.first().is_some_and(|word| word == "--") {
            words.remove(0);
        }
        let command = command.to_owned();
        if words.first().is_none_or(|name| name.starts_with('-')) {
            return Err(usage(CallError::NoName { command, word: words.into_iter().next() }));
        }
        let name = words.remove(0);
        let args = options.args.as_deref().map(given::read_args).transpose();
        let args = args.map_err(|error| Error::of_command(Exit::Usage, error))?;
        Ok(Self { name, roots: options.roots().map_err(usage)?, args, words })
    }
}
