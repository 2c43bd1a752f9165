//! `mcp-bash import`: turns commands that people run by hand into tools. It writes metadata only, which is shown first, and
//! runs nothing except the `--help` of a program, and that only after a yes for exactly this command.

mod error;
mod help;
mod rehearsal;
mod review;
mod script;
mod source;
mod test_file;
mod tool_file;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup;
use error::ImportError;
use help::Help;
use mcp_bash_importing::{FileLocation, HelpChoices, Imported, Tool, tool_name};
use mcp_bash_project::{Catalog, Paths, Reading};
use mcp_bash_scripts::Scripts;
use review::{Review, Verdict};
use source::{FileKind, ImportSource};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::Runtime;

const EXAMPLES: &str = "\
Examples:
  mcp-bash import bin/                     a tool for each script; they are read, never run
  mcp-bash import justfile                 a tool for each recipe, shown and then asked about
  mcp-bash import Makefile --only test     only this target
  mcp-bash import package.json --yes       written without a question
  mcp-bash import git log --run-help       runs `git log --help`, and makes one tool of it
  some-program -h | mcp-bash import some-program --help-from -    runs nothing

Exit codes: 0 shown or written, 1 nothing could be made of it, 2 usage, 4 no such file or program, 5 the program
took too long. docs/importing.md says what becomes of what.";

#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// A script, a folder of scripts, a justfile, Makefile, package.json or Taskfile, a folder with one of them, or a program
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// The subcommands of a program: `git log` is `import git log`
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,

    /// The kind of the file, if its name does not tell
    #[arg(long = "as", value_name = "KIND", value_enum)]
    kind: Option<FileKind>,

    /// Read the program's help from this file, or from standard input with `-`, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "kind")]
    help_from: Option<PathBuf>,

    /// Run the program with `--help` to read its help; without this, only a yes at the terminal runs it
    #[arg(long, conflicts_with_all = ["help_from", "kind"])]
    run_help: bool,

    /// Also take this option of a program although it may change, send or delete something; may be repeated
    #[arg(long, value_name = "OPTION", value_delimiter = ',', allow_hyphen_values = true)]
    allow: Vec<String>,

    /// Take all options of a script or a program, not only the first ones
    #[arg(long)]
    all_options: bool,

    /// Import only these, by tool name or by name in the file; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// A prefix for the name of each tool
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,

    /// Write the files without asking
    #[arg(long, short)]
    yes: bool,

    /// Report as JSON; writes only together with `--yes`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let (paths, settings) = startup::project(common)?;
    let (runtime, scripts) = startup::scripts(settings)?;
    let importer = Importer { paths, runtime, scripts };
    let (review, mut verdicts) = importer.reviewed(arguments)?;
    if !arguments.json {
        review.show(&verdicts, common.quiet)?;
    }
    if review::is_confirmed(&verdicts, arguments.yes, arguments.json) {
        write(&review, &mut verdicts)?;
    }
    review.conclude(&verdicts, arguments.json, common.quiet)?;
    Ok(Exit::Done.into())
}

/// Imports the scripts of a folder, as `mcp-bash import FOLDER` does.
pub(crate) fn import_folder(common: &Common, folder: &Path, yes: bool) -> Result<ExitCode, Error> {
    run(common, &Arguments { from: folder.to_owned(), yes, ..Arguments::default() })
}

/// Writes the new tools, and records which were written. Existing files stay.
fn write(review: &Review, verdicts: &mut [Verdict]) -> Result<(), ImportError> {
    for (tool, verdict) in review.tools.iter().zip(verdicts) {
        if *verdict != Verdict::New {
            continue;
        }
        let file = review.file(tool);
        if review.has_tests {
            test_file::write(&review.tests, tool)?;
        }
        *verdict = match tool_file::write(&file, tool) {
            Ok(()) => Verdict::Written,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Verdict::Skipped("the file is there already".to_owned())
            }
            Err(source) => return Err(ImportError::Write { file, source }),
        };
    }
    Ok(())
}

struct Importer {
    paths: Paths,
    runtime: Runtime,
    scripts: Arc<Scripts>,
}

impl Importer {
    /// The tools that could be written, and the verdict on each.
    fn reviewed(&self, arguments: &Arguments) -> Result<(Review, Vec<Verdict>), ImportError> {
        let (from, imported, has_tests) = self.imported(arguments)?;
        let Imported { mut tools, left_out } = imported;
        keep_only(&mut tools, &arguments.only)?;
        for tool in &mut tools {
            let name = format!("{}{}", arguments.prefix, tool.name);
            tool.name = tool_name(&name).unwrap_or(name);
        }
        let (folder, tests) = (self.paths.tools.clone(), self.paths.root.join("tests"));
        let review = Review { from, tools, left_out, folder, tests, has_tests };
        if review.tools.is_empty() {
            return Err(review.nothing());
        }
        let verdicts = self.verdicts(&review)?;
        Ok((review, verdicts))
    }

