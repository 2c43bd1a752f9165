//! `mcp-bash doctor`: the state of this machine, what is wrong with it, and what to do about it. It changes nothing unless
//! asked to, and everything it waits for has a timeout.

mod callers;
mod clients;
mod diagnosis;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod file_events;
mod program;
mod programs;
mod project;
mod remote;
mod requirements;
mod settings;
mod start;
mod system;
mod trial;
mod upgrade;
mod version;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::examination;
use crate::open::remote_arguments::RemoteArguments;
use crate::open::startup::{self, SettingProblems};
use crate::report::finding::Finding;
use crate::report::{Group, Report};
use crate::terminal::print::print;
use diagnosis::{Diagnosis, Mode};
use mcp_bash_project::{Location, ServerConfig};
use mcp_bash_settings::{ProjectSettings, Settings};
use mcp_bash_terminal::Terminal;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error as ThisError;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Arguments {
    /// Diagnosis as JSON
    #[arg(long)]
    json: bool,

    /// Make the repairs that need no question, and report them
    #[arg(long, conflicts_with = "dry_run")]
    fix: bool,

    /// Show what `--fix` would do
    #[arg(long)]
    dry_run: bool,

    /// Fail if this program is older than this version
    #[arg(long, value_name = "VERSION")]
    min_version: Option<String>,

    #[command(flatten)]
    remote: RemoteArguments,

    #[command(flatten)]
    upgrade: upgrade::UpgradeArguments,

    /// Accepted for older scripts, and refused: this program does not replace itself
    #[arg(long = "ref", visible_alias = "version", value_name = "REF", hide = true)]
    reference: Option<String>,

    /// As `--ref`
    #[arg(long, value_name = "SOURCE", hide = true)]
    archive: Option<String>,

    /// As `--ref`
    #[arg(long, value_name = "SHA256", hide = true)]
    verify: Option<String>,

    /// As `--ref`
    #[arg(long, hide = true)]
    allow_downgrade: bool,
}

const EXAMPLES: &str = "\
Exit codes: 0 nothing is wrong, 1 errors were found, 2 the command line makes no sense, 3 refused.

Examples:
  mcp-bash doctor                         look at this machine, the project here and the clients
  mcp-bash doctor -v                      and all settings
  mcp-bash doctor --dry-run               and what `--fix` would do
  mcp-bash doctor --json | jq .findings   for programs
  mcp-bash doctor --min-version 1.2.0     fail where an older one is installed
  mcp-bash doctor --upgrade-check         and ask whether there is a newer release
  mcp-bash doctor --url https://example.com/mcp --token-env MCP_TOKEN   look at a server over HTTP";

#[derive(Debug, ThisError)]
#[error(
    "doctor does not replace this program, so {0} means nothing to it; install the version you want in the way this one \
     was installed"
)]
struct NoUpgrade(&'static str);

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(flag) = arguments.of_an_upgrade() {
        return Err(Error::of_command(Exit::Refused, NoUpgrade(flag)));
    }
    let releases = arguments.upgrade.read()?;
    let mut report = Diagnosis::default();
    match arguments.remote.read()? {
        Some(remote) => remote::look(&mut report, common, remote)?,
        None => look(common, arguments, &mut report),
    }
    if let Some(releases) = releases {
        upgrade::look(&mut report, &releases);
    }
    report.repair(arguments.mode());
    let exit = Report::exit(true, report.has_errors());
    let text = if arguments.json {
        format!("{:#}\n", report.to_json(exit.number()))
    } else {
        report.text(Terminal::of_stdout(), common.quiet)
    };
    print(&text)?;
    Ok(exit.into())
}

impl Arguments {
    fn mode(&self) -> Mode {
        match (self.fix, self.dry_run) {
            (true, _) => Mode::Repair,
            (_, true) => Mode::Propose,
            _ => Mode::Look,
        }
    }

    /// The first flag, if any, by which mcp-bash in bash upgraded itself.
    fn of_an_upgrade(&self) -> Option<&'static str> {
        let flags = [
            (self.reference.is_some(), "--ref"),
            (self.archive.is_some(), "--archive"),
            (self.verify.is_some(), "--verify"),
            (self.allow_downgrade, "--allow-downgrade"),
        ];
        flags.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}

fn look(common: &Common, arguments: &Arguments, report: &mut Diagnosis) {
    let (environment, found, _) = examination::of_environment();
    let location = startup::location(common, &environment);
    let folder = match &location {
        Ok(Location::Folder(folder)) => Some(folder.clone()),
        Ok(Location::Embedded) | Err(_) => None,
    };
    let project = folder.as_deref().map(|folder| settings_of(folder, &environment)).unwrap_or_default();
    program::look(report, arguments.min_version.as_deref());
    let at = Location::clone(location.as_ref().unwrap_or(&Location::Embedded));
    let settled = startup::settings_at(&at, None, environment.clone(), &mut SettingProblems::default());
    system::look(report, &settled);
    look_at_project(report, folder.clone(), location.err().as_ref(), environment, &settled);
    clients::look(report, folder.as_deref());
    let problems = found.into_iter().map(|finding| Finding { id: "settings.problem", ..finding });
    let problems: Vec<Finding> = problems.collect();
    if !problems.is_empty() {
        report.add(Group::new("What is wrong with settings", problems));
    }
    callers::look(report, &settled.http);
    settings::look(report, &project, common.verbose);
}

/// The project's own settings in `folder`.
fn settings_of(folder: &Path, environment: &Settings) -> ProjectSettings {
    let paths = startup::paths(folder, environment);
    // Its problems are found with the rest of the project.
    ProjectSettings::new(&ServerConfig::read(&paths, &mut Vec::new()).settings).0
}

fn look_at_project(
    report: &mut Diagnosis,
    folder: Option<PathBuf>,
    unusable: Option<&Error>,
    environment: Settings,
    settled: &Settings,
) {
    let mut bash_version = String::new();
    match project::look(folder, environment) {
        Some(Ok(mut found)) => {
            report.add(found.programs.section);
            report.fact("searchPath", found.programs.facts);
            if let Some(error) = unusable {
                found.project.findings = vec![Finding::error("project.unusable", error.to_string())];
            }
            report.add(found.project);
            report.fact("project", found.project_facts);
            if let Some(sandboxes) = found.sandboxes {
                report.fact("sandbox", sandboxes.to_json());
                report.add(Group::new("Sandbox", sandboxes.checks()));
            }
            bash_version = found.bash_version;
        }
        Some(Err(error)) => {
            report.add(Group::new("Project", vec![Finding::error("project.unusable", error)]));
        }
        None => report.add(Group::new("Project", vec![project::too_slow()])),
    }
    let temporary = settled.logs.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let own = std::env::current_exe().unwrap_or_default();
    report.fact(
        "runtime",
        json!({
            "bashVersion": bash_version,
            "jqPath": own.to_string_lossy(),
            "gojqPath": "",
            "jsonTool": "jq",
            "tmpRoot": temporary.to_string_lossy(),
            "tmpRootWritable": trial::try_to_write(&temporary).is_ok(),
        }),
    );
}
