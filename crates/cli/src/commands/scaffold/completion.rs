//! `scaffold completion NAME`: a script that completes the arguments of a prompt or a resource, and its entry in
//! `server.d/register.json`, without which no script completes anything.

use super::draft::is_there;
use super::language::Language;
use super::open_project::OpenProject;
use super::template::{fill, template};
use super::{
    Draft, NextSteps, ScaffoldError, add_missing_schemas, finish, path_to_schemas, registration,
    require_good_name,
};
use crate::base::common::Common;
use crate::base::error::Error;
use serde_json::json;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The prompt or the resource whose arguments it completes, with or without `prompt.` or `resource.`
    name: String,

    /// The language of the script
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "bash")]
    lang: Language,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold prompt review
  mcp-bash scaffold completion review
  mcp-bash scaffold completion review --lang python";

pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<(), Error> {
    let Arguments { name, lang } = arguments;
    let plain = name.strip_prefix("prompt.").or_else(|| name.strip_prefix("resource.")).unwrap_or(name);
    require_good_name("completion", plain)?;
    let project = OpenProject::find(common)?;
    let folder = project.paths.completions.join(plain);
    if is_there(&folder) {
        return Err(ScaffoldError::Exists(folder).into());
    }
    let target = target(&project, name, plain);
    if let Some(known) = project.catalog.completions.items().iter().find(|known| known.name == target) {
        let file = known.script.clone();
        return Err(ScaffoldError::Taken { kind: "completion", name: target, file }.into());
    }
    let (script, template) = match lang {
        Language::Bash => ("completion.sh", template!("completion/bash/completion.sh")),
        Language::Python => ("completion.py", template!("completion/python/completion.py")),
        Language::Node => ("completion.mjs", template!("completion/node/completion.mjs")),
    };
    let of = if project.require_no_resource(&target).is_err() { "resource" } else { "prompt" };
    let places = [("TARGET", &*target), ("SCRIPT", script), ("KIND", of)];
    let mut draft = Draft::default();
    draft.file(folder.join(script), fill(template, &places));
    draft.file(folder.join("README.md"), fill(template!("completion/README.md"), &places));
    add_missing_schemas(&project.paths.root, &mut draft);

    let path = folder.join(script);
    let path = path.strip_prefix(&project.paths.root).unwrap_or(&path).to_string_lossy();
    let entry = json!({ "name": target, "path": path, "timeoutSecs": 5 }).to_string();
    let mut steps = NextSteps::default();
    steps.notes.extend(register(&project, &entry, &mut draft)?);
    if !project.has_prompt_or_resource(&target) {
        steps.notes.push(format!(
            "there is no prompt or resource called {target} yet, whose arguments it could complete"
        ));
    }
    let steps = steps.step(format!("mcp-bash complete {of} {target} subject a"), "see what it suggests");
    finish(common, &project, "completion", &folder, draft, steps)
}

/// What is completed: the entry of that name, as given or as `scaffold` names it.
fn target(project: &OpenProject, name: &str, plain: &str) -> String {
    let names = [name.to_owned(), format!("prompt.{plain}"), format!("resource.{plain}")];
    names.into_iter().find(|name| project.has_prompt_or_resource(name)).unwrap_or_else(|| name.to_owned())
}

/// Adds the entry to the registration. Returns what the user has to do by hand.
fn register(project: &OpenProject, entry: &str, draft: &mut Draft) -> Result<Option<String>, ScaffoldError> {
    let (paths, file) = (&project.paths, registration::file(&project.paths));
    if let Some(text) = registration::read(paths)? {
        let changed = registration::with_completion(&text, entry)
            .map_err(|problem| ScaffoldError::Registration { file: file.clone(), problem })?;
        draft.change(file, changed);
        return Ok(None);
    }
    if is_there(&paths.server.join("register.sh")) {
        // A register.json would replace it.
        return Ok(Some(format!(
            "server.d/register.sh registers what this project has: add the line mcp_completion_register_manual '{entry}'"
        )));
    }
    let schemas = path_to_schemas(&paths.root, &paths.server);
    let text = format!(
        "{{\n  \"$schema\": \"{schemas}/register.schema.json\",\n  \"version\": 1,\n  \"completions\": [\n    {entry}\n  ]\n}}\n"
    );
    draft.file(file, text);
    Ok(None)
}
