//! Contradictions: schemas that no value can satisfy: a minimum above the maximum, a required property that is
//! forbidden.
//!
//! Every reported contradiction is certain; others may go unreported. References are not followed, and subschemas whose
//! match is a reason to refuse (`not`, `if`) are not searched. The schema is known to be valid and within the limits of
//! depth and size, which limit the time of this as well.

use crate::SchemaError;
use crate::bounds;
use crate::compiling::draft::Draft;
use crate::excerpt::clip;
use serde_json::{Map, Number, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most that are reported: once these are fixed, the rest appear.
const MOST: usize = 20;

/// A location where a schema contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The location in the schema, as a JSON Pointer.
    pub pointer: String,
    /// The contradiction, as a sentence fragment.
    pub problem: String,
}

/// The findings in a schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contradictions {
    pub found: Vec<Contradiction>,
    /// Whether no value at all fits the schema.
    pub is_never: bool,
}

/// Looks for contradictions in a schema at every depth.
pub fn contradictions(text: &str) -> Result<Contradictions, SchemaError> {
    let schema = bounds::read(text)?;
    let draft = Draft::of(&schema)?;
    if draft == Draft::Draft4 {
        // Half of the keywords that are checked mean nothing there, or something else.
        return Ok(Contradictions::default());
    }
    let refers_alone = matches!(draft, Draft::Draft7 | Draft::Draft6);
    let mut search = Search { refers_alone, place: String::new(), found: Vec::new() };
    let is_never = search.never(&schema);
    Ok(Contradictions { found: search.found, is_never })
}

/// The types a JSON value can have.
const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

struct Search {
    /// Whether a reference disables its neighbours, as in older dialects.
    refers_alone: bool,
    place: String,
    found: Vec<Contradiction>,
}

impl Search {
    /// Whether no value fits a schema.
    fn never(&mut self, schema: &Value) -> bool {
        let Value::Object(schema) = schema else { return *schema == Value::Bool(false) };
        if self.refers_alone && schema.contains_key("$ref") {
            return false;
        }
        // Subschemas are checked first, and always: their contradictions are reported even if this result does not
        // depend on them.
        let inner = self.inner(schema);
        let mut left = self.types(schema);
        for (kind, problem) in impossible(schema, &inner) {
            if left.remove(kind) {
                self.report(problem);
            }
        }
        // A schema that allows no type at all was reported where that was found.
        let is_never = left.is_empty() || inner.is_never;
        if schema.get("not").is_some_and(allows_all) {
            self.report("nothing fits, since `not` refuses everything".to_owned());
            return true;
        }
        is_never
    }

    /// Checks the subschemas.
    fn inner(&mut self, schema: &Map<String, Value>) -> Inner {
        let mut inner = Inner::default();
        for key in ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] {
            let Some(Value::Object(members)) = schema.get(key) else { continue };
            for (name, value) in members {
                let is_never = self.at(&[key, name], |search| search.never(value));
                if is_never && key == "properties" {
                    inner.forbidden.insert(name.clone());
                }
            }
        }
        for key in ["items", "additionalProperties", "contains", "additionalItems", "unevaluatedProperties"] {
            let Some(value) = schema.get(key).filter(|value| value.is_object() || value.is_boolean()) else {
                continue;
            };
            if self.at(&[key], |search| search.never(value)) {
                inner.never.insert(key);
            }
        }
        for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            let Some(Value::Array(branches)) = schema.get(key) else { continue };
            let mut never = Vec::new();
            for (index, branch) in branches.iter().enumerate() {
                never.push(self.at(&[key, &index.to_string()], |search| search.never(branch)));
            }
            let all = !never.is_empty() && never.iter().all(|never| *never);
            let any = never.iter().any(|never| *never);
            inner.is_never |= match key {
                "allOf" => any,
                "anyOf" | "oneOf" => all,
                _ => false,
            };
        }
        inner
    }

    /// The types that a value may have, by `type`, `enum` and `const` here and in `allOf`.
    fn types(&mut self, schema: &Map<String, Value>) -> BTreeSet<&'static str> {
        let written = declared(schema);
        let mut types = written.clone();
        if let Some(Value::Array(branches)) = schema.get("allOf") {
            for branch in branches.iter().filter_map(Value::as_object) {
                if !(self.refers_alone && branch.contains_key("$ref")) {
                    types = types.intersection(&declared(branch)).copied().collect();
                }
            }
            if types.is_empty() && !written.is_empty() {
                self.report("nothing fits, since the types in `allOf` exclude each other".to_owned());
                return types;
            }
        }
        let Some(values) = listed(schema) else { return types };
        if values.is_empty() {
            self.report("nothing fits, since `enum` is empty".to_owned());
            return BTreeSet::new();
        }
        if let (Some(Value::Array(all)), Some(value)) = (schema.get("enum"), schema.get("const"))
            && !all.iter().any(|one| may_equal(one, value))
        {
            self.report(format!("nothing fits, since `const` is {}, which is not in `enum`", shown(value)));
            return BTreeSet::new();
        }
        let of_values: BTreeSet<&str> = values.iter().map(|value| type_of(value)).collect();
        let fitting: BTreeSet<&'static str> = types.intersection(&of_values).copied().collect();
        let fits_integers = !only_integers(schema) || values.iter().any(|value| may_be_integer(value));
        if (fitting.is_empty() || !fits_integers) && !types.is_empty() {
            let key = if schema.contains_key("const") { "const" } else { "enum" };
            let shown = schema.get("type").map(shown).unwrap_or_default();
            self.report(format!("nothing fits, since no value of `{key}` has the type {shown}"));
            return BTreeSet::new();
        }
        fitting
    }

    fn at<T>(&mut self, names: &[&str], look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.place.len();
        for name in names {
            let _ = write!(self.place, "/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        let looked = look(self);
        self.place.truncate(length);
        looked
    }

    fn report(&mut self, problem: String) {
        if self.found.len() < MOST {
            self.found.push(Contradiction { pointer: self.place.clone(), problem });
        }
    }
}

/// What is known about the subschemas.
#[derive(Default)]
struct Inner {
    /// Properties that no value fits.
    forbidden: BTreeSet<String>,
    /// Keys of single schemas that no value fits.
    never: BTreeSet<&'static str>,
    /// Whether they alone make every value fail.
    is_never: bool,
}

/// The types that are impossible by their own keywords, and why.
fn impossible(schema: &Map<String, Value>, inner: &Inner) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    found.extend(number(schema).map(|problem| ("number", format!("no number fits, since {problem}"))));
    let length = crossed(schema, "minLength", "maxLength");
    found.extend(length.map(|problem| ("string", format!("no string fits, since {problem}"))));
    found.extend(array(schema, inner).map(|problem| ("array", format!("no array fits, since {problem}"))));
    found.extend(object(schema, inner).map(|problem| ("object", format!("no object fits, since {problem}"))));
    found
}

