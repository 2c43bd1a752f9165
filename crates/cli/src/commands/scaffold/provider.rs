//! `scaffold provider NAME`: an executable directly in `tools/` that lists its own tools.

use super::draft::is_there;
use super::language::Language;
use super::next_steps::shown;
use super::open_project::OpenProject;
use super::template::{fill, template};
use super::{
    Draft, NextSteps, ScaffoldError, add_missing_schemas, finish, path_to_schemas, require_good_name,
};
use crate::base::common::Common;
use crate::base::error::Error;
use mcp_bash_harmless::shell_word;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Letters, digits, `_` and `-`: the name of the executable, and of its first tool
    name: String,

    /// The language of the executable
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "bash")]
    lang: Language,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold provider team
  mcp-bash scaffold provider team --lang node";

pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<(), Error> {
    let Arguments { name, lang } = arguments;
    require_good_name("provider", name)?;
    let project = OpenProject::find(common)?;
    let (ending, template) = match lang {
        Language::Bash => ("sh", template!("provider/bash/provider.sh")),
        Language::Python => ("py", template!("provider/python/provider.py")),
        Language::Node => ("mjs", template!("provider/node/provider.mjs")),
    };
    let file = project.paths.tools.join(format!("{name}.{ending}"));
    if is_there(&file) {
        return Err(ScaffoldError::Exists(file).into());
    }
    project.require_no_tool(name)?;
    let mut draft = Draft::default();
    draft.file(file.clone(), fill(template, &[("NAME", name)]));
    let tests = project.paths.root.join("tests");
    let schemas = path_to_schemas(&project.paths.root, &tests);
    let test = fill(template!("provider/test.yaml"), &[("NAME", name), ("SCHEMAS", &*schemas)]);
    draft.file(tests.join(format!("{name}.yaml")), test);
    add_missing_schemas(&project.paths.root, &mut draft);
    let mut steps = NextSteps::default()
        .step(format!("mcp-bash call {name} name=Ada"), "call its tool")
        .step(format!("mcp-bash test {name}"), "run its test")
        .step(format!("mcp-bash provider check {}", shell_word(&shown(&file))), "see what clients receive");
    steps
        .notes
        .extend(project.registered_by_hand("tools", &format!("{name}.{ending} and \"provider\": true")));
    finish(common, &project, "provider", &file, draft, steps)
}
