//! `scaffold resource NAME`: a file that clients may read, and its metadata.

use super::open_project::OpenProject;
use super::template::{fill, template};
use super::{
    Draft, NextSteps, ScaffoldError, add_missing_schemas, finish, path_to_schemas, require_good_name,
};
use crate::base::common::Common;
use crate::base::error::Error;

pub(super) fn run(common: &Common, name: &str) -> Result<(), Error> {
    require_good_name("resource", name)?;
    let project = OpenProject::find(common)?;
    let folder = project.paths.resources.join(name);
    if super::draft::is_there(&folder) {
        return Err(ScaffoldError::Exists(folder).into());
    }
    let resource = format!("resource.{name}");
    project.require_no_resource(&resource)?;
    let schemas = path_to_schemas(&project.paths.root, &folder);
    let places = [("NAME", name), ("SCHEMAS", &*schemas)];
    let mut draft = Draft::default();
    draft.file(folder.join(format!("{name}.txt")), fill(template!("resource/resource.txt"), &places));
    let metadata = fill(template!("resource/resource.meta.json"), &places);
    draft.file(folder.join(format!("{name}.meta.json")), metadata);
    draft.file(folder.join("README.md"), fill(template!("resource/README.md"), &places));
    add_missing_schemas(&project.paths.root, &mut draft);
    let mut steps = NextSteps::default().step("mcp-bash list resources", "see what clients receive");
    steps.notes.extend(project.registered_by_hand("resources", &format!("{name}/{name}.txt")));
    finish(common, &project, "resource", &folder, draft, steps)
}
