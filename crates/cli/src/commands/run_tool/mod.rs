//! `mcp-bash run-tool`: calls a tool of the project and prints the result as one JSON object, with the flags that mcp-bash
//! has always had.

pub(crate) mod arguments;
mod print_env;
mod registry_file;
mod report;
mod source;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::callee::Callee;
use crate::commands::call::{Asked, judge};
use crate::open::connect::{Conversation, OpenProject};
use crate::open::startup;
use crate::open::time_limit::TimeLimit;
use crate::terminal::host::CommandLineHost;
use crate::terminal::print::{print, print_json};
pub(crate) use arguments::Arguments;
use mcp_bash_project::Location;
use mcp_bash_settings::Settings;
use std::process::ExitCode;

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.options.server.is_elsewhere() {
        return of_other_server(common, arguments);
    }
    let (settings, _) = startup::settings();
    let Location::Folder(root) = startup::location(common, &settings)? else { return Err(Error::NoProject) };
    let files = source::files(&root, arguments);
    // Standard input is read after the files are sourced, because this process is then started again.
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
    let given = callee.given("run-tool", &asked)?;
    if arguments.dry_run {
        return dry_run(arguments, &asked, &callee, &given.arguments, project.scripts.settings());
    }
    let consents = arguments.yes || given.consents;
    let mut host = CommandLineHost::new(common, asked.roots.clone()).consenting(consents);
    let conversation = Conversation::with_project(project, host.level(), &mut host)?;
    call(arguments, &callee, &given.arguments, conversation, host)
}

/// The same with a tool of another server.
fn of_other_server(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let options = &arguments.options;
    let asked = Asked::read("run-tool", options, &arguments.words)?;
    let may_consent = arguments.yes || asked.has_yes();
    let mut host = CommandLineHost::new(common, asked.roots.clone()).consenting(may_consent);
    let limit = options.time_limit();
    let Some(mut conversation) = options.server.connect(common, &mut host, limit)? else {
        return Err(Error::NoProject);
    };
    let callee = match Callee::of_server(&mut conversation, &mut host, &asked.name, limit) {
        Ok(callee) => callee,
        Err(error) => return Err(report::not_called(error)),
    };
    let given = callee.given("run-tool", &asked)?;
    let host = host.consenting(arguments.yes || given.consents);
    call(arguments, &callee, &given.arguments, conversation, host)
}

fn call(
    arguments: &Arguments,
    callee: &Callee,
    given: &str,
    conversation: Conversation,
    host: CommandLineHost,
) -> Result<ExitCode, Error> {
    callee.call(conversation, host, given, &arguments.options, true, |answer| match answer {
        Ok(result) => {
            print_json(&report::result(callee, &result))?;
            Ok(judge::of_result(&callee.schema, given, &result).into())
        }
        Err(unanswered) => Err(report::failed(unanswered)),
    })
}

impl Arguments {
    /// The settings for this one run.
    fn adjust(&self, settings: &mut Settings, tool: &str) {
        self.options.adjust(settings);
        settings.text_limit = 0;
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

/// Reports what would be run, in the five lines of mcp-bash in bash, and whether it could be.
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
        None if !judge::fit(&callee.schema, given) => {
            ("The arguments do not fit the inputSchema of the tool".to_owned(), Exit::Usage)
        }
        None => ("Ready to execute (re-run without --dry-run to run)".to_owned(), Exit::Done),
    };
    print(&format!(
        "Tool: {}\nArgs: {} bytes\nRoots: {}\nTimeout: {timeout}\nStatus: {status}\n",
        callee.name,
        given.len(),
        asked.roots.len(),
    ))?;
    Ok(exit.into())
}
