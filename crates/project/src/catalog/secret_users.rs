//! Secret users: what in a project needs secrets.

use crate::catalog::Catalog;
use crate::catalog::reading::Reading;
use crate::walk::entry::Entry;
use mcp_bash_secrets::Needs;

/// An entry that needs secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUser<'a> {
    /// As in "tool x".
    pub what: String,
    pub needs: &'a Needs,
}

impl Catalog {
    /// Everything that needs secrets. Empty for most projects.
    pub fn secret_users(&self) -> Vec<SecretUser<'_>> {
        let named = |kind: &str, name: &str| format!("{kind} {name}");
        let tools = self.tools.items().iter().map(|tool| ("tool", &tool.name, &tool.options.secrets));
        let prompts = self.prompts.items().iter().map(|prompt| ("prompt", &prompt.name, &prompt.secrets));
        let resources = self.resources.items().iter().map(|resource| &resource.about);
        let templates = self.templates.items().iter().map(|template| &template.about);
        let resources = resources.chain(templates).map(|about| ("resource", &about.name, &about.secrets));
        let completions = self.completions.items().iter();
        let completions = completions.map(|script| ("completion", &script.name, &script.secrets));
        let all = tools.chain(prompts).chain(resources).chain(completions);
        let all = all.filter(|(_, _, needs)| !needs.is_empty());
        let mut users: Vec<_> =
            all.map(|(kind, name, needs)| SecretUser { what: named(kind, name), needs }).collect();
        for file in self.functions.items() {
            let needs = &file.served_by.secrets;
            if !needs.is_empty() && !users.iter().any(|user| user.needs == needs) {
                users.push(SecretUser { what: named("functions in", file.path()), needs });
            }
        }
        users
    }

    /// Tells what runs the scripts which secrets they need.
    pub(super) fn note_secrets(&self, reading: &Reading) {
        if let Some(run) = &reading.run {
            let needs: Vec<_> = self.secret_users().iter().map(|user| user.needs).collect();
            if !needs.is_empty() {
                run.note_secrets(&needs);
            }
        }
    }
}
