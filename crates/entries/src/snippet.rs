//! Snippet: an entry as a user would paste it into an empty file.

use crate::client::{Client, ClientFile, Format, LinkForm};
use crate::config_file;
use crate::edit::json::{Layout, Style, written};
use crate::edit::{toml, toml_list, yaml};
use crate::entry::Entry;
use crate::shape::Shape;
use serde_json::{Map, Value, json};

impl Client {
    /// The text for its file, in the format of that file; or the text to paste if it has no file.
    pub fn snippet(&self, entry: &Entry) -> String {
        match self.files.first() {
            Some(file) => of_file(file, "", entry),
            None => pretty(&self.pasted(entry), &[]),
        }
    }

    /// The same as JSON, which is YAML as well. `None` for a TOML file.
    pub fn json_snippet(&self, entry: &Entry) -> Option<String> {
        let file = self.files.first().filter(|file| file.format != Format::Toml && !file.shape.is_list())?;
        let keys = config_file::at(file, "", None).keys;
        Some(pretty(&nested(&keys, &entry.name, file.shape.value(entry)), &[]))
    }

    fn pasted(&self, entry: &Entry) -> Value {
        if self.link == Some(LinkForm::Raycast) {
            let mut value = json!({ "name": entry.name, "type": "stdio" });
            let members = Shape::Command.value(entry).as_object().cloned().unwrap_or_default();
            value.as_object_mut().into_iter().for_each(|object| object.extend(members.clone()));
            return value;
        }
        nested(&["mcpServers".to_owned()], &entry.name, Shape::Command.value(entry))
    }
}

pub(crate) fn of_file(file: &ClientFile, folder: &str, entry: &Entry) -> String {
    written_for(file, folder, &entry.name, &file.shape.value(entry), config_file::escapes(file))
}

/// The same for an existing value, or one that refers to variables.
pub(crate) fn of_value(file: &ClientFile, folder: &str, name: &str, value: &Value) -> String {
    written_for(file, folder, name, value, &[])
}

fn written_for(file: &ClientFile, folder: &str, name: &str, value: &Value, escaped: &[&str]) -> String {
    let at = config_file::at(file, folder, None);
    match file.format {
        Format::Json(_) => pretty(&nested(&at.keys, name, value.clone()), escaped),
        Format::Yaml => yaml::document(&at, name, value),
        Format::Toml if at.is_list => toml_list::item_text(&at.keys, value, "\n"),
        Format::Toml => {
            let path: Vec<&str> = at.keys.iter().map(String::as_str).chain([name]).collect();
            toml::table_text(&path, value, "\n")
        }
    }
}

/// The text to paste into a client that has no file.
pub(crate) fn pasted_value(name: &str, value: &Value) -> String {
    pretty(&nested(&["mcpServers".to_owned()], name, value.clone()), &[])
}

/// A value inside the keys that lead to it, and its name.
fn nested(keys: &[String], name: &str, value: Value) -> Value {
    let path = keys.iter().map(String::as_str).chain([name]).rev();
    path.fold(value, |value, key| Value::Object(Map::from_iter([(key.to_owned(), value)])))
}

fn pretty(value: &Value, escaped: &[&str]) -> String {
    written(value, Style { line_end: "\n", unit: "  ", layout: Layout::Lines, escaped }, "") + "\n"
}
