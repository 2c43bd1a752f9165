//! Schema changes: what a change of a JSON Schema means to clients that send values, or to those that receive them.
//!
//! A client that sends arguments breaks if fewer values are accepted than before; a client that reads results, if more
//! kinds of values come. So each difference is either narrower or wider, and the direction says which of the two breaks.

use super::change::{Changes, Class};
use mcp_bash_harmless::clip;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Which direction breaks clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The schema of what clients send.
    Input,
    /// The schema of what clients receive.
    Output,
}

impl Direction {
    fn class_of_narrower(self) -> Class {
        match self {
            Self::Input => Class::Breaking,
            Self::Output => Class::Compatible,
        }
    }

    fn class_of_wider(self) -> Class {
        match self {
            Self::Input => Class::Compatible,
            Self::Output => Class::Breaking,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Input => "argument",
            Self::Output => "member",
        }
    }
}

/// Keywords that do not affect which values fit.
const WORDS: [&str; 10] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "format",
    "$comment",
    "deprecated",
    "$schema",
    "$id",
];

/// Bounds, and whether a larger number accepts fewer values.
const BOUNDS: [(&str, bool); 10] = [
    ("minimum", true),
    ("exclusiveMinimum", true),
    ("minLength", true),
    ("minItems", true),
    ("minProperties", true),
    ("maximum", false),
    ("exclusiveMaximum", false),
    ("maxLength", false),
    ("maxItems", false),
    ("maxProperties", false),
];

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A server shows no deeper schema.
const DEEPEST: usize = 100;

/// Compares a schema at `place` with the recorded one.
pub(super) fn compare(
    before: &Value,
    after: &Value,
    direction: Direction,
    place: &str,
    depth: usize,
    changes: &mut Changes<'_>,
) {
    if before == after {
        return;
    }
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        let words = format!("the schema was {}, and is {}", short(before), short(after));
        return changes.add(Class::Breaking, place, words);
    };
    if depth > DEEPEST {
        return changes.add(Class::Breaking, place, "the schema is too deep to be compared");
    }
    types(old, new, direction, place, changes);
    values(old, new, direction, place, changes);
    for (keyword, is_lower) in BOUNDS {
        bound(keyword, is_lower, (old.get(keyword), new.get(keyword)), direction, place, changes);
    }
    pattern(old, new, direction, place, changes);
    members(old, new, direction, place, depth, changes);
    additional(old, new, direction, place, depth, changes);
    items(old, new, direction, place, depth, changes);
    wording(old, new, place, changes);
    others(old, new, place, changes);
}

fn types(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    changes: &mut Changes<'_>,
) {
    let (before, after) = (type_set(old.get("type")), type_set(new.get("type")));
    let names = |set: &BTreeSet<&str>| {
        if set.len() == TYPES.len() {
            "anything".to_owned()
        } else {
            set.iter().copied().collect::<Vec<_>>().join(" or ")
        }
    };
    let (loses, gains) =
        (before.difference(&after).next().is_some(), after.difference(&before).next().is_some());
    let words = format!("the type was {}, and is {}", names(&before), names(&after));
    match (loses, gains) {
        (false, false) => {}
        (true, true) => changes.add(Class::Breaking, &join(place, "type"), words),
        (true, false) => changes.add(direction.class_of_narrower(), &join(place, "type"), words),
        (false, true) => changes.add(direction.class_of_wider(), &join(place, "type"), words),
    }
}

/// All types that a schema accepts; a number may be an integer.
fn type_set(written: Option<&Value>) -> BTreeSet<&str> {
    let mut set: BTreeSet<&str> = match written {
        Some(Value::String(name)) => BTreeSet::from([name.as_str()]),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::from(TYPES),
    };
    if set.contains("number") {
        set.insert("integer");
    }
    set
}

/// `enum`, and `const`, which is an `enum` of one value.
fn values(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    changes: &mut Changes<'_>,
) {
    let listed = |schema: &Map<String, Value>| -> Option<Vec<Value>> {
        match (schema.get("enum"), schema.get("const")) {
            (Some(Value::Array(values)), _) => Some(values.clone()),
            (_, Some(value)) => Some(vec![value.clone()]),
            _ => None,
        }
    };
    let place = &join(place, "enum");
    match (listed(old), listed(new)) {
        (None, None) => {}
        (None, Some(after)) => {
            changes.add(direction.class_of_narrower(), place, format!("only {} are left", list(&after)));
        }
        (Some(_), None) => changes.add(direction.class_of_wider(), place, "any value is let through now"),
        (Some(before), Some(after)) => {
            let missing = |from: &[Value], other: &[Value]| -> Vec<Value> {
                from.iter().filter(|value| !other.contains(value)).cloned().collect()
            };
            let (gone, added) = (missing(&before, &after), missing(&after, &before));
            if !gone.is_empty() {
                changes.add(
                    direction.class_of_narrower(),
                    place,
                    format!("{} is no value any more", list(&gone)),
                );
            }
            if !added.is_empty() {
                changes.add(direction.class_of_wider(), place, format!("{} is a value now", list(&added)));
            }
        }
    }
}

