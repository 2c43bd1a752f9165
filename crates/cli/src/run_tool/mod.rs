//! `mcp-bash run-tool`: calls a tool of the project and prints the result as one JSON object, with the flags that mcp-bash
//! has always had.

mod print_env;
mod registry_file;
mod report;
mod source;

use crate::call::callee::Callee;
use crate::call::{Asked, CallOptions, judge, show};
use crate::common::Common;
use crate::connect::{Conversation, OpenProject};
use crate::error::Error;
use crate::exit::Exit;
use crate::host::CommandLineHost;
use crate::startup;
use crate::time_limit::TimeLimit;
use mcp_bash_project::Location;
use mcp_bash_settings::Settings;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag that people write by its own name")]
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: CallOptions,

    /// Say what would be run, and whether the arguments fit, but run nothing
    #[arg(long, conflicts_with = "command")]
    dry_run: bool,

    /// Print where the tool would find things, and run nothing
    #[arg(long, conflicts_with = "command")]
    print_env: bool,

    /// Let this tool run, whatever the list of allowed tools says
    #[arg(long, conflicts_with = "command")]
    allow_self: bool,

    /// Let a tool run, whatever the list of allowed tools says; may be repeated
    #[arg(long, value_name = "TOOL", conflicts_with = "command")]
    allow: Vec<String>,

    /// Let every tool run, whatever the list of allowed tools says
    #[arg(long, conflicts_with = "command")]
    allow_all: bool,

    /// Source server.d/env.sh before the settings are read, as a shell does that starts the server
    #[arg(long, conflicts_with = "command")]
    with_server_env: bool,

    /// Source this file with bash before anything else, so that what it exports counts; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    source: Vec<PathBuf>,

    /// Behave like a server in minimal mode, which offers no tools
    #[arg(long, conflicts_with = "command")]
    minimal: bool,

    /// Know only the tools of the registry, as it was last written
    #[arg(long, conflicts_with = "command")]
    no_refresh: bool,

    /// The tool, then its arguments: the flags that `run-tool TOOL --help` lists, key=value, or key:=JSON
    #[arg(
        value_name = "TOOL [ARGUMENT]...",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash run-tool hello --args '{\"name\":\"Ada\"}'
  mcp-bash run-tool disk --path /var --top 5
  mcp-bash run-tool disk --help
  mcp-bash run-tool hello --allow-self --args @args.json
  mcp-bash run-tool hello --roots . --timeout 60 --verbose
  mcp-bash run-tool hello --dry-run

It prints the result as JSON. Exit codes: 0 a result that is no error, 1 the tool failed, 2 wrong arguments, 3 refused,
4 no such tool, 5 timed out, 6 no server, 130 interrupted. `mcp-bash call` shows results to people.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.options.server.command.is_some() {
        return of_command(common, arguments);
    }
    let (settings, _) = startup::settings();
    let Location::Folder(root) = startup::location(common, &settings)? else { return Err(Error::NoProject) };
    let files = source::files(&root, arguments);
    // Standard input is read once the files are sourced: this process starts again then.
    let read = || Asked::read("run-tool", &arguments.options, &arguments.words);
    if arguments.print_env {
        return print_env::run(&root, arguments, &read()?.roots, &files);
    }
    source::restart_with(&root, &files, common.verbose, arguments.options.seconds())?;
    let asked = read()?;
    if arguments.no_refresh {
        registry_file::check(
            &startup::paths(&root, &settings).registry.join("tools.json"),
            settings.registry_limit,
        )?;
    }
    let adjust = |settings: &mut Settings| arguments.adjust(settings, &asked.name);
    let reading = TimeLimit::of_reading(arguments.options.time_limit());
    let project = if arguments.dry_run {
        OpenProject::read(common, adjust)?
    } else {
        OpenProject::read_to_call(common, adjust)?
    };
    drop(reading);
    let callee = match Callee::of_project(&project, &asked.name) {
        Ok(callee) => callee,
        Err(error) => return Err(report::not_called(error)),
    };
    let given = callee.arguments("run-tool", &asked)?;
    if arguments.dry_run {
        return dry_run(arguments, &asked, &callee, &given, project.scripts.settings());
    }
    let mut host = CommandLineHost::new(common, asked.roots.clone());
    let conversation = Conversation::with_project(project, host.level(), &mut host)?;
    call(arguments, &callee, &given, conversation, host)
}

/// The same with a tool of another server.
fn of_command(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let options = &arguments.options;
    let asked = Asked::read("run-tool", options, &arguments.words)?;
    let mut host = CommandLineHost::new(common, asked.roots.clone());
    let command = options.server.command.as_deref().unwrap_or_default();
    let limit = options.time_limit();
    let mut conversation = Conversation::with_command(command, common.verbose, &mut host, limit)?;
    let callee = match Callee::of_server(&mut conversation, &mut host, &asked.name, limit) {
        Ok(callee) => callee,
        Err(error) => return Err(report::not_called(error)),
    };
    let given = callee.arguments("run-tool", &asked)?;
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
        Ok(result) => {
            show::print_json(&report::result(callee, &result))?;
            Ok(judge::of_result(callee, given, &result).into())
        }
        Err(unanswered) => Err(report::failed(unanswered)),
    }
}

impl Arguments {
    /// The settings for this one run.
    fn adjust(&self, settings: &mut Settings, tool: &str) {
        self.options.adjust(settings);
        settings.minimal |= self.minimal;
        settings.static_registry |= self.no_refresh;
        settings.chosen_variables = source::chosen_variables();
        if self.allow_all {
            settings.tool_policy.allow_for_now("*");
        }
        if self.allow_self {
            settings.tool_policy.allow_for_now(tool);
        }
        for tool in &self.allow {
            settings.tool_policy.allow_for_now(tool);
        }
    }
}

/// Says what would be run, in the five lines that people know, and whether it could be.
fn dry_run(
    arguments: &Arguments,
    asked: &Asked,
    callee: &Callee,
    given: &str,
    settings: &Settings,
) -> Result<ExitCode, Error> {
    let usual = || callee.seconds.unwrap_or(settings.default_timeout.as_secs());
    let timeout = match arguments.options.timeout {
        Some(0) => "none".to_owned(),
        Some(seconds) => seconds.to_string(),
        None => usual().to_string(),
    };
    let (status, exit) = match settings.tool_policy.blocks(&callee.name) {
        Some(why) => (format!("Blocked by policy: {why}; --allow-self allows it for one run"), Exit::Refused),
        None if !judge::fit(callee, given) => {
            ("The arguments do not fit the inputSchema of the tool".to_owned(), Exit::Usage)
        }
        None => ("Ready to execute (re-run without --dry-run to run)".to_owned(), Exit::Done),
    };
    show::print(&format!(
        "Tool: {}\nArgs: {} bytes\nRoots: {}\nTimeout: {timeout}\nStatus: {status}\n",
        callee.name,
        given.len(),
        asked.roots.len(),
    ))?;
    Ok(exit.into())
}
