//! `mcp-bash call`: calls a tool as a client would, and shows the result to a person or, with `--json`, to a program.

pub(crate) mod callee;
pub(crate) mod flags;
pub(crate) mod given;
pub(crate) mod judge;
pub(crate) mod parameters;
pub(crate) mod save;
pub(crate) mod show;

use crate::common::Common;
use crate::connect::{Conversation, Failure, OpenProject, ServerArguments};
use crate::error::Error;
use crate::exit::Exit;
use crate::host::CommandLineHost;
use crate::time_limit::TimeLimit;
use callee::{CallError, Callee, Unanswered};
use clap::{CommandFactory, Parser};
use mcp_bash_client::Error as ClientError;
use mcp_bash_settings::Settings;
use serde_json::Value;
use serde_json::value::RawValue;
use show::Shown;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// As long as it takes: what `--timeout 0` means. A year.
const WITHOUT_END: u64 = 365 * 24 * 60 * 60;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: CallOptions,

    /// Print the result as JSON on one line, exactly as the server sent it
    #[arg(long)]
    json: bool,

    /// Save pictures, sounds and other files of the result in this folder; nothing there is overwritten
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,

    /// The tool, then its arguments: key=value, key:=JSON, or the flags that `call TOOL --help` lists
    #[arg(
        value_name = "TOOL [key=value]...",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

/// What `call` and `run-tool` take.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CallOptions {
    /// The arguments as one JSON object: the text itself, @FILE, or - for standard input; key=value counts more
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,

    /// The folders that the tool may work in, separated by commas
    #[arg(long, value_name = "DIRS")]
    pub(crate) roots: Option<String>,

    /// How many seconds it may take; 0 is as long as it needs
    #[arg(long, value_name = "SECS")]
    pub(crate) timeout: Option<u64>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash call hello name=Ada
  mcp-bash call disk --path /var --top 5
  mcp-bash call disk --help
  mcp-bash call report --args @report.json --json | jq .structuredContent
  mcp-bash call chart --save pictures/
  mcp-bash call add a:=1 b:=2 --command \"npx -y some-server\"

Exit codes: 0 a result that is no error, 1 the tool failed, 2 wrong arguments, 3 refused, 4 no such tool, 5 timed out,
6 no server, 130 interrupted. docs/calling.md tells more.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let asked = Asked::read("call", &arguments.options, &arguments.words)?;
    let mut host = CommandLineHost::new(common, asked.roots.clone());
    if let Some(command) = &arguments.options.server.command {
        let limit = arguments.options.time_limit();
        let mut conversation = Conversation::with_command(command, common.verbose, &mut host, limit)?;
        let callee = Callee::of_server(&mut conversation, &mut host, &asked.name, limit)?;
        let given = callee.arguments("call", &asked)?;
        return call(arguments, &callee, &given, conversation, host);
    }
    let reading = TimeLimit::of_reading(arguments.options.time_limit());
    let project = OpenProject::read_to_call(common, |settings| arguments.options.adjust(settings))?;
    drop(reading);
    let callee = Callee::of_project(&project, &asked.name)?;
    let given = callee.arguments("call", &asked)?;
    let conversation = Conversation::with_project(project, host.level(), &mut host)?;
    call(arguments, &callee, &given, conversation, host)
}

fn call(
    arguments: &Arguments,
    callee: &Callee,
    given: &str,
    conversation: Conversation,
    host: CommandLineHost,
) -> Result<ExitCode, Error> {
    match callee.call(conversation, host, given, &arguments.options) {
        Ok(result) => show_result(arguments, callee, given, &result),
        Err(unanswered) => Err(told(arguments, unanswered)),
    }
}

fn show_result(
    arguments: &Arguments,
    callee: &Callee,
    given: &str,
    result: &RawValue,
) -> Result<ExitCode, Error> {
    let exit = judge::of_result(callee, given, result);
    let read = || -> Value { serde_json::from_str(result.get()).unwrap_or_default() };
    let shown = Shown { name: &callee.name, save: arguments.save.as_deref() };
    if arguments.json {
        if arguments.save.is_some() {
            shown.save_files(&read())?;
        }
        show::print_json(result.get())?;
        return Ok(exit.into());
    }
    shown.result(&read())?;
    Ok(exit.into())
}

/// A call without a result, as an error; for programs on standard output as well.
fn told(arguments: &Arguments, Unanswered { exit, failure }: Unanswered) -> Error {
    if let (true, Failure::Client(ClientError::Refused(refusal))) = (arguments.json, &failure) {
        // The exit code says it too, should nobody read.
        let _ = show::print_json(&format!("{{\"error\":{}}}", refusal.text));
    }
    Error::of_command(exit, failure)
}

/// What the command line says is to be called, before anything is known of it.
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

impl CallOptions {
    /// The folders of `--roots`, each of which is there.
    fn roots(&self) -> Result<Vec<PathBuf>, CallError> {
        let named = self.roots.as_deref().into_iter().flat_map(|roots| roots.split(','));
        let folder = |name: &str| match PathBuf::from(name).canonicalize() {
            Ok(path) if path.is_dir() => Ok(path),
            _ => Err(CallError::NoRoot(name.to_owned())),
        };
        named.filter(|name| !name.is_empty()).map(folder).collect()
    }

