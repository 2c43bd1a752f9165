//! Definitions: what files report, and who receives it.

use crate::project::Project;
use std::path::Path;
use std::sync::mpsc::channel;

#[test]
fn a_file_that_answered_before_anybody_wanted_to_know_is_told() {
    let provider = "#!/bin/sh\n# mcp: {\"provider\": true}\n[ \"$1\" = list ] && echo '{\"name\":\"add\"}'\n";
    let project = Project::new(&[("tools/team", provider)]);
    assert_eq!(project.tool("add").name, "add");
    let (tell, told) = channel();
    project.scripts.on_definitions(move |file: &Path| tell.send(file.to_owned()).unwrap());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [project.path("tools/team")]);
}
