//! Named entries: the tools, resources and prompts that a new token names must exist in the project. A misspelled name, or a
//! pattern that fits none, would allow nothing, and its caller would not learn why.

use super::NewArguments;
use crate::base::common::Common;
use crate::base::error::{Error, meant};
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use mcp_bash_project::Catalog;
use mcp_bash_settings::AllowedNames;
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::{harmless_line, tell};
use mcp_bash_transport::http::NameList;

/// Refuses names that the project does not have. Without a project nothing can be checked, and a note says so.
pub(super) fn check(common: &Common, arguments: &NewArguments) -> Result<(), Error> {
    let lists = [&arguments.tools, &arguments.resources, &arguments.prompts];
    if lists.iter().all(|list| list.is_none()) {
        return Ok(());
    }
    let project = match OpenProject::read(common, |_| ()) {
        Ok(project) => project,
        Err(Error::NoProject) => {
            if !common.quiet {
                tell("The names are not checked, because this is no project; --project-root names one.");
            }
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let catalog = &project.catalog;
    check_list("tool", arguments.tools.as_ref(), &tools(catalog))?;
    check_list("resource", arguments.resources.as_ref(), &resources(catalog))?;
    check_list("prompt", arguments.prompts.as_ref(), &prompts(catalog))
}

fn check_list(kind: &str, list: Option<&NameList>, known: &[&str]) -> Result<(), Error> {
    for name in list.into_iter().flat_map(NameList::names) {
        let named: AllowedNames = [name.as_str()].into_iter().collect();
        if matches!(name.as_str(), "*" | "all") || known.iter().any(|known| named.hold(known)) {
            continue;
        }
        let suggestion = meant(nearest(name, known.iter().copied()));
        let said = format!(
            "the project has no {kind} `{}`{suggestion}; `mcp-bash list` lists what it has",
            harmless_line(name)
        );
        return Err(Error::of_command(Exit::NotFound, said));
    }
    Ok(())
}

fn tools(catalog: &Catalog) -> Vec<&str> {
    catalog.tools.items().iter().map(|tool| tool.name.as_str()).collect()
}

/// Resources and templates, by name and by URI.
fn resources(catalog: &Catalog) -> Vec<&str> {
    let resources = catalog.resources.items().iter();
    let resources = resources.flat_map(|resource| [resource.about.name.as_str(), &resource.uri]);
    let templates = catalog.templates.items().iter();
    let templates = templates.flat_map(|known| [known.about.name.as_str(), known.template.as_str()]);
    resources.chain(templates).collect()
}

fn prompts(catalog: &Catalog) -> Vec<&str> {
    catalog.prompts.items().iter().map(|prompt| prompt.name.as_str()).collect()
}
