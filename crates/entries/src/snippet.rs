//! An entry as a person would paste it into a file that has nothing else.

use crate::client::{Client, ClientFile, Format, LinkForm};
use crate::config_file;
use crate::edit::json::{Layout, Style, written};
use crate::edit::{toml, yaml};
use crate::entry::Entry;
use crate::shape::Shape;
use serde_json::{Map, Value, json};

impl Client {
    /// What belongs into its file, in the format of that file; or what is pasted where it has none.
    pub fn snippet(&self, entry: &Entry) -> String {
        match self.files.first() {
            Some(file) => of_file(file, "", entry),
            None => pretty(&self.pasted(entry)),
        }
    }

    /// The same as JSON, which is YAML as well. For a TOML file there is none.
    pub fn json_snippet(&self, entry: &Entry) -> Option<String> {
        let file =
            self.files.first().filter(|file| file.format != Format::Toml && file.shape != Shape::Named)?;
        Some(pretty(&nested(&config_file::at(file, "", None).keys, entry, file.shape)))
    }

    fn pasted(&self, entry: &Entry) -> Value {
        if self.link == Some(LinkForm::Raycast) {
            let mut value = json!({ "name": entry.name, "type": "stdio" });
            let members = Shape::Command.value(entry).as_object().cloned().unwrap_or_default();
            value.as_object_mut().into_iter().for_each(|object| object.extend(members.clone()));
            return value;
        }
        nested(&["mcpServers".to_owned()], entry, Shape::Command)
    }
}

pub(crate) fn of_file(file: &ClientFile, folder: &str, entry: &Entry) -> String {
    let at = config_file::at(file, folder, None);
    match file.format {
        Format::Json(_) => pretty(&nested(&at.keys, entry, file.shape)),
        Format::Yaml => yaml::document(&at, &entry.name, &file.shape.value(entry)),
        Format::Toml => {
            let path: Vec<&str> = at.keys.iter().map(String::as_str).chain([&*entry.name]).collect();
            toml::table_text(&path, &file.shape.value(entry), "\n")
        }
    }
}

/// The entry inside of the keys that lead to it.
fn nested(keys: &[String], entry: &Entry, shape: Shape) -> Value {
    let path = keys.iter().chain([&entry.name]).rev();
    path.fold(shape.value(entry), |value, key| Value::Object(Map::from_iter([(key.clone(), value)])))
}

fn pretty(value: &Value) -> String {
    written(value, Style { line_end: "\n", unit: "  ", layout: Layout::Lines }, "") + "\n"
}
