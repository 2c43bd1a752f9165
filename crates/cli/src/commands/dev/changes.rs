//! Project changes: what differs after the project was read again, by name.

use mcp_bash_project::Catalog;
use std::collections::BTreeMap;

/// The content of a project: for each kind the names, and what clients see of each.
pub(crate) struct Holdings([(&'static str, BTreeMap<String, String>); 4]);

impl Holdings {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let tools = catalog.tools.items().iter().map(|tool| {
            let told = (&tool.title, &tool.description, &tool.input_schema, &tool.output_schema);
            (tool.name.clone(), format!("{told:?} {:?} {:?}", tool.annotations, tool.execution))
        });
        let resources = catalog.resources.items().iter().map(|resource| {
            (resource.uri.clone(), format!("{:?} {:?} {}", resource.about, resource.size, resource.provider))
        });
        let templates = catalog.templates.items().iter().map(|template| {
            (template.template.to_string(), format!("{:?} {:?}", template.about, template.provider))
        });
        let prompts = catalog.prompts.items().iter().map(|prompt| {
            let told = (&prompt.title, &prompt.description, &prompt.arguments, prompt.role);
            (prompt.name.clone(), format!("{told:?} {:?}", prompt.source))
        });
        Self([
            ("tools", tools.collect()),
            ("resources", resources.collect()),
            ("resource templates", templates.collect()),
            ("prompts", prompts.collect()),
        ])
    }

    /// A line for each kind that has changed: `tools: added new, removed old, changed hello`.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<String> {
        let kinds = self.0.iter().zip(&before.0);
        kinds.filter_map(|((kind, now), (_, before))| changes(kind, now, before)).collect()
    }
}

fn changes(kind: &str, now: &BTreeMap<String, String>, before: &BTreeMap<String, String>) -> Option<String> {
    let of =
        |word: &str, names: Vec<&str>| (!names.is_empty()).then(|| format!("{word} {}", names.join(" ")));
    let added = now.keys().filter(|name| !before.contains_key(*name)).map(String::as_str);
    let removed = before.keys().filter(|name| !now.contains_key(*name)).map(String::as_str);
    let changed = now.iter().filter(|(name, told)| before.get(*name).is_some_and(|before| before != *told));
    let parts: Vec<String> = [
        of("added", added.collect()),
        of("removed", removed.collect()),
        of("changed", changed.map(|(name, _)| name.as_str()).collect()),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("{kind}: {}", parts.join(", ")))
}
