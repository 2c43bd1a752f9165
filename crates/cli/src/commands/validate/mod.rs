//! `mcp-bash validate`: everything that is wrong with a project, including what known clients refuse and what nothing can
//! reach, and the fixes that are safe.

mod defaults;
mod fix;
mod inspector;
mod report;
mod sections;
mod usage;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::examination::{self, Examination};
use crate::open::{sandbox_check, startup};
use crate::report::Report;
use crate::report::finding::Finding;
use crate::terminal::print::print;
use fix::{Fix, Fixing};
use inspector::Inspector;
use mcp_bash_project::{Catalog, Diagnostic, Location, portability, unreachable};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::{Terminal, can_ask};
use report::{Validation, report_of};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to check, as with `--project-root`
    #[arg(value_name = "DIR", conflicts_with = "project_root")]
    folder: Option<PathBuf>,

    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// Make repairs that do not change the meaning of anything, after showing them
    #[arg(long)]
    fix: bool,

    /// With `--fix`, repair without asking
    #[arg(short, long)]
    yes: bool,

    /// Show the repairs without making them
    #[arg(long, requires = "fix")]
    dry_run: bool,

    /// Show where the name, title, version and other defaults of each entry come from
    #[arg(long)]
    explain_defaults: bool,

    /// Run the tests of the project, and name what sandboxes allow and no test uses
    #[arg(long)]
    run_tests: bool,

    /// Show the command that checks the schemas with the official inspector, and offer to run it
    #[arg(long)]
    inspector: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash validate                      the project in this folder
  mcp-bash validate --strict --json      for CI: exit code 1 also for warnings
  mcp-bash validate --fix --dry-run      what could be repaired
  mcp-bash validate --run-tests          sandboxes that are wider than what the tests use

Exit codes: 0 all checks passed, 1 errors were found, 2 there is no project (docs/validate.md)";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let project_root = arguments.folder.clone().or_else(|| common.project_root.clone());
    let common = &Common { project_root, ..common.clone() };
    let (settings, of_environment, _) = examination::of_environment();
    let Location::Folder(folder) = startup::location(common, &settings)? else {
        return Err(Error::NoProject);
    };
    let terminal = Terminal::of_stdout();
    let mut examined = examine(&folder, settings.clone())?;
    let mut fixes = Vec::new();
    if arguments.fix {
        let fixing = Fixing {
            root: &folder,
            terminal,
            dry_run: arguments.dry_run,
            asks: !arguments.yes && !arguments.json && can_ask(),
            is_silent: arguments.json,
        };
        fixes = fixing.run(&mut examined, || examine(&folder, settings.clone()))?;
    }
    let beyond_tests = if arguments.run_tests {
        usage::beyond_tests(&folder, &examined.catalog, examined.scripts.settings())?
    } else {
        Vec::new()
    };
    let found = of_environment.into_iter().chain(std::mem::take(&mut examined.found)).chain(beyond_tests);
    let found: Vec<Finding> = found.map(sandbox_check::as_of_another_machine).collect();
    let inspector = arguments.inspector.then(|| Inspector::of(&folder));
    let report = Validation {
        catalog: &examined.catalog,
        paths: &examined.paths,
        report: report_of(found, &examined.catalog, &examined.paths),
        fixes: &fixes,
        strict: arguments.strict,
        is_quiet: common.quiet,
        explains: arguments.explain_defaults,
        inspector: inspector.as_ref().map(|inspector| &*inspector.shown),
    };
    print(&if arguments.json { format!("{:#}\n", report.to_json()) } else { report.to_text(terminal) })?;
    let mut exit = Report::exit(examined.has_parts, report.counted_errors() > 0);
    if let Some(inspector) = inspector.filter(|_| !arguments.json)
        && !inspector.offer(&examined.search_path.path, can_ask())?
    {
        exit = Exit::Failed;
    }
    Ok(exit.into())
}

/// Examines the project with the checks of the server and those that only a user of this command wants.
fn examine(folder: &Path, settings: Settings) -> Result<Examination, Error> {
    let more = |catalog: &Catalog| -> Vec<Diagnostic> {
        let mut found = portability(catalog);
        found.extend(unreachable(catalog));
        found
    };
    Examination::of(folder, None, settings, more).map(Examination::of_project)
}

/// Asks a yes-or-no question; no if there is no answer.
fn confirmed(question: &str) -> Result<bool, Error> {
    mcp_bash_terminal::confirm(question).map_err(|error| Error::of_command(Exit::Failed, error))
}

/// The fixes that were made.
fn applied(fixes: &[Fix]) -> usize {
    fixes.iter().filter(|fix| fix.is_applied()).count()
}
