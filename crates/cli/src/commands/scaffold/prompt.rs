//! `scaffold prompt NAME`: a text with placeholders for arguments, and its metadata.

use super::open_project::OpenProject;
use super::template::{fill, template};
use super::{
    Draft, NextSteps, ScaffoldError, add_missing_schemas, finish, path_to_schemas, require_good_name,
};
use crate::base::common::Common;
use crate::base::error::Error;

pub(super) fn run(common: &Common, name: &str) -> Result<(), Error> {
    require_good_name("prompt", name)?;
    let project = OpenProject::find(common)?;
    let folder = project.paths.prompts.join(name);
    if super::draft::is_there(&folder) {
        return Err(ScaffoldError::Exists(folder).into());
    }
    let prompt = format!("prompt.{name}");
    project.require_no_prompt(&prompt)?;
    let schemas = path_to_schemas(&project.paths.root, &folder);
    let places = [("NAME", name), ("SCHEMAS", &*schemas)];
    let mut draft = Draft::default();
    draft.file(folder.join(format!("{name}.txt")), fill(template!("prompt/prompt.txt"), &places));
    draft.file(folder.join(format!("{name}.meta.json")), fill(template!("prompt/prompt.meta.json"), &places));
    draft.file(folder.join("README.md"), fill(template!("prompt/README.md"), &places));
    add_missing_schemas(&project.paths.root, &mut draft);
    let mut steps = NextSteps::default()
        .step(format!("mcp-bash get {prompt} subject=tests"), "see what a client gets")
        .step(format!("mcp-bash scaffold completion {name}"), "complete its arguments with a script");
    steps.notes.extend(project.registered_by_hand("prompts", &format!("{name}/{name}.txt")));
    finish(common, &project, "prompt", &folder, draft, steps)
}