fn bound(
    keyword: &str,
    is_lower: bool,
    (before, after): (Option<&Value>, Option<&Value>),
    direction: Direction,
    place: &str,
    changes: &mut Changes<'_>,
) {
    if before == after {
        return;
    }
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    let is_narrower = match (number(before), number(after)) {
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(before), Some(after)) => (after > before) == is_lower,
        (None, None) => return,
    };
    let was = before.map_or_else(|| "not there".to_owned(), short);
    let is = after.map_or_else(|| "not there any more".to_owned(), short);
    let class = if is_narrower { direction.class_of_narrower() } else { direction.class_of_wider() };
    changes.add(class, &join(place, keyword), format!("`{keyword}` was {was}, and is {is}"));
}

fn pattern(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    changes: &mut Changes<'_>,
) {
    let place = &join(place, "pattern");
    match (old.get("pattern"), new.get("pattern")) {
        (before, after) if before == after => {}
        (None, Some(after)) => {
            changes.add(
                direction.class_of_narrower(),
                place,
                format!("it has to match {} now", short(after)),
            );
        }
        (Some(_), None) => {
            changes.add(direction.class_of_wider(), place, "it has to match no pattern any more");
        }
        (Some(before), Some(after)) => {
            changes.add(
                Class::Breaking,
                place,
                format!("the pattern was {}, and is {}", short(before), short(after)),
            );
        }
        (None, None) => {}
    }
}

