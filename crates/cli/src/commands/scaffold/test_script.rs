//! `scaffold test`: `test/run.sh`, a script that calls the tools of a project and counts the successes.

use super::open_project::OpenProject;
use super::template::template;
use super::{Draft, NextSteps, finish};
use crate::base::common::Common;
use crate::base::error::Error;

pub(super) fn run(common: &Common) -> Result<(), Error> {
    let project = OpenProject::find(common)?;
    let folder = project.paths.root.join("test");
    let mut draft = Draft::default();
    draft.file(folder.join("run.sh"), template!("test/run.sh").text);
    draft.file(folder.join("README.md"), template!("test/README.md").text);
    let steps = NextSteps::default()
        .step("./test/run.sh", "call the smoke.sh of each tool, and the tests you add to it")
        .step("mcp-bash test", "and the cases beside the tools");
    finish(common, &project, "test harness", &folder, draft, steps)
}
