//! `mcp-bash health`: whether the project could be served now, and what would make a call fail. It writes nothing, and
//! starts only files that report their own definitions.

pub(crate) mod checks;
pub(crate) mod report;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::health::report::{Health, Status};
use crate::open::examination::Examination;
use crate::open::{examination, startup};
use crate::report::finding::{Finding, Grade};
use mcp_bash_project::{Location, no_project};
use mcp_bash_settings::MOOT;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

/// As much as the thread that does it without a timeout has.
const STACK: usize = 8 * 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  mcp-bash health                      the project here
  mcp-bash health ~/my-project         another one
  mcp-bash health --json | jq .status

Exit codes: 0 ready, warnings or not; 1 unhealthy: an error was found; 2 misconfigured.";

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to check, as with `--project-root`
    #[arg(value_name = "DIR", conflicts_with = "project_root")]
    folder: Option<PathBuf>,

    /// Comma-separated folders that scripts may work in, as for a server
    #[arg(long, value_name = "DIRS")]
    roots: Option<String>,

    /// Report as JSON, the default if standard output is not a terminal
    #[arg(long)]
    json: bool,

    /// The timeout of all checks together, in seconds; exceeding it is unhealthy
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let project_root = arguments.folder.clone().or_else(|| common.project_root.clone());
    let common = &Common { project_root, ..common.clone() };
    let report = match arguments.timeout.filter(|seconds| *seconds > 0) {
        None => examine_all(common, arguments),
        Some(seconds) => within(seconds, common, arguments),
    };
    report::print_report(&report, arguments.json)?;
    Ok(report.status.exit().into())
}

/// The report, or one about the timeout after `seconds`. Work that is still running ends with this process.
fn within(seconds: u64, common: &Common, arguments: &Arguments) -> Health {
    let (sender, receiver) = channel();
    let (common, arguments) = (common.clone(), arguments.clone());
    let examiner = std::thread::Builder::new().name("health".into()).stack_size(STACK);
    let started = examiner.spawn(move || drop(sender.send(examine_all(&common, &arguments))));
    let report = started.ok().and_then(|_| receiver.recv_timeout(Duration::from_secs(seconds)).ok());
    report.unwrap_or_else(|| {
        let problem = format!("the checks did not end within {seconds} s");
        let remedy = "give them more time with `--timeout`, or find out which script takes so long";
        Health::of(Status::Unhealthy, vec![Finding::error("", problem).remedy(remedy)])
    })
}

/// Variables of the shell framework that are set and change nothing here. Inside a script of a server, the server has
/// set some of them.
fn without_effect() -> impl Iterator<Item = Finding> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_inside_script = is_set("MCP_SDK");
    let set = MOOT.iter().filter(move |(name, _)| !is_inside_script && is_set(name));
    set.map(|(name, reason)| Finding::note("", format!("{name} is set and has no effect: {reason}")))
}

fn examine_all(common: &Common, arguments: &Arguments) -> Health {
    let (mut settings, mut found, is_wrong) = examination::of_environment();
    found.extend(without_effect());
    let minimal = settings.minimal;
    let misconfigured = |problems| Health { minimal, ..Health::of(Status::Misconfigured, problems) };
    if is_wrong {
        return misconfigured(found);
    }
    if let Some(seconds) = arguments.timeout.filter(|seconds| *seconds > 0) {
        settings.health_timeout = Duration::from_secs(seconds);
    }
    let folder = match startup::location(common, &settings) {
        Ok(Location::Folder(folder)) => folder,
        Ok(Location::Embedded) => {
            let here = std::env::current_dir().ok();
            found.insert(0, Finding::of_missing_project(&no_project(here.as_deref())));
            return misconfigured(found);
        }
        Err(error) => {
            found.insert(0, Finding::of_error(&error));
            return misconfigured(found);
        }
    };
    let examined = Examination::of(&folder, arguments.roots.as_deref(), settings, |_| Vec::new());
    let examined = match examined {
        Ok(examined) => examined.of_project(),
        Err(error) => {
            found.insert(0, Finding::of_error(&error));
            return misconfigured(found);
        }
    };
    let checked = checks::run(&examined.scripts, &examined.paths);
    let Examination { catalog, search_path, sandboxes, mut is_usable, has_parts, .. } = examined;
    let tools_fail = !is_usable;
    found.extend(examined.found);
    if let Some(Err(problem)) = &checked {
        is_usable = false;
        let remedy = "see what the checks printed on standard error";
        found.push(Finding::error("", problem.clone()).remedy(remedy));
    }
    let has_errors = found.iter().any(|told| told.grade == Grade::Error);
    let status = match (has_parts, is_usable && !has_errors) {
        (false, _) => Status::Misconfigured,
        (true, true) => Status::Ok,
        (true, false) => Status::Unhealthy,
    };
    Health {
        minimal,
        tools: catalog.tools.len(),
        resources: catalog.resources.len(),
        prompts: catalog.prompts.len(),
        tools_fail,
        all_fails: catalog.failure.is_some(),
        search_path: Some(search_path),
        sandboxes: Some(sandboxes),
        project_checks: checked.map(|checked| checked.is_ok()),
        ..Health::of(status, found).about(folder)
    }
}
