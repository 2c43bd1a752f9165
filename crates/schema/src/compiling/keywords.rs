//! Keywords: which ones a draft has, and what their values look like. The meta-schemas are made from this table, and it
//! says where a schema has others inside.

use crate::compiling::draft::Draft::{self, Draft4, Draft6, Draft7, Draft201909, Draft202012};
use Shape::{
    Anchor, AnchorName, Anything, Count, Flag, Flags, Id, List, Number, Schema, SchemaMap, SchemaOrFlag,
    SchemaOrSchemas, SchemaOrTextsMap, Schemas, Step, Text, Texts, TextsMap, Types,
};
use serde_json::{Map, Value};

/// What the value of a keyword looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    Anything,
    Text,
    Flag,
    Number,
    /// A number above zero.
    Step,
    /// An integer from zero.
    Count,
    /// Distinct strings.
    Texts,
    List,
    /// A type, or several.
    Types,
    /// An address without a fragment.
    Id,
    /// A name for a place in the schema.
    Anchor,
    /// The same, before 2020-12.
    AnchorName,
    /// A map of booleans.
    Flags,
    TextsMap,
    Schema,
    SchemaOrFlag,
    Schemas,
    SchemaOrSchemas,
    SchemaMap,
    SchemaOrTextsMap,
}

pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    since: Draft,
    until: Draft,
    pub(crate) shape: Shape,
}

const fn keyword(name: &'static str, since: Draft, until: Draft, shape: Shape) -> Keyword {
    Keyword { name, since, until, shape }
}

const fn always(name: &'static str, shape: Shape) -> Keyword {
    keyword(name, Draft4, Draft202012, shape)
}

const fn since(since: Draft, name: &'static str, shape: Shape) -> Keyword {
    keyword(name, since, Draft202012, shape)
}

/// In the order of their names.
static KEYWORDS: [Keyword; 71] = [
    keyword("$anchor", Draft201909, Draft201909, AnchorName),
    since(Draft202012, "$anchor", Anchor),
    since(Draft7, "$comment", Text),
    since(Draft201909, "$defs", SchemaMap),
    since(Draft202012, "$dynamicAnchor", Anchor),
    since(Draft202012, "$dynamicRef", Text),
    keyword("$id", Draft6, Draft7, Text),
    since(Draft201909, "$id", Id),
    keyword("$recursiveAnchor", Draft201909, Draft201909, Flag),
    since(Draft202012, "$recursiveAnchor", Anchor),
    since(Draft201909, "$recursiveRef", Text),
    since(Draft6, "$ref", Text),
    always("$schema", Text),
    since(Draft201909, "$vocabulary", Flags),
    keyword("additionalItems", Draft4, Draft4, SchemaOrFlag),
    keyword("additionalItems", Draft6, Draft201909, Schema),
    keyword("additionalProperties", Draft4, Draft4, SchemaOrFlag),
    since(Draft6, "additionalProperties", Schema),
    always("allOf", Schemas),
    always("anyOf", Schemas),
    since(Draft6, "const", Anything),
    since(Draft6, "contains", Schema),
    since(Draft7, "contentEncoding", Text),
    since(Draft7, "contentMediaType", Text),
    since(Draft201909, "contentSchema", Schema),
    always("default", Anything),
    always("definitions", SchemaMap),
    always("dependencies", SchemaOrTextsMap),
    since(Draft201909, "dependentRequired", TextsMap),
    since(Draft201909, "dependentSchemas", SchemaMap),
    since(Draft201909, "deprecated", Flag),
    always("description", Text),
    since(Draft7, "else", Schema),
    always("enum", List),
    since(Draft6, "examples", List),
    keyword("exclusiveMaximum", Draft4, Draft4, Flag),
    since(Draft6, "exclusiveMaximum", Number),
    keyword("exclusiveMinimum", Draft4, Draft4, Flag),
    since(Draft6, "exclusiveMinimum", Number),
    always("format", Text),
    keyword("id", Draft4, Draft4, Text),
    since(Draft7, "if", Schema),
    keyword("items", Draft4, Draft201909, SchemaOrSchemas),
    since(Draft202012, "items", Schema),
    since(Draft201909, "maxContains", Count),
    always("maxItems", Count),
    always("maxLength", Count),
    always("maxProperties", Count),
    always("maximum", Number),
    since(Draft201909, "minContains", Count),
    always("minItems", Count),
    always("minLength", Count),
    always("minProperties", Count),
    always("minimum", Number),
    always("multipleOf", Step),
    always("not", Schema),
    always("oneOf", Schemas),
    always("pattern", Text),
    always("patternProperties", SchemaMap),
    since(Draft202012, "prefixItems", Schemas),
    always("properties", SchemaMap),
    since(Draft6, "propertyNames", Schema),
    since(Draft7, "readOnly", Flag),
    always("required", Texts),
    since(Draft7, "then", Schema),
    always("title", Text),
    always("type", Types),
    since(Draft201909, "unevaluatedItems", Schema),
    since(Draft201909, "unevaluatedProperties", Schema),
    always("uniqueItems", Flag),
    since(Draft7, "writeOnly", Flag),
];

