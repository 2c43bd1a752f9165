//! Contract comparison: what clients see, compared with what was recorded, entry by entry.

use super::change::{Change, Changes, Class};
use super::schema::{Direction, compare as compare_schema, reworded};
use super::surface::{KINDS, Kind};
use serde_json::{Map, Value};

/// All differences, the breaking ones first.
pub(super) fn compare(recorded: &Value, now: &Value) -> Vec<Change> {
    let mut all = Vec::new();
    let none = Map::new();
    for kind in &KINDS {
        let entries =
            |surface: &'_ Value| surface[kind.member].as_object().cloned().unwrap_or_else(|| none.clone());
        let (before, after) = (entries(recorded), entries(now));
        for (name, old) in &before {
            let mut changes = Changes { kind: kind.word, name: name.clone(), all: &mut all };
            match after.get(name) {
                None => changes.add(Class::Breaking, "", "is removed"),
                Some(new) if old != new => entry(kind, old, new, &mut changes),
                Some(_) => {}
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            let mut changes = Changes { kind: kind.word, name: name.clone(), all: &mut all };
            changes.add(Class::Compatible, "", "is new");
        }
    }
    all.sort_by_key(|change| change.class);
    all
}

fn entry(kind: &Kind, old: &Value, new: &Value, changes: &mut Changes<'_>) {
    for word in ["name", "title", "description"] {
        if old.get(word) != new.get(word) {
            changes.add(Class::Wording, word, reworded(word, old.get(word), new.get(word)));
        }
    }
    annotations(old, new, changes);
    match kind.member {
        "tools" => schemas(old, new, changes),
        "prompts" => arguments(old, new, changes),
        _ => {
            if old.get("mimeType") != new.get("mimeType") {
                let words = reworded("mimeType", old.get("mimeType"), new.get("mimeType"));
                changes.add(Class::Breaking, "mimeType", words);
            }
        }
    }
}

/// Hints make clients ask more or fewer questions.
fn annotations(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let none = Map::new();
    let members =
        |entry: &'_ Value| entry["annotations"].as_object().cloned().unwrap_or_else(|| none.clone());
    let (before, after) = (members(old), members(new));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    for name in names.into_iter().filter(|name| before.get(*name) != after.get(*name)) {
        let words = reworded(name, before.get(name), after.get(name));
        changes.add(Class::Wording, &format!("annotations.{name}"), words);
    }
}

fn schemas(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let (before, after) = (&old["inputSchema"], &new["inputSchema"]);
    compare_schema(before, after, Direction::Input, "inputSchema", 0, changes);
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(before), Some(after)) => {
            compare_schema(before, after, Direction::Output, "outputSchema", 0, changes);
        }
        (None, Some(_)) => changes.add(Class::Compatible, "outputSchema", "its results have a schema now"),
        (Some(_), None) => {
            changes.add(Class::Breaking, "outputSchema", "its results have no schema any more");
        }
        (None, None) => {}
    }
}

fn arguments(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let list = |entry: &'_ Value| entry["arguments"].as_array().cloned().unwrap_or_default();
    let (before, after) = (list(old), list(new));
    let called = |list: &'_ [Value], name: &Value| list.iter().find(|other| other["name"] == *name).cloned();
    for argument in &before {
        let name = argument["name"].as_str().unwrap_or_default();
        let place = format!("arguments.{name}");
        let Some(now) = called(&after, &argument["name"]) else {
            changes.add(Class::Breaking, &place, format!("the argument `{name}` is removed"));
            continue;
        };
        match (argument["required"] == true, now["required"] == true) {
            (false, true) => {
                changes.add(Class::Breaking, &place, format!("the argument `{name}` is required now"));
            }
            (true, false) => {
                changes.add(Class::Compatible, &place, format!("the argument `{name}` is optional now"));
            }
            _ => {}
        }
        for word in ["title", "description"] {
            if argument.get(word) != now.get(word) {
                let words = reworded(word, argument.get(word), now.get(word));
                changes.add(Class::Wording, &format!("{place}.{word}"), words);
            }
        }
    }
    for argument in after.iter().filter(|argument| called(&before, &argument["name"]).is_none()) {
        let name = argument["name"].as_str().unwrap_or_default();
        let place = format!("arguments.{name}");
        if argument["required"] == true {
            changes.add(Class::Breaking, &place, format!("the argument `{name}` is new and required"));
        } else {
            changes.add(Class::Compatible, &place, format!("the argument `{name}` is new"));
        }
    }
}