fn number(schema: &Map<String, Value>) -> Option<String> {
    let bound = |key| schema.get(key).and_then(Value::as_number);
    for (low, high) in [
        ("minimum", "maximum"),
        ("exclusiveMinimum", "maximum"),
        ("minimum", "exclusiveMaximum"),
        ("exclusiveMinimum", "exclusiveMaximum"),
    ] {
        let (Some(least), Some(most)) = (bound(low), bound(high)) else { continue };
        let leaves_one = low == "minimum" && high == "maximum";
        if is_above(least, most) || (!leaves_one && least == most) {
            return Some(format!("`{low}` {least} and `{high}` {most} leave none"));
        }
    }
    None
}

/// Rounding never reverses an order, so a number that is above when rounded is above.
fn is_above(one: &Number, other: &Number) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one > other)
}

fn crossed(schema: &Map<String, Value>, low: &str, high: &str) -> Option<String> {
    let (least, most) = (schema.get(low)?.as_number()?, schema.get(high)?.as_number()?);
    is_above(least, most).then(|| format!("`{low}` {least} is above `{high}` {most}"))
}

fn array(schema: &Map<String, Value>, inner: &Inner) -> Option<String> {
    if let Some(problem) = crossed(schema, "minItems", "maxItems") {
        return Some(problem);
    }
    let least = schema.get("minItems").and_then(Value::as_f64).unwrap_or_default();
    let has_prefix = schema.contains_key("prefixItems");
    if least > 0.0 && inner.never.contains("items") && !has_prefix {
        return Some("`minItems` asks for items, and none fits `items`".to_owned());
    }
    let may_contain_none = schema.contains_key("minContains");
    (inner.never.contains("contains") && !may_contain_none).then(|| "nothing fits `contains`".to_owned())
}

fn object(schema: &Map<String, Value>, inner: &Inner) -> Option<String> {
    if let Some(problem) = crossed(schema, "minProperties", "maxProperties") {
        return Some(problem);
    }
    let Some(Value::Array(required)) = schema.get("required") else { return None };
    let required: BTreeSet<&str> = required.iter().filter_map(Value::as_str).collect();
    if let Some(name) = required.iter().find(|name| inner.forbidden.contains(**name)) {
        return Some(format!("`{}` is required, and no value fits it", clip(name, 100)));
    }
    let members = |key| schema.get(key).and_then(Value::as_object);
    let is_closed = inner.never.contains("additionalProperties")
        && members("patternProperties").is_none_or(Map::is_empty);
    let is_known = |name: &str| members("properties").is_some_and(|known| known.contains_key(name));
    if is_closed && let Some(name) = required.iter().find(|name| !is_known(name)) {
        let name = clip(name, 100);
        return Some(format!("`{name}` is required, but not in `properties`, and no others are allowed"));
    }
    let most = schema.get("maxProperties").and_then(Value::as_u64)?;
    let count = required.len() as u64;
    (count > most).then(|| format!("{count} properties are required and `maxProperties` is {most}"))
}

/// The types that `type` allows.
fn declared(schema: &Map<String, Value>) -> BTreeSet<&'static str> {
    let one = |name: &Value| {
        let name = name.as_str().map(|name| if name == "integer" { "number" } else { name });
        TYPES.into_iter().find(|known| Some(*known) == name)
    };
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(one).collect(),
        Some(name) => one(name).into_iter().collect(),
        None => TYPES.into(),
    }
}

fn only_integers(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().all(|name| name == "integer"),
        Some(name) => name == "integer",
        None => false,
    }
}

/// Large and unusual numbers get the benefit of the doubt.
fn may_be_integer(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The only allowed values, if they are listed.
fn listed(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether two values are equal, or could be: `1` and `1.0` are, and so may be values that contain them.
fn may_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        _ => one == other,
    }
}

fn allows_all(schema: &Value) -> bool {
    match schema {
        Value::Bool(allows) => *allows,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn shown(value: &Value) -> String {
    clip(&value.to_string(), 60).into_owned()
}
