//! Names of the current project, read without running or writing anything. The tools of a provider are known only from the
//! registry.

use super::offers::Offers;
use crate::base::common::Common;
use crate::commands::call::parameters::besides_null;
use crate::open::startup::{self, SettingProblems};
use mcp_bash_project::{Catalog, Location, Reading};
use serde_json::Value;
use std::path::PathBuf;

pub(super) struct Project {
    root: Option<PathBuf>,
}

impl Project {
    pub(super) fn new(root: Option<PathBuf>) -> Self {
        Self { root }
    }

    fn catalog(&self) -> Option<Catalog> {
        let (settings, _) = startup::settings();
        let common = Common { project_root: self.root.clone(), ..Common::default() };
        let location = startup::location(&common, &settings).ok()?;
        let settings = startup::settings_at(&location, None, settings, &mut SettingProblems::default());
        let Location::Folder(root) = location else { return None };
        let paths = startup::paths(&root, &settings);
        Some(Catalog::read(
            &paths,
            &Reading { static_registry: settings.static_registry, ..Reading::default() },
        ))
    }

    pub(super) fn tools(&self) -> Offers {
        let mut offers = Offers::default();
        for tool in self.catalog().iter().flat_map(|catalog| catalog.tools.items()) {
            offers.push(&tool.name, tool.description.as_deref().unwrap_or_default());
        }
        offers
    }

    pub(super) fn prompts(&self) -> Offers {
        let mut offers = Offers::default();
        for prompt in self.catalog().iter().flat_map(|catalog| catalog.prompts.items()) {
            offers.push(&prompt.name, prompt.description.as_deref().unwrap_or_default());
        }
        offers
    }

    pub(super) fn resources(&self) -> Offers {
        let mut offers = Offers::default();
        for resource in self.catalog().iter().flat_map(|catalog| catalog.resources.items()) {
            offers.push(&resource.uri, resource.about.description.as_deref().unwrap_or(&resource.about.name));
        }
        offers
    }

    /// `key=` for each argument of a tool that is not given yet, and its known values; the same with `--key`.
    pub(super) fn arguments_of_tool(&self, tool: &str, given: &[String], current: &str) -> Offers {
        let mut offers = Offers::default();
        let Some(catalog) = self.catalog() else { return offers };
        let Some(tool) = catalog.tools.items().iter().find(|known| known.name == tool) else { return offers };
        let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
        let properties = schema["properties"].as_object();
        if let Some(name) = given.last().and_then(|word| word.strip_prefix("--"))
            && let Some(property) = properties.and_then(|properties| properties.get(name))
            && property["type"] != "boolean"
        {
            for value in known_values(property) {
                offers.push(value, "");
            }
            return offers;
        }
        let is_given = |name: &str| {
            given.iter().any(|word| {
                let key = word.strip_prefix("--").unwrap_or(word);
                key.split(['=', ':']).next() == Some(name)
            })
        };
        for (name, property) in properties.into_iter().flatten().filter(|(name, _)| !is_given(name)) {
            let help = property["description"].as_str().unwrap_or_default();
            if current.starts_with('-') {
                offers.push(format!("--{name}"), help);
            } else if current.starts_with(&format!("{name}=")) {
                for value in known_values(property) {
                    offers.push(format!("{name}={value}"), help);
                }
            } else {
                offers.push(format!("{name}="), help);
            }
        }
        offers
    }

    pub(super) fn arguments_of_prompt(&self, prompt: &str, given: &[String], current: &str) -> Offers {
        let mut offers = Offers::default();
        let Some(catalog) = self.catalog() else { return offers };
        let Some(prompt) = catalog.prompts.items().iter().find(|known| known.name == prompt) else {
            return offers;
        };
        let is_given = |name: &str| given.iter().any(|word| word.split('=').next() == Some(name));
        for argument in prompt.arguments.iter().filter(|argument| !is_given(&argument.name)) {
            let (name, help) = (&argument.name, argument.description.as_deref().unwrap_or_default());
            if current.starts_with(&format!("{name}=")) {
                let schema: Value = serde_json::from_str(argument.schema.get()).unwrap_or_default();
                for value in known_values(&schema) {
                    offers.push(format!("{name}={value}"), help);
                }
            } else {
                offers.push(format!("{name}="), help);
            }
        }
        offers
    }
}

/// The values that a schema lists.
fn known_values(schema: &Value) -> Vec<String> {
    let value = besides_null(schema);
    if value["type"] == "boolean" {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let listed = value["enum"].as_array().into_iter().flatten().map(text);
    listed.chain(value.get("const").map(text)).chain(schema.get("default").map(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// The offered words, in a project with a tool and a prompt.
    fn offered(ask: impl FnOnce(&Project) -> Offers) -> Vec<String> {
        let folder = TempDir::new().unwrap();
        for path in ["tools", "prompts", "resources"] {
            fs::create_dir(folder.path().join(path)).unwrap();
        }
        let tool = r#"{"command": ["du"], "inputSchema": {"type": "object", "properties": {
            "path": {"type": "string"}, "unit": {"enum": ["bytes", "blocks"], "default": "bytes"}, "all": {"type": "boolean"}}}}"#;
        fs::write(folder.path().join("tools/disk.meta.json"), tool).unwrap();
        let prompt = r#"{"arguments": [{"name": "diff"}, {"name": "tone"}]}"#;
        fs::write(folder.path().join("prompts/review.meta.json"), prompt).unwrap();
        fs::write(folder.path().join("prompts/review.txt"), "{{diff}} {{tone}}").unwrap();
        fs::write(folder.path().join("resources/notes.txt"), "x").unwrap();
        let offers = ask(&Project::new(Some(folder.path().to_owned())));
        offers.words.into_iter().map(|offer| offer.word).collect()
    }

    #[test]
    fn the_values_of_nullable_arguments_are_known() {
        let schema = serde_json::json!({ "anyOf": [{ "enum": ["a", "b"] }, { "type": "null" }] });
        assert_eq!(known_values(&schema), ["a", "b"]);
    }

    #[test]
    fn names_of_the_project_are_offered() {
        assert_eq!(offered(Project::tools), ["disk"]);
        assert_eq!(offered(Project::prompts), ["review"]);
        assert!(offered(Project::resources)[0].ends_with("/resources/notes.txt"));
    }

    #[test]
    fn arguments_that_are_not_given_yet_are_offered_with_their_values() {
        let of_tool = |given: &[&str], current: &str| {
            let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
            offered(|project| project.arguments_of_tool("disk", &given, current))
        };
        assert_eq!(of_tool(&[], ""), ["path=", "unit=", "all="]);
        assert_eq!(of_tool(&["path=/", "all:=true"], ""), ["unit="]);
        assert_eq!(of_tool(&["path=/"], "unit="), ["unit=bytes", "unit=blocks", "unit=bytes", "all="]);
        assert_eq!(of_tool(&[], "--"), ["--path", "--unit", "--all"]);
        assert_eq!(of_tool(&["--unit"], ""), ["bytes", "blocks", "bytes"]);
        assert_eq!(of_tool(&["--all"], ""), ["path=", "unit="]);
        assert_eq!(offered(|project| project.arguments_of_tool("none", &[], "")), Vec::<String>::new());
        let of_prompt =
            |given: &[String]| offered(|project| project.arguments_of_prompt("review", given, ""));
        assert_eq!(of_prompt(&["diff=x".to_owned()]), ["tone="]);
    }
}