    /// Reads the source of the import, describes it for people, and says whether its drafts get a test.
    fn imported(&self, arguments: &Arguments) -> Result<(String, Imported, bool), ImportError> {
        let source = match &arguments.help_from {
            Some(_) => ImportSource::Program { file: None, word: source::text(&arguments.from)? },
            None if arguments.run_help => source::to_run(&arguments.from, &self.paths.root)?,
            None => ImportSource::find(&arguments.from, arguments.kind, &self.paths.root)?,
        };
        match source {
            ImportSource::Scripts { files, folder, word } => {
                let shown = arguments.from.display().to_string();
                if let Some(command) = arguments.commands.first() {
                    return Err(ImportError::CommandOfScript { script: shown, command: command.clone() });
                }
                let scripts = script::Scripts {
                    root: &self.paths.root,
                    folder: folder.as_deref(),
                    word: word.as_deref(),
                    all_options: arguments.all_options,
                };
                Ok((shown, scripts.read(&files), true))
            }
            ImportSource::File { path, kind } => {
                if let Some(command) = arguments.commands.first() {
                    return Err(ImportError::CommandOfFile { file: path, command: command.clone() });
                }
                let (folder, file) = self.place(&path)?;
                let text = source::read(&path)?;
                let imported = kind.read(&text, FileLocation { folder: &folder, file: &file });
                let shown = path.display().to_string();
                let imported =
                    imported.map_err(|why| ImportError::Unreadable { what: shown.clone(), why })?;
                Ok((shown, imported, false))
            }
            ImportSource::Program { file, word } => {
                let mut command = vec![word];
                command.extend(arguments.commands.iter().cloned());
                let help = self.help(arguments, file.as_deref())?;
                let shown = format!("the help of `{}`", command.join(" "));
                let aliases: Vec<String> = file
                    .iter()
                    .filter_map(|file| Some(file.canonicalize().ok()?.to_str()?.to_owned()))
                    .collect();
                let choices = HelpChoices {
                    aliases: &aliases,
                    allowed: &arguments.allow,
                    all_options: arguments.all_options,
                };
                let imported = mcp_bash_importing::read_help(&command, &help.text, choices);
                let imported =
                    imported.map_err(|why| ImportError::of_help(shown.clone(), why, help.last_words()))?;
                Ok((shown, imported, false))
            }
        }
    }

    /// The help text of a program, from where the user said.
    fn help(&self, arguments: &Arguments, program: Option<&Path>) -> Result<Help, ImportError> {
        match (&arguments.help_from, program) {
            (Some(from), _) if from == Path::new("-") => help::from_stdin().map(Help::from),
            (Some(from), _) => source::read(from).map(Help::from),
            (None, Some(program)) => {
                let command = help::HelpCommand { program, commands: &arguments.commands };
                if !arguments.run_help && (arguments.json || !help::is_confirmed(&command)) {
                    return Err(ImportError::NotConfirmed(command.to_string()));
                }
                help::ask(&self.scripts, &self.runtime, &command)
            }
            (None, None) => Err(ImportError::NoSuch { from: arguments.from.clone(), meant: None }),
        }
    }

    /// The path of a file, for a command that runs in the folder of the project.
    fn place(&self, path: &Path) -> Result<(String, String), ImportError> {
        let path =
            path.canonicalize().map_err(|source| ImportError::Read { file: path.to_owned(), source })?;
        let root = self.paths.root.canonicalize().unwrap_or_else(|_| self.paths.root.clone());
        let below = path.strip_prefix(&root).unwrap_or(&path);
        let folder = source::text(below.parent().unwrap_or(Path::new("")))?;
        let file = source::text(Path::new(below.file_name().unwrap_or_default()))?;
        Ok((folder, file))
    }

    /// The verdict on each tool: new, or skipped because its name is taken or it would not be served.
    fn verdicts(&self, review: &Review) -> Result<Vec<Verdict>, ImportError> {
        // Without a runner: providers are not asked, and the hook is not run.
        let catalog = Catalog::read(&self.paths, &Reading::default());
        let known: BTreeSet<&str> = catalog.tools.items().iter().map(|tool| &*tool.name).collect();
        let problems = rehearsal::problems(&review.tools, self.scripts.state_dir())?;
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let verdict = |(tool, problem): (&'_ Tool, Option<String>)| -> Verdict {
            let lower = tool.name.to_ascii_lowercase();
            if known.iter().any(|known| known.eq_ignore_ascii_case(&lower)) {
                Verdict::Skipped("the project has a tool of this name".to_owned())
            } else if let Some(file) = tool_file::in_the_way(&self.paths.tools, &tool.name) {
                Verdict::Skipped(format!("{} is there already", file.display()))
            } else if let Some(problem) = problem {
                Verdict::Skipped(problem)
            } else {
                Verdict::New
            }
        };
        let mut verdicts: Vec<Verdict> = review.tools.iter().zip(problems).map(verdict).collect();
        for (tool, verdict) in review.tools.iter().zip(&mut verdicts) {
            if !taken.insert(&tool.name) {
                *verdict = Verdict::Skipped("another one before it has the same name".to_owned());
            }
        }
        Ok(verdicts)
    }
}

/// Keeps the requested tools, or reports those that do not exist.
fn keep_only(tools: &mut Vec<Tool>, only: &[String]) -> Result<(), ImportError> {
    if only.is_empty() {
        return Ok(());
    }
    let is_named = |tool: &Tool, name: &String| tool.name == *name || tool.origin == *name;
    if let Some(missing) = only.iter().find(|name| !tools.iter().any(|tool| is_named(tool, name))) {
        let names = tools.iter().map(|tool| tool.origin.clone()).collect();
        return Err(ImportError::NoSuchName { name: missing.clone(), names });
    }
    tools.retain(|tool| only.iter().any(|name| is_named(tool, name)));
    Ok(())
}