/// The keywords that a draft has.
pub(crate) fn keywords(draft: Draft) -> impl Iterator<Item = &'static Keyword> {
    KEYWORDS.iter().filter(move |keyword| (keyword.since..=keyword.until).contains(&draft))
}

/// The shape of a keyword's value, if the draft has the keyword.
pub(crate) fn shape(draft: Draft, name: &str) -> Option<Shape> {
    let start = KEYWORDS.partition_point(|keyword| keyword.name < name);
    let same = KEYWORDS[start..].iter().take_while(|keyword| keyword.name == name);
    let mut of_draft = same.filter(|keyword| (keyword.since..=keyword.until).contains(&draft));
    of_draft.next().map(|keyword| keyword.shape)
}

/// Where a schema is within the value of a keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Within<'d> {
    /// It is the value.
    Whole,
    Member(&'d str),
    Element(usize),
}

/// Visits each schema directly within another: the keyword, where in its value, and the schema.
pub(crate) fn each_subschema<'d>(
    draft: Draft,
    schema: &'d Map<String, Value>,
    visit: &mut dyn FnMut(&'d str, Within<'d>, &'d Value),
) {
    for (name, value) in schema {
        match (shape(draft, name), value) {
            (Some(Schema | SchemaOrFlag), _) | (Some(SchemaOrSchemas), Value::Object(_) | Value::Bool(_)) => {
                visit(name, Within::Whole, value);
            }
            (Some(Schemas | SchemaOrSchemas), Value::Array(elements)) => {
                for (place, element) in elements.iter().enumerate() {
                    visit(name, Within::Element(place), element);
                }
            }
            (Some(SchemaMap | SchemaOrTextsMap), Value::Object(members)) => {
                for (member, value) in members.iter().filter(|(_, value)| !value.is_array()) {
                    visit(name, Within::Member(member), value);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_draft_has_a_keyword_twice() {
        assert!(KEYWORDS.is_sorted_by(|one, other| one.name <= other.name));
        for draft in Draft::ALL {
            let names: Vec<_> = keywords(draft).map(|keyword| keyword.name).collect();
            assert!(names.is_sorted_by(|one, other| one < other), "{draft:?}");
        }
    }

    #[test]
    fn a_keyword_has_the_shape_that_its_draft_gives_it() {
        assert_eq!(shape(Draft4, "exclusiveMaximum"), Some(Flag));
        assert_eq!(shape(Draft202012, "exclusiveMaximum"), Some(Number));
        assert_eq!(shape(Draft4, "const"), None);
        assert_eq!(shape(Draft202012, "unheardOf"), None);
    }
}
