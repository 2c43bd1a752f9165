//! `mcp-bash init`: turns an existing folder into a project. Existing files stay as they are.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::import::import_folder;
use crate::commands::scaffold::project_files::{self, completed_gitignore, server_name};
use crate::commands::scaffold::{
    Draft, HELLO, HelloOptions, Language, NextSteps, SCHEMAS, SCHEMAS_FOLDER, ScaffoldError,
    add_missing_schemas, hello, others_may_write, say_text,
};
use mcp_bash_harmless::shell_path;
use mcp_bash_project::{Paths, loose_scripts};
use mcp_bash_sandbox::Mode;
use mcp_bash_terminal::{can_ask, confirm};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder [default: the current one, or that of --project-root]
    #[arg(value_name = "DIR", conflicts_with = "project_root")]
    folder: Option<PathBuf>,

    /// The name of the server [default: the folder's name, in a form that every client accepts]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    hello: HelloOptions,

    /// Also make tools of the scripts in the folder, without asking
    #[arg(long, short)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash init
  mcp-bash init ~/scripts
  mcp-bash init --lang python
  mcp-bash init --yes                  also makes tools of the scripts here, as `import` does
  mcp-bash init --name my-server --no-hello";

/// Longer than any .gitignore, in bytes.
const LONGEST_GITIGNORE: u64 = 1024 * 1024;

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let folder = arguments.folder.clone().or_else(|| common.project_root.clone());
    let common = Common { project_root: folder, ..common.clone() };
    initialize(&common, arguments.name.as_deref(), &arguments.hello, arguments.yes)
}

/// Initializes the folder. Imports its scripts with `imports`, or if the user at the terminal says so.
pub(super) fn initialize(
    common: &Common,
    name: Option<&str>,
    hello: &HelloOptions,
    imports: bool,
) -> Result<ExitCode, Error> {
    let folder = common.project_root.clone().unwrap_or_else(|| PathBuf::from("."));
    let root = folder.canonicalize().map_err(|source| Error::Read { path: folder, source })?;
    let scripts = loose_scripts(&root);
    let of_folder = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    let called = name.map(str::to_owned).or_else(of_folder).filter(|name| !name.trim().is_empty());
    let called = called.ok_or(ScaffoldError::NoName)?;
    // A name that the user chose stays; the name of a folder is adapted for all clients.
    let name = name.map_or_else(|| server_name(&called), str::to_owned);
    let mut plan = Plan { paths: Paths::of(&root), draft: Draft::default(), told: String::new() };
    // Scripts that are there already may need more than a sandbox allows.
    let has_scripts =
        scripts.is_some() || plan.paths.tools.read_dir().is_ok_and(|mut tools| tools.next().is_some());
    plan.metadata(&name, &called, if has_scripts { Mode::Off } else { Mode::On });
    plan.gitignore()?;
    plan.schemas();
    plan.tools(hello.language());
    plan.draft.write()?;
    let mut steps = NextSteps::default();
    if hello.language().is_some() {
        steps = steps.step("mcp-bash call hello name=Ada", "call its tool");
    }
    let offers = scripts.is_some() && (imports || !common.quiet && can_ask());
    if let Some(scripts) = scripts.as_deref().filter(|_| !offers) {
        let command = format!("mcp-bash import {}", shown(common, scripts, &root));
        steps = steps.step(command, "make tools of the scripts there; shows them first, and runs none");
    }
    let mut steps = steps
        .step("mcp-bash scaffold tool NAME", "make a tool of your own")
        .step("mcp-bash install", "add the server to your clients");
    steps.notes.extend(others_may_write(&plan.paths.tools, &root));
    let told = format!("Initialized an MCP server project\n\n{}", plan.told);
    steps.say(common, &told)?;
    match scripts.filter(|_| offers) {
        Some(scripts) => offer(common, &scripts, &root, imports),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Imports scripts after a yes. They are shown before anything is written, and none is run.
fn offer(common: &Common, scripts: &Path, root: &Path, yes: bool) -> Result<ExitCode, Error> {
    let shown = shown(common, scripts, root);
    let question = format!("Make tools of the scripts in {shown}? They are shown first, and none is run");
    if yes || confirm(&question).unwrap_or(false) {
        let common = Common { project_root: Some(root.to_owned()), ..common.clone() };
        return import_folder(&common, scripts, yes);
    }
    say_text(common, &format!("`mcp-bash import {shown}` does it later\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder of the scripts, as a command in the current folder names it.
fn shown(common: &Common, scripts: &Path, root: &Path) -> String {
    if common.project_root.is_some() {
        return shell_path(scripts);
    }
    let below = scripts.strip_prefix(root).unwrap_or(scripts);
    shell_path(if below.as_os_str().is_empty() { Path::new(".") } else { below })
}

/// What is to be done, and the messages about it.
struct Plan {
    paths: Paths,
    draft: Draft,
    told: String,
}

impl Plan {
    fn tell(&mut self, what: &str, path: &Path) {
        let below = path.strip_prefix(&self.paths.root).unwrap_or(path);
        let _ = writeln!(self.told, "  {what} {}", below.display());
    }

    fn metadata(&mut self, name: &str, called: &str, sandbox: Mode) {
        let file = self.paths.server.join("server.meta.json");
        if is_there(&file) {
            return self.tell("Skipped existing", &file);
        }
        self.draft.file(file.clone(), project_files::metadata(&self.paths, name, called, sandbox));
        self.tell("Created", &file);
    }

    fn gitignore(&mut self) -> Result<(), Error> {
        let file = self.paths.root.join(".gitignore");
        if !is_there(&file) {
            self.draft.file(file.clone(), project_files::GITIGNORE);
            self.tell("Created", &file);
            return Ok(());
        }
        let written = mcp_bash_files::read_text(&file, LONGEST_GITIGNORE)
            .map_err(|source| Error::Read { path: file.clone(), source })?;
        match completed_gitignore(&written) {
            Some(text) => {
                self.draft.change(file.clone(), text);
                self.tell("Updated", &file);
            }
            None => self.tell("Skipped existing", &file),
        }
        Ok(())
    }

    fn schemas(&mut self) {
        let folder = self.paths.root.join(SCHEMAS_FOLDER);
        let has_all = SCHEMAS.iter().all(|(name, _)| is_there(&folder.join(format!("{name}.schema.json"))));
        add_missing_schemas(&self.paths.root, &mut self.draft);
        self.tell(if has_all { "Skipped existing" } else { "Created" }, &folder);
    }

    /// The folder of tools, with the tool `hello` in a language if it is wanted.
    fn tools(&mut self, hello_in: Option<Language>) {
        let tools = self.paths.tools.clone();
        match (hello_in, known_hello(&tools)) {
            (Some(_), Some(known)) => self.tell("Skipped existing", &known),
            (Some(language), None) => {
                let made = hello(&mut self.draft, &self.paths, language);
                self.tell("Created", &made);
            }
            (None, _) if is_there(&tools) => self.tell("Skipped existing", &tools),
            (None, _) => {
                self.draft.folder(tools.clone());
                self.tell("Created", &tools);
            }
        }
    }
}

/// A folder or a script that already has the name of our tool.
fn known_hello(tools: &Path) -> Option<PathBuf> {
    let entries = tools.read_dir().ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_stem().is_some_and(|stem| stem == HELLO)).min()
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
