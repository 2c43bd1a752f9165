//! Inputs: values that VS Code asks its user for. They are a list beside the servers, and `${input:ID}` refers to one.

use crate::client::Dialect;
use crate::edit::EditError;
use crate::edit::json;
use crate::edit::json::inputs_edit::{append, remove};
use crate::edit::splice::{Splice, spliced};
use mcp_bash_harmless::tells_of_secret;
use serde_json::{Value, json};

const KEY: &str = "inputs";
const PREFIX: &str = "${input:";

/// The text that refers to the input for a variable of a server.
pub(crate) fn reference(server: &str, variable: &str) -> String {
    reference_to(&id_of(server, variable))
}

fn reference_to(id: &str) -> String {
    format!("{PREFIX}{id}}}")
}

fn id_of(server: &str, variable: &str) -> String {
    format!("{server}-{variable}")
}

/// The text of a file with the inputs that variables of a server refer to. Inputs that exist stay as they are.
pub(crate) fn with_inputs(
    text: String,
    dialect: Dialect,
    server: &str,
    env: &[(String, String)],
) -> Result<String, EditError> {
    env.iter().try_fold(text, |text, (name, value)| match id_in(value) {
        Some(id) if reference_to(id) == *value => {
            with_input(text, dialect, server, name, id, tells_of_secret(name))
        }
        _ => Ok(text),
    })
}

/// The same with the input for a token, which is a secret whatever its variable is called.
pub(crate) fn with_token(
    text: String,
    dialect: Dialect,
    server: &str,
    variable: &str,
) -> Result<String, EditError> {
    with_input(text, dialect, server, variable, &id_of(server, variable), true)
}

fn with_input(
    text: String,
    dialect: Dialect,
    server: &str,
    variable: &str,
    id: &str,
    is_secret: bool,
) -> Result<String, EditError> {
    let whole = json::parse(&text, dialect)?.unwrap_or_default();
    if ids(&whole).any(|known| known == id) {
        return Ok(text);
    }
    let description = format!("{variable} for the server {server}");
    let input = json!({
        "type": "promptString",
        "id": id,
        "description": description,
        "password": is_secret,
    });
    let mut expected = whole.clone();
    match &mut expected[KEY] {
        Value::Array(items) => items.push(input.clone()),
        missing @ Value::Null => *missing = json!([input]),
        _ => return Err(EditError::NotAnObject),
    }
    edited(&text, dialect, &append(&text, dialect, KEY, &input)?, &expected)
}

/// The text of a file without the inputs that only these values of an entry refer to.
pub(crate) fn without_inputs<'v>(
    text: String,
    dialect: Dialect,
    mut values: impl Iterator<Item = &'v str>,
) -> Result<String, EditError> {
    values.try_fold(text, |text, value| {
        let is_used_once = |id: &&str| text.matches(&reference_to(id)).count() == 1;
        let Some(id) = id_in(value).filter(is_used_once) else { return Ok(text) };
        let whole = json::parse(&text, dialect)?.unwrap_or_default();
        let Some(index) = ids(&whole).position(|known| known == id) else { return Ok(text) };
        let mut expected = whole.clone();
        let is_empty = expected[KEY].as_array_mut().is_some_and(|items| {
            items.remove(index);
            items.is_empty()
        });
        if is_empty && let Some(members) = expected.as_object_mut() {
            members.shift_remove(KEY);
        }
        edited(&text, dialect, &remove(&text, dialect, KEY, index)?, &expected)
    })
}

fn edited(text: &str, dialect: Dialect, edits: &[Splice], expected: &Value) -> Result<String, EditError> {
    let after = spliced(text, edits);
    let is_expected = json::parse(&after, dialect)?.as_ref() == Some(expected);
    if is_expected { Ok(after) } else { Err(EditError::Unsafe) }
}

/// The id of the input that a value refers to, alone or at its end: `Bearer ${input:ID}`.
fn id_in(value: &str) -> Option<&str> {
    Some(value.split_once(PREFIX)?.1.strip_suffix('}')?).filter(|id| !id.contains('$'))
}

/// The id of each input; an item without one has an empty id.
fn ids(whole: &Value) -> impl Iterator<Item = &str> {
    let items = whole[KEY].as_array().into_iter().flatten();
    items.map(|item| item["id"].as_str().unwrap_or_default())
}
