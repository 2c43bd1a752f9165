//! Entries that run a script: tools, prompts, resources, templates and completions, each with the sandbox that it declares.

use mcp_bash_project::{Catalog, Paths, ServedBy, Source, provider_by_scheme, provider_script};
use mcp_bash_sandbox::Declaration;
use std::path::{Path, PathBuf};

pub(crate) struct ScriptEntry<'a> {
    /// `tool`, `prompt` …
    pub(crate) kind: &'static str,
    /// Its name or URI.
    pub(crate) name: &'a str,
    /// The sandbox that it declares.
    pub(crate) own: Option<&'a Declaration>,
    /// The script.
    pub(crate) file: PathBuf,
}

impl<'a> ScriptEntry<'a> {
    fn new(kind: &'static str, name: &'a str, own: Option<&'a Declaration>, file: &Path) -> Self {
        Self { kind, name, own, file: file.to_owned() }
    }
}

/// All of them, in the order of lists.
pub(crate) fn script_entries(catalog: &Catalog) -> Vec<ScriptEntry<'_>> {
    let tools = catalog.tools.items().iter();
    let tools =
        tools.map(|tool| ScriptEntry::new("tool", &tool.name, tool.options.sandbox.as_ref(), &tool.script));
    let prompts = catalog.prompts.items().iter().filter_map(|prompt| match &prompt.source {
        Source::Script => {
            Some(ScriptEntry::new("prompt", &prompt.name, prompt.sandbox.as_ref(), &prompt.file))
        }
        Source::Function(function) => Some(of_function("prompt", &prompt.name, function)),
        Source::Template | Source::Messages(_) => None,
    });
    let resources = catalog.resources.items().iter().filter_map(|resource| {
        let (uri, sandbox) = (&resource.uri, resource.about.sandbox.as_ref());
        match &resource.function {
            Some(function) => Some(of_function("resource", uri, function)),
            None => of_provider("resource", uri, sandbox, Some(&resource.provider), &catalog.paths),
        }
    });
    let templates = catalog.templates.items().iter().filter_map(|template| {
        let (name, sandbox) = (template.template.as_str(), template.about.sandbox.as_ref());
        match &template.function {
            Some(function) => Some(of_function("template", name, function)),
            None => of_provider("template", name, sandbox, template.provider.as_deref(), &catalog.paths),
        }
    });
    let completions = catalog.completions.items().iter().map(|completion| {
        ScriptEntry::new("completion", &completion.name, completion.sandbox.as_ref(), &completion.script)
    });
    tools.chain(prompts).chain(resources).chain(templates).chain(completions).collect()
}

fn of_function<'a>(kind: &'static str, name: &'a str, function: &'a ServedBy) -> ScriptEntry<'a> {
    ScriptEntry::new(kind, name, function.sandbox.as_ref(), &function.file)
}

/// An entry that a script of the project reads. Those that we read ourselves run none.
fn of_provider<'a>(
    kind: &'static str,
    uri: &'a str,
    sandbox: Option<&'a Declaration>,
    provider: Option<&str>,
    paths: &Paths,
) -> Option<ScriptEntry<'a>> {
    let provider = provider.map(ToOwned::to_owned).or_else(|| provider_by_scheme(uri))?;
    Some(ScriptEntry::new(kind, uri, sandbox, &provider_script(paths, &provider)?))
}
