//! Server identity: `server.d/server.meta.json`, with defaults that need no file.

use crate::declarations::confirm::ConfirmScope;
use crate::declarations::task_support::TaskSupport;
use crate::ground::json::{JsonError, LONGEST, one_line};
use crate::ground::optional::{may_mention, optional_text};
use crate::ground::wrong_type::describe_wrong_type;
use crate::{Diagnostic, Paths};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// What clients see of the server. Each revision shows the fields that it knows.
#[derive(Debug, Clone)]
pub struct Identity {
    pub name: String,
    pub title: String,
    pub version: String,
    pub description: Option<String>,
    pub website_url: Option<String>,
    /// A JSON array.
    pub icons: Option<Box<RawValue>>,
    /// Which tools ask for consent. Clients see it in each tool.
    pub confirm: ConfirmScope,
    /// Whether calls can be tasks, unless a tool says so itself.
    pub tasks: TaskSupport,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    name: Option<String>,
    title: Option<String>,
    version: Option<String>,
    description: Option<String>,
    website_url: Option<String>,
    icons: Option<Box<RawValue>>,
    confirm: Option<Box<RawValue>>,
    tasks: Option<Box<RawValue>>,
}

impl Identity {
    /// Reads the identity, with defaults for missing fields.
    pub fn read(paths: &Paths, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let project = &*paths.root;
        let path = paths.server.join("server.meta.json");
        let text = optional_text(&path, LONGEST, diagnostics);
        let meta = text.map(|text| {
            let line = one_line(&text)?;
            let read = serde_json::from_str(line.get());
            read.map_err(|error| describe_wrong_type::<Meta>(&text).unwrap_or_else(|| JsonError::from(error)))
        });
        let meta = meta.transpose().unwrap_or_else(|problem| {
            diagnostics.push(Diagnostic::new(&path, format!("is ignored: {problem}")));
            None
        });
        // If a file that cannot be used may declare it, all tools ask.
        let may_confirm = meta.is_none() && may_mention(&path, LONGEST, "confirm");
        let mut confirm = if may_confirm { ConfirmScope::All } else { ConfirmScope::Declared };
        let meta: Meta = meta.unwrap_or_default();
        match ConfirmScope::read(meta.confirm.as_deref()) {
            Ok(scope) => confirm = confirm.max(scope),
            Err(problem) => {
                diagnostics
                    .push(Diagnostic::new(&path, format!("makes all tools ask for consent: {problem}")));
                confirm = ConfirmScope::All;
            }
        }
        let tasks = TaskSupport::read(meta.tasks.as_deref()).unwrap_or_else(|problem| {
            diagnostics.push(Diagnostic::new(&path, format!("lets no call be a task: {problem}")));
            TaskSupport::Forbidden
        });
        let folder =
            project.file_name().map_or("mcp-bash".into(), |name| name.to_string_lossy().into_owned());
        let name = given(meta.name).unwrap_or(folder);
        Self {
            title: given(meta.title).unwrap_or_else(|| title_case(&name)),
            name,
            version: given(meta.version).unwrap_or_else(|| version_of(project, diagnostics)),
            description: given(meta.description),
            website_url: given(meta.website_url),
            icons: meta.icons.filter(|icons| icons.get().starts_with('[')),
            confirm,
            tasks,
        }
    }
}

fn given(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.trim().is_empty())
}

/// `my-file_tools` as a person would write it: `My File Tools`.
pub fn title_case(name: &str) -> String {
    let words = name.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    capitalised.collect::<Vec<String>>().join(" ")
}

/// The project's `VERSION` file, otherwise the version in its `package.json`.
fn version_of(project: &Path, diagnostics: &mut Vec<Diagnostic>) -> String {
    /// Longer than any version, in bytes.
    const LONGEST_VERSION: u64 = 4096;

    #[derive(Deserialize)]
    struct Package {
        version: Option<String>,
    }
    let file = optional_text(&project.join("VERSION"), LONGEST_VERSION, diagnostics);
    if let Some(version) = given(file.map(|text| text.trim().to_owned())) {
        return version;
    }
    let package = optional_text(&project.join("package.json"), LONGEST, diagnostics);
    let package = package.and_then(|text| serde_json::from_str::<Package>(&text).ok());
    package.and_then(|package| given(package.version)).unwrap_or_else(|| "0.0.0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, impl AsRef<[u8]>)]) -> (Identity, Vec<Diagnostic>) {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("ops-box_tools");
        for (path, text) in files {
            let file = project.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let mut diagnostics = Vec::new();
        (Identity::read(&Paths::of(&project), &mut diagnostics), diagnostics)
    }

    #[test]
    fn defaults_come_from_the_folder() {
        let (identity, diagnostics) = read(&[("tools/x", "")]);
        assert_eq!(
            (&*identity.name, &*identity.title, &*identity.version),
            ("ops-box_tools", "Ops Box Tools", "0.0.0")
        );
        assert!(diagnostics.is_empty());
        assert_eq!(
            read(&[("VERSION", "1.2.3\n"), ("package.json", r#"{"version":"9"}"#)]).0.version,
            "1.2.3"
        );
        assert_eq!(read(&[("package.json", r#"{"version":"9"}"#)]).0.version, "9");
    }

    #[test]
    fn a_broken_file_is_reported_and_the_defaults_apply() {
        let (identity, diagnostics) = read(&[("server.d/server.meta.json", r#"{"name": }"#)]);
        assert_eq!(identity.name, "ops-box_tools");
        assert!(diagnostics[0].to_string().contains("server.meta.json"), "{}", diagnostics[0]);
        assert_eq!(identity.confirm, ConfirmScope::Declared);
    }

    #[test]
    fn what_was_meant_to_ask_for_consent_does_not_end_as_nothing() {
        let scope = |text: &[u8]| {
            let (identity, diagnostics) = read(&[("server.d/server.meta.json", text)]);
            (identity.confirm, diagnostics.len())
        };
        assert_eq!(scope(br#"{"confirm": "destructive"}"#), (ConfirmScope::Destructive, 0));
        assert_eq!(scope(br#"{"confirm": "destructve"}"#), (ConfirmScope::All, 1));
        assert_eq!(scope(br#"{"confirm": "destructive",}"#), (ConfirmScope::All, 1));
        assert_eq!(scope(br#"{"confirm": "destructive", "name": 1}"#), (ConfirmScope::All, 1));
        assert_eq!(scope(br#"{"name": 1}"#), (ConfirmScope::Declared, 1));
        assert_eq!(scope(b"{\"title\": \"Gr\xf6\xdfe\"}"), (ConfirmScope::Declared, 1));
        assert_eq!(scope(b"{\"title\": \"Gr\xf6\xdfe\", \"confirm\": true}"), (ConfirmScope::All, 1));
    }
}
