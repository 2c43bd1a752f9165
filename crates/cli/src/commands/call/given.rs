//! Given arguments: `--args` and `key=value` pairs of the command line become one JSON object. If both name a key, the pair
//! counts. Values keep their spelling: `1.10` stays `1.10`.

use super::parameters::{ParameterKind, Parameters, is_json};
use mcp_bash_wire::write;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, Read};
use thiserror::Error;

/// Longer arguments are not read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub(crate) enum ArgumentError {
    #[error("`{0}` is no argument: write key=value, key:=JSON, or --args JSON")]
    NoPair(String),
    #[error("the argument `{0}` is given twice")]
    Twice(String),
    #[error("{of} has no argument `{key}`{}", nearest.as_ref().map_or_else(|| format!("; it takes {known}"), |near| format!("; did you mean `{near}`?")))]
    Unknown { of: String, key: String, nearest: Option<String>, known: String },
    #[error("the argument `{key}` takes {wanted}, not `{text}`")]
    Unfit { key: String, wanted: &'static str, text: String },
    #[error("the argument `{key}` is no JSON: {text}")]
    NoJson { key: String, text: String },
    #[error("--args must be a JSON object: {0}")]
    NoObject(String),
    #[error("--args cannot be read from {from}: {source}")]
    Unread { from: String, source: io::Error },
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pair {
    /// The schema decides how the text is read.
    Text { key: String, text: String },
    /// JSON as it is.
    Json { key: String, json: String },
}

impl Pair {
    /// `key=value` or `key:=JSON`.
    pub(crate) fn read(word: &str) -> Result<Self, ArgumentError> {
        let refused = || ArgumentError::NoPair(word.to_owned());
        let (key, text) = word.split_once('=').ok_or_else(refused)?;
        let (key, is_json_text) = key.strip_suffix(':').map_or((key, false), |key| (key, true));
        if key.is_empty() {
            return Err(refused());
        }
        if !is_json_text {
            return Ok(Self::Text { key: key.to_owned(), text: text.to_owned() });
        }
        if !is_json(text.trim()) {
            return Err(ArgumentError::NoJson { key: key.to_owned(), text: text.to_owned() });
        }
        Ok(Self::Json { key: key.to_owned(), json: text.trim().to_owned() })
    }

    fn key(&self) -> &str {
        match self {
            Self::Text { key, .. } | Self::Json { key, .. } => key,
        }
    }
}

/// The members of a JSON object in order, each with its spelling.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;
        impl<'de> Visitor<'de> for OfMap {
            type Value = Members;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object such as {\"key\": \"value\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(OfMap)
    }
}

/// The text of `--args`: JSON itself, `@FILE`, or `-` for standard input.
pub(crate) fn read_args(value: &str) -> Result<String, ArgumentError> {
    let unread = |from: &str, source| ArgumentError::Unread { from: from.to_owned(), source };
    let text = match value.strip_prefix('@') {
        Some(file) => {
            let bytes =
                mcp_bash_files::read(file.as_ref(), LONGEST).map_err(|source| unread(file, source))?;
            String::from_utf8(bytes).map_err(|error| unread(file, io::Error::other(error.to_string())))?
        }
        None if value == "-" => {
            let mut text = String::new();
            let read = io::stdin().lock().take(LONGEST).read_to_string(&mut text);
            read.map_err(|source| unread("standard input", source))?;
            text
        }
        None => value.to_owned(),
    };
    // Empty text means no arguments.
    Ok(if text.trim().is_empty() { "{}".to_owned() } else { text })
}

/// One JSON object of all arguments, on one line. `of` names the callee in messages.
pub(crate) fn assembled(
    of: &str,
    parameters: &Parameters,
    args: Option<&str>,
    pairs: &[Pair],
) -> Result<String, ArgumentError> {
    let base = args.unwrap_or("{}");
    let no_object = |error: serde_json::Error| ArgumentError::NoObject(error.to_string());
    let Members(mut members) = serde_json::from_str(base).map_err(no_object)?;
    if pairs.is_empty() {
        return Ok(write::compact(base));
    }
    let mut own: Vec<(String, String)> = Vec::new();
    for pair in pairs {
        let value = value_of(of, parameters, pair)?;
        match own.iter_mut().find(|(key, _)| key == pair.key()) {
            None => own.push((pair.key().to_owned(), value)),
            Some((_, items)) if is_list(parameters, pair) => append(items, &value),
            Some(_) => return Err(ArgumentError::Twice(pair.key().to_owned())),
        }
    }
    members.retain(|(key, _)| own.iter().all(|(given, _)| given != key));
    let of_args = members.iter().map(|(key, value)| (key.as_str(), value.get()));
    let of_pairs = own.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let members = of_args.chain(of_pairs).map(|(key, value)| format!("{}:{value}", Value::from(key)));
    Ok(write::compact(&format!("{{{}}}", members.collect::<Vec<_>>().join(","))))
}

fn value_of(of: &str, parameters: &Parameters, pair: &Pair) -> Result<String, ArgumentError> {
    let parameter = parameters.get(pair.key());
    if parameter.is_none() && !parameters.takes_others {
        return Err(unknown(of, parameters, pair.key()));
    }
    match pair {
        Pair::Json { json, .. } => Ok(json.clone()),
        Pair::Text { key, text } => match parameter {
            None => Ok(Value::from(text.as_str()).to_string()),
            Some(parameter) => parameter.read(text).map_err(|wanted| {
                let text = text.chars().take(80).collect();
                ArgumentError::Unfit { key: key.clone(), wanted, text }
            }),
        },
    }
}

fn unknown(of: &str, parameters: &Parameters, key: &str) -> ArgumentError {
    let names: Vec<&str> = parameters.list.iter().map(|parameter| parameter.name.as_str()).collect();
    let nearest = mcp_bash_spelling::nearest_or_longer(key, &names).map(ToOwned::to_owned);
    ArgumentError::Unknown { of: of.to_owned(), key: key.to_owned(), nearest, known: names.join(", ") }
}

fn is_list(parameters: &Parameters, pair: &Pair) -> bool {
    parameters.get(pair.key()).is_some_and(|parameter| matches!(parameter.kind, ParameterKind::List(_)))
        && matches!(pair, Pair::Text { .. })
}

/// Adds the items of one JSON array to another.
fn append(items: &mut String, more: &str) {
    let inside = |array: &str| {
        let array = array.trim();
        array.strip_prefix('[').and_then(|array| array.strip_suffix(']')).unwrap_or(array).trim().to_owned()
    };
    let both = [inside(items), inside(more)];
    *items =
        format!("[{}]", both.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(","));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parameters() -> Parameters {
        Parameters::of(&json!({ "properties": {
            "name": { "type": "string" },
            "size": { "type": "number" },
            "tags": { "type": "array", "items": { "type": "string" } },
        } }))
    }

    fn of(args: Option<&str>, words: &[&str]) -> Result<String, ArgumentError> {
        let pairs: Result<Vec<Pair>, _> = words.iter().map(|word| Pair::read(word)).collect();
        assembled("`t`", &parameters(), args, &pairs?)
    }

    #[test]
    fn numbers_and_order_stay_as_they_are_written() {
        assert_eq!(of(Some("{\"b\": 1.10,\n\"a\": 1e2}"), &[]).unwrap(), r#"{"b":1.10,"a":1e2}"#);
        assert_eq!(of(None, &["size=1.10", "name=5"]).unwrap(), r#"{"size":1.10,"name":"5"}"#);
        assert_eq!(
            of(Some(r#"{"size":2,"name":"a"}"#), &["size=3.0"]).unwrap(),
            r#"{"name":"a","size":3.0}"#
        );
        assert_eq!(of(None, &["name:=[1, null]"]).unwrap(), r#"{"name":[1,null]}"#);
        assert_eq!(
            of(None, &["name=a=b", "tags=x", "tags=y"]).unwrap(),
            r#"{"name":"a=b","tags":["x","y"]}"#
        );
        assert_eq!(of(None, &["name="]).unwrap(), r#"{"name":""}"#);
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for (args, words, problem) in [
            (None, &["name"][..], "no argument"),
            (None, &["=x"], "no argument"),
            (None, &["name=a", "name=b"], "given twice"),
            (None, &["nmae=a"], "did you mean `name`?"),
            (None, &["colour=a"], "it takes name, size, tags"),
            (None, &["size=big"], "takes a number, not `big`"),
            (None, &["size:=big"], "no JSON"),
            (Some("[1]"), &[], "must be a JSON object"),
            (Some("{"), &[], "must be a JSON object"),
        ] {
            let refused = of(args, words).unwrap_err().to_string();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