fn members(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    depth: usize,
    changes: &mut Changes<'_>,
) {
    let empty = Map::new();
    let properties =
        |schema: &'_ Map<String, Value>| schema.get("properties").and_then(Value::as_object).cloned();
    let (before, after) =
        (properties(old).unwrap_or_else(|| empty.clone()), properties(new).unwrap_or(empty));
    let (required_before, required_after) = (required(old), required(new));
    let noun = direction.noun();
    for (name, schema) in &before {
        let place = format!("{}.{name}", join(place, "properties"));
        match after.get(name) {
            Some(now) => {
                demand(name, &required_before, &required_after, direction, &place, changes);
                compare(schema, now, direction, &place, depth + 1, changes);
            }
            None => changes.add(Class::Breaking, &place, format!("the {noun} `{name}` is removed")),
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        let place = format!("{}.{name}", join(place, "properties"));
        if direction == Direction::Input && required_after.contains(name.as_str()) {
            changes.add(Class::Breaking, &place, format!("the argument `{name}` is new and required"));
        } else {
            changes.add(Class::Compatible, &place, format!("the {noun} `{name}` is new"));
        }
    }
    // Required names that neither schema describes.
    for name in required_after.difference(&required_before) {
        if !before.contains_key(*name) && !after.contains_key(*name) {
            let class = direction.class_of_narrower();
            changes.add(class, &join(place, "required"), format!("the {noun} `{name}` is required now"));
        }
    }
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Compares whether a member of both schemas is required.
fn demand(
    name: &str,
    before: &BTreeSet<&str>,
    after: &BTreeSet<&str>,
    direction: Direction,
    place: &str,
    changes: &mut Changes<'_>,
) {
    let noun = direction.noun();
    match (before.contains(name), after.contains(name)) {
        (false, true) => {
            changes.add(direction.class_of_narrower(), place, format!("the {noun} `{name}` is required now"));
        }
        (true, false) => {
            changes.add(direction.class_of_wider(), place, format!("the {noun} `{name}` is optional now"));
        }
        _ => {}
    }
}

fn additional(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    depth: usize,
    changes: &mut Changes<'_>,
) {
    let place = &join(place, "additionalProperties");
    let open = Value::Bool(true);
    let before = old.get("additionalProperties").unwrap_or(&open);
    let after = new.get("additionalProperties").unwrap_or(&open);
    match (before, after) {
        (before, after) if before == after => {}
        (_, Value::Bool(false)) | (Value::Bool(true), Value::Object(_)) => {
            changes.add(direction.class_of_narrower(), place, "fewer other members are let through");
        }
        (Value::Bool(false), _) | (Value::Object(_), Value::Bool(true)) => {
            changes.add(direction.class_of_wider(), place, "more other members are let through");
        }
        (before, after) => compare(before, after, direction, place, depth + 1, changes),
    }
}

fn items(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    direction: Direction,
    place: &str,
    depth: usize,
    changes: &mut Changes<'_>,
) {
    let place = &join(place, "items");
    match (old.get("items"), new.get("items")) {
        (Some(before), Some(after)) => compare(before, after, direction, place, depth + 1, changes),
        (None, Some(_)) => {
            changes.add(direction.class_of_narrower(), place, "what stands in the list is limited now");
        }
        (Some(_), None) => {
            changes.add(direction.class_of_wider(), place, "anything may stand in the list now");
        }
        (None, None) => {}
    }
}

fn wording(old: &Map<String, Value>, new: &Map<String, Value>, place: &str, changes: &mut Changes<'_>) {
    for word in WORDS.iter().filter(|word| old.get(**word) != new.get(**word)) {
        changes.add(Class::Wording, &join(place, word), reworded(word, old.get(*word), new.get(*word)));
    }
}

/// ``the `description` was "x", and is "y" ``.
pub(super) fn reworded(word: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("`{word}` was {}, and is {}", short(before), short(after)),
        (None, Some(after)) => format!("`{word}` is new: {}", short(after)),
        (Some(before), None) => format!("`{word}` is removed; it was {}", short(before)),
        (None, None) => String::new(),
    }
}

/// Keywords that are not judged here: any change of them may break something.
fn others(old: &Map<String, Value>, new: &Map<String, Value>, place: &str, changes: &mut Changes<'_>) {
    let is_judged = |keyword: &str| {
        WORDS.contains(&keyword)
            || BOUNDS.iter().any(|(bound, _)| *bound == keyword)
            || matches!(
                keyword,
                "type"
                    | "enum"
                    | "const"
                    | "pattern"
                    | "properties"
                    | "required"
                    | "additionalProperties"
                    | "items"
            )
            || keyword.starts_with("x-")
    };
    let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for keyword in keywords {
        if !is_judged(keyword) && old.get(keyword) != new.get(keyword) {
            let words = format!("`{keyword}` is another, and what that means cannot be told");
            changes.add(Class::Breaking, &join(place, keyword), words);
        }
    }
}

fn join(place: &str, part: &str) -> String {
    if place.is_empty() { part.to_owned() } else { format!("{place}.{part}") }
}

fn list(values: &[Value]) -> String {
    values.iter().map(short).collect::<Vec<_>>().join(", ")
}

/// A value, shortened to a few characters.
fn short(value: &Value) -> String {
    const MOST: usize = 120;
    clip(&value.to_string(), MOST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::change::Change;
    use serde_json::json;

    fn changes(before: &Value, after: &Value, direction: Direction) -> Vec<String> {
        let mut all: Vec<Change> = Vec::new();
        compare(
            before,
            after,
            direction,
            "",
            0,
            &mut Changes { kind: "tool", name: String::new(), all: &mut all },
        );
        all.iter()
            .map(|change| format!("{} {}: {}", change.class.word(), change.place, change.words))
            .collect()
    }

    #[test]
    fn what_hurts_those_who_send_helps_those_who_get() {
        let (one, other) = (json!({ "type": "number" }), json!({ "type": ["number", "string"] }));
        assert_eq!(
            changes(&one, &other, Direction::Input),
            ["compatible type: the type was integer or number, and is integer or number or string"]
        );
        assert_eq!(
            changes(&one, &other, Direction::Output),
            ["breaking type: the type was integer or number, and is integer or number or string"]
        );
        assert_eq!(
            changes(&json!({ "type": "integer" }), &json!({ "type": "number" }), Direction::Input),
            ["compatible type: the type was integer, and is integer or number"]
        );
    }

    #[test]
    fn arguments_come_and_go() {
        let before = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a"] });
        let after = json!({
            "type": "object",
            "properties": { "a": { "description": "x" }, "c": {}, "d": {} },
            "required": ["c"],
        });
        assert_eq!(
            changes(&before, &after, Direction::Input),
            [
                "compatible properties.a: the argument `a` is optional now",
                "wording properties.a.description: `description` is new: \"x\"",
                "breaking properties.b: the argument `b` is removed",
                "breaking properties.c: the argument `c` is new and required",
                "compatible properties.d: the argument `d` is new",
            ]
        );
        assert_eq!(
            changes(&before, &after, Direction::Output),
            [
                "breaking properties.a: the member `a` is optional now",
                "wording properties.a.description: `description` is new: \"x\"",
                "breaking properties.b: the member `b` is removed",
                "compatible properties.c: the member `c` is new",
                "compatible properties.d: the member `d` is new",
            ]
        );
    }

    #[test]
    fn values_and_bounds() {
        let before = json!({ "enum": ["a", "b"], "maximum": 5, "minLength": 1, "pattern": "^a" });
        let after = json!({ "enum": ["a", "c"], "maximum": 4, "pattern": "^b", "oneOf": [] });
        assert_eq!(
            changes(&before, &after, Direction::Input),
            [
                "breaking enum: \"b\" is no value any more",
                "compatible enum: \"c\" is a value now",
                "compatible minLength: `minLength` was 1, and is not there any more",
                "breaking maximum: `maximum` was 5, and is 4",
                "breaking pattern: the pattern was \"^a\", and is \"^b\"",
                "breaking oneOf: `oneOf` is another, and what that means cannot be told",
            ]
        );
    }
}
