//! `mcp-bash scaffold`: adds a tool, a prompt, a resource, a completion, an executable that provides tools or a test script
//! to a project. Everything it writes works at once, and existing files are not changed.

mod completion;
mod draft;
mod error;
mod function_file;
mod hello;
mod hello_options;
mod hints;
mod language;
mod name;
mod next_steps;
mod open_project;
pub(crate) mod project_files;
mod prompt;
mod provider;
mod registration;
mod resource;
mod schemas;
mod template;
mod test_script;
mod tool;

pub(crate) use draft::Draft;
pub(crate) use error::ScaffoldError;
pub(crate) use hello::{NAME as HELLO, hello};
pub(crate) use hello_options::HelloOptions;
pub(crate) use language::Language;
pub(crate) use name::require_good_name;
pub(crate) use next_steps::{NextSteps, say_text};
pub(crate) use open_project::others_may_write;
pub(crate) use schemas::{
    FOLDER as SCHEMAS_FOLDER, SCHEMAS, add_missing as add_missing_schemas, path_to_schemas,
};
pub(crate) use template::{Template, fill, template};

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use open_project::OpenProject;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    kind: ScaffoldKind,
}

#[derive(Debug, clap::Subcommand)]
enum ScaffoldKind {
    /// A tool and its test: a script with metadata, a function, or with --from an existing program
    Tool(tool::Arguments),
    /// A prompt: a text with placeholders for arguments
    #[command(after_help = PROMPT_EXAMPLES)]
    Prompt(Named),
    /// A resource: a file that clients can read
    #[command(after_help = RESOURCE_EXAMPLES)]
    Resource(Named),
    /// A script that completes the arguments of a prompt or a resource
    Completion(completion::Arguments),
    /// An executable that describes its own tools
    Provider(provider::Arguments),
    /// test/run.sh, which calls tools and reports which of them fail
    #[command(after_help = TEST_EXAMPLES)]
    Test,
    #[command(hide = true)]
    Ui(Ui),
}

#[derive(Debug, clap::Args)]
struct Named {
    /// Letters, digits, `_` and `-`
    name: String,
}

/// What mcp-bash in bash took.
#[derive(Debug, clap::Args)]
struct Ui {
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    _words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold tool backup                  tools/backup/ with a script in bash
  mcp-bash scaffold tool report --lang python    tools/report.py with a function
  mcp-bash scaffold tool search --from rg        a tool that runs the program rg, without a script
  mcp-bash scaffold prompt review
  mcp-bash scaffold completion review";

const PROMPT_EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold prompt review    prompts/review/, which clients call prompt.review";

const RESOURCE_EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold resource manual  resources/manual/, which clients call resource.manual";

const TEST_EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold test
  ./test/run.sh";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let done = match &arguments.kind {
        ScaffoldKind::Tool(tool) => tool::run(common, tool),
        ScaffoldKind::Prompt(Named { name }) => prompt::run(common, name),
        ScaffoldKind::Resource(Named { name }) => resource::run(common, name),
        ScaffoldKind::Completion(completion) => completion::run(common, completion),
        ScaffoldKind::Provider(provider) => provider::run(common, provider),
        ScaffoldKind::Test => test_script::run(common),
        ScaffoldKind::Ui(_) => Err(ScaffoldError::NoUi.into()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

impl From<ScaffoldError> for Error {
    /// As in mcp-bash in bash: 1 for every error.
    fn from(error: ScaffoldError) -> Self {
        Self::of_command(Exit::Failed, error)
    }
}

/// Writes the draft, and reports it.
fn finish(
    common: &Common,
    project: &OpenProject,
    kind: &str,
    at: &Path,
    draft: Draft,
    mut steps: NextSteps,
) -> Result<(), Error> {
    draft.write()?;
    steps.notes.extend(others_may_write(at.parent().unwrap_or(at), &project.paths.root));
    steps.say(common, &format!("Scaffolded {kind} at {}\n", next_steps::shown(at)))
}