    /// How many seconds the call may take, where somebody says so.
    pub(crate) fn seconds(&self) -> Option<u64> {
        self.timeout.map(|seconds| if seconds == 0 { WITHOUT_END } else { seconds.min(WITHOUT_END) })
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.timeout.filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// Settings of the project's server for one call on the command line: its text is shown whole, since nobody could read
    /// the rest later; and the person may give it more time than the project gives its clients.
    pub(crate) fn adjust(&self, settings: &mut Settings) {
        settings.text_limit = 0;
        if let Some(seconds) = self.seconds() {
            settings.max_timeout = settings.max_timeout.max(Duration::from_secs(seconds));
        }
    }
}

/// A command line that calls: read without building what other commands take.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
pub(crate) struct OfCall {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) arguments: Arguments,
}

#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
struct OfRunTool {
    #[command(flatten)]
    _common: Common,
    #[command(flatten)]
    _arguments: crate::run_tool::Arguments,
}

impl OfCall {
    /// Nothing where the words are no call, or have to be explained: then the whole command line is needed.
    pub(crate) fn read(words: &[OsString]) -> Option<Self> {
        let after = words.get(2..).filter(|_| words[1] == "call")?;
        let line = Self::try_parse_from(words.iter().take(1).chain(after)).ok()?;
        // A flag in the place of the tool asks for help, or is a mistake.
        let is_tool = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
        line.arguments.words.first().is_some_and(is_tool).then_some(line)
    }
}

/// The words of a command line with our own flags of `call` and `run-tool` before the name of the tool, wherever they
/// stood: clap reads those, and what is left after the name is between us and the tool.
pub(crate) fn with_flags_first(words: Vec<OsString>) -> Vec<OsString> {
    let is_ours = |word: &OsString| word == "call" || word == "run-tool";
    let Some(place) = command_place(&words).filter(|place| is_ours(&words[*place])) else { return words };
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if !words[place + 1..].iter().any(is_flag) {
        return words;
    }
    let command = own_command(&words[place]);
    let (mut ordered, after) = (words[..=place].to_vec(), &words[place + 1..]);
    let (mut ours, mut rest, mut index) = (Vec::new(), Vec::new(), 0);
    while index < after.len() {
        let word = &after[index];
        if word == "--" {
            rest.extend_from_slice(&after[index..]);
            break;
        }
        let length = own_length(&command, word);
        if length == 0 {
            rest.push(word.clone());
        } else {
            ours.extend(after.iter().skip(index).take(length).cloned());
        }
        index += length.max(1);
    }
    ordered.extend(ours);
    ordered.extend(rest);
    ordered
}

fn own_command(name: &OsStr) -> clap::Command {
    if name == "call" { OfCall::command() } else { OfRunTool::command() }
}

/// The long flags of ours that a call takes.
pub(crate) fn own_flags(command: &str) -> HashSet<String> {
    let command = own_command(command.as_ref());
    let flags = command.get_arguments().filter_map(|argument| argument.get_long().map(ToOwned::to_owned));
    flags.chain(["help".to_owned()]).collect()
}

/// Where the command stands: the first word that is no flag, nor the value of one.
fn command_place(words: &[OsString]) -> Option<usize> {
    let mut place = 1;
    while let Some(word) = words.get(place) {
        if !word.as_encoded_bytes().starts_with(b"-") {
            return Some(place);
        }
        let takes_value = ["--project-root", "--log-file", "--roots"].iter().any(|flag| word == flag);
        place += if takes_value { 2 } else { 1 };
    }
    None
}

/// How many words a flag of ours has, itself included; 0 where the word is none.
fn own_length(command: &clap::Command, word: &OsStr) -> usize {
    let Some(word) = word.to_str() else { return 0 };
    let (name, has_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let is_named = |argument: &&clap::Arg| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => name.len() == 2 && name.starts_with('-') && argument.get_short() == name.chars().nth(1),
    };
    match command.get_arguments().find(is_named) {
        None => 0,
        Some(argument) if has_value || !argument.get_action().takes_values() => 1,
        Some(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(line: &str) -> String {
        let words = line.split(' ').map(Into::into).collect();
        let ordered = with_flags_first(words);
        ordered.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn our_flags_are_read_wherever_they_stand() {
        for (line, expected) in [
            ("m call x a=1 --json", "m call --json x a=1"),
            ("m call x --path /var --timeout 5 --top=3", "m call --timeout 5 x --path /var --top=3"),
            ("m call x --project-root=/p -v b=2", "m call --project-root=/p -v x b=2"),
            ("m call x --help", "m call x --help"),
            ("m call x -- --json", "m call x -- --json"),
            ("m run-tool x --allow-self --args {}", "m run-tool --allow-self --args {} x"),
            ("m --project-root call call x --json", "m --project-root call call --json x"),
            ("m health --json x", "m health --json x"),
        ] {
            assert_eq!(ordered(line), expected);
        }
    }
}
