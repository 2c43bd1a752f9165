//! `mcp-bash new NAME`: creates a project folder, with a tool that can be called at once.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::init::initialize;
use crate::commands::scaffold::project_files::{self, server_name};
use crate::commands::scaffold::{
    Draft, HelloOptions, NextSteps, ScaffoldError, add_missing_schemas, hello, require_good_name,
};
use mcp_bash_project::{Paths, import_hint};
use mcp_bash_sandbox::Mode;
use mcp_bash_terminal::{can_ask, confirm};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the folder: letters, digits, `_` and `-`; also the name of the server, with `-` for `_`
    name: String,

    /// Refused: it hides the option of other commands, and gets an error of its own
    #[arg(long, value_name = "DIR", hide = true)]
    project_root: Option<PathBuf>,

    #[command(flatten)]
    hello: HelloOptions,

    /// If the folder exists and holds scripts, make it a project and make tools of them, without asking
    #[arg(long, short)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash new my-project
  mcp-bash new my-project --lang python
  cd my-project && mcp-bash call hello name=Ada";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { name, project_root, hello: options, yes } = arguments;
    if common.project_root.is_some() || project_root.is_some() {
        return Err(Error::of_command(Exit::Usage, ScaffoldError::NewElsewhere));
    }
    require_good_name("server", name)?;
    let here = std::env::current_dir().map_err(|source| Error::Read { path: ".".into(), source })?;
    let paths = Paths::of(&here.join(name));
    if paths.root.symlink_metadata().is_ok() {
        return existing(common, arguments, paths.root, *yes);
    }
    let mut draft = Draft::default();
    draft.file(
        paths.server.join("server.meta.json"),
        project_files::metadata(&paths, &server_name(name), name, Mode::On),
    );
    draft.file(paths.root.join(".gitignore"), project_files::GITIGNORE);
    draft.file(paths.root.join("README.md"), project_files::readme(name));
    let mut steps = NextSteps::default().step(format!("cd {name}"), "the project");
    if let Some(language) = options.language() {
        hello(&mut draft, &paths, language);
        steps = steps
            .step("mcp-bash call hello name=Ada", "call its tool")
            .step("mcp-bash scaffold tool NAME", "make one of your own");
    } else {
        draft.folder(paths.tools.clone());
        steps = steps.step("mcp-bash scaffold tool NAME", "make a tool");
    }
    add_missing_schemas(&paths.root, &mut draft);
    draft.write()?;
    let steps = steps.step("mcp-bash install", "add the server to your clients");
    steps.say(common, &format!("Created project at ./{name}/\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A folder of scripts becomes a project if the user says so. Any other folder stays as it is.
fn existing(common: &Common, arguments: &Arguments, root: PathBuf, yes: bool) -> Result<ExitCode, Error> {
    let Some(hint) = import_hint(&root) else { return Err(ScaffoldError::Exists(root).into()) };
    let name = &arguments.name;
    let question = format!("{name} already exists, and holds scripts. Make it a project?");
    if !yes && (common.quiet || !can_ask() || !confirm(&question).unwrap_or(false)) {
        return Err(ScaffoldError::FolderOfScripts { folder: root, hint }.into());
    }
    let common = Common { project_root: Some(root), ..common.clone() };
    initialize(&common, Some(&server_name(name)), &arguments.hello, yes)
}
