//! About: the fields that clients see of a resource or a template.

use crate::Paths;
use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::values::{given_name, object};
use crate::declarations::{icons, sandbox, secrets};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_wire::write;
use serde_json::value::RawValue;
use std::path::Path;

/// The fields that resources and templates have in common. JSON stays as its author wrote it.
#[derive(Debug, Clone)]
pub struct About {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
    pub annotations: Option<Box<RawValue>>,
    pub icons: Option<Box<RawValue>>,
    pub meta: Option<Box<RawValue>>,
    /// What the executable that reads it may do.
    pub sandbox: Option<Declaration>,
    /// The secrets that it needs.
    pub secrets: Needs,
}

impl About {
    /// Takes the fields from metadata in `folder`. `name` is the default name.
    pub(crate) fn new(
        metadata: &Metadata,
        name: impl FnOnce() -> Option<String>,
        folder: &Path,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let given = given_name(metadata.name.clone());
        Ok(Self {
            name: given.or_else(name).ok_or(EntryError::Missing("name"))?,
            icons: icons::embed(metadata.icons.as_deref(), folder, &paths.root, problems),
            ..Self::written(metadata)?
        })
    }

    /// Takes the fields as they are.
    pub(crate) fn written(metadata: &Metadata) -> Result<Self, EntryError> {
        let text = |field: &Option<String>| field.clone().filter(|text| !text.is_empty());
        Ok(Self {
            name: metadata.name.clone().unwrap_or_default(),
            title: text(&metadata.title),
            description: text(&metadata.description),
            mime_type: text(&metadata.mime_type),
            annotations: object(metadata.annotations.clone(), "annotations")?,
            icons: metadata.icons.clone(),
            meta: object(metadata.underscored.clone(), "_meta")?,
            sandbox: sandbox::read(metadata.sandbox.as_deref())?,
            secrets: secrets::read(metadata.secrets.as_deref())?,
        })
    }

    /// Whether files besides its own are part of it.
    pub(crate) fn has_embedded_icons(&self) -> bool {
        self.icons.as_ref().is_some_and(|icons| icons.get().contains("\"data:"))
    }

    /// The text of its entry in the registry: a JSON object that includes these members (JSON text by name).
    pub(crate) fn registry_text(&self, own: Vec<(&str, Option<String>)>) -> String {
        let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
        let text = |value: &Option<String>| value.as_deref().map(write::string);
        let before = [
            ("name", Some(write::string(&self.name))),
            ("title", text(&self.title)),
            ("description", Some(write::string(self.description.as_deref().unwrap_or_default()))),
        ];
        let after = [
            ("mimeType", text(&self.mime_type)),
            ("icons", raw(&self.icons)),
            ("annotations", raw(&self.annotations)),
            ("_meta", raw(&self.meta)),
            ("sandbox", self.sandbox.as_ref().map(|sandbox| sandbox.written().to_owned())),
            ("secrets", self.secrets.written()),
        ];
        let members = before.into_iter().chain(own).chain(after);
        let members = members.filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
