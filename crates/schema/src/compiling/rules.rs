//! Rules of one schema: reads its keywords.

use crate::SchemaError;
use crate::compiling::builder::Builder;
use crate::compiling::draft::Draft;
use crate::compiling::keywords::Within;
use crate::compiling::pattern::Pattern;
use crate::compiling::program::{Bound, Contains, Elements, Members, NodeId, Others, Rule, Size};
use crate::compiling::resources::{Spot, push_within};
use crate::excerpt;
use crate::running::place::below;
use crate::types::{JsonType, JsonTypeSet};
use serde_json::{Map, Value};

pub(crate) struct Rules<'r, 'd, 'c> {
    builder: &'r mut Builder<'d, 'c>,
    spot: &'r Spot<'d>,
    keywords: &'d Map<String, Value>,
    draft: Draft,
    list: Vec<Rule>,
}

impl<'r, 'd, 'c> Rules<'r, 'd, 'c> {
    /// The rules of the schema at `spot`, in their order.
    pub(crate) fn read(
        builder: &'r mut Builder<'d, 'c>,
        spot: &'r Spot<'d>,
    ) -> Result<Vec<Rule>, SchemaError> {
        let keywords = match spot.schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Ok(vec![Rule::Never]),
            _ => return Ok(Vec::new()),
        };
        let draft = builder.resources.draft(spot.resource);
        let mut rules = Self { builder, spot, keywords, draft, list: Vec::new() };
        match keywords.get("$ref").and_then(Value::as_str) {
            Some(reference) if draft.refers_alone() => {
                let rule = rules.builder.reference(spot, reference)?;
                rules.list.push(rule);
            }
            _ => {
                for (keyword, value) in keywords {
                    if let Some(rule) = rules.rule(keyword, value)? {
                        rules.list.push(rule);
                    }
                }
            }
        }
        rules.list.sort_by_key(Rule::order);
        Ok(rules.list)
    }

    fn rule(&mut self, keyword: &'d str, value: &'d Value) -> Result<Option<Rule>, SchemaError> {
        if crate::compiling::keywords::shape(self.draft, keyword).is_none() && keyword != "$ref" {
            return Ok(None);
        }
        Ok(match keyword {
            "type" => Some(self.types(value)),
            "const" => Some(Rule::Const(value.clone())),
            "enum" => value.as_array().map(|values| Rule::Enum(values.clone())),
            "minimum" => self.bound(Bound::Minimum, Bound::ExclusiveMinimum, value),
            "maximum" => self.bound(Bound::Maximum, Bound::ExclusiveMaximum, value),
            "exclusiveMinimum" => number(value, |limit| Rule::Bound(Bound::ExclusiveMinimum, limit)),
            "exclusiveMaximum" => number(value, |limit| Rule::Bound(Bound::ExclusiveMaximum, limit)),
            "multipleOf" => number(value, Rule::MultipleOf),
            "minLength" => size(Size::MinLength, value),
            "maxLength" => size(Size::MaxLength, value),
            "minItems" => size(Size::MinItems, value),
            "maxItems" => size(Size::MaxItems, value),
            "minProperties" => size(Size::MinProperties, value),
            "maxProperties" => size(Size::MaxProperties, value),
            "required" => Some(Rule::Required(texts(value))),
            "dependentRequired" => Some(dependent_required("dependentRequired", value)),
            "pattern" => Some(Rule::Pattern(self.pattern(value.as_str().unwrap_or_default(), keyword)?)),
            "uniqueItems" => (*value == Value::Bool(true)).then_some(Rule::UniqueItems),
            "propertyNames" => Some(Rule::PropertyNames(self.only(keyword, value))),
            "contains" => Some(self.contains(value)),
            "dependentSchemas" => Some(Rule::DependentSchemas(self.map(keyword, value))),
            "dependencies" => {
                self.list.push(dependent_required("dependencies", value));
                Some(Rule::DependentSchemas(self.map(keyword, value)))
            }
            "allOf" => Some(Rule::AllOf(self.each(keyword, value))),
            "anyOf" => Some(Rule::AnyOf(self.each(keyword, value))),
            "oneOf" => Some(Rule::OneOf(self.each(keyword, value))),
            "not" => {
                let shown = excerpt::value(&value.to_string()).into();
                Some(Rule::Not { node: self.only(keyword, value), shown })
            }
            "if" => self.condition(value),
            "$ref" => self.reference(value, false)?,
            "$dynamicRef" => self.reference(value, true)?,
            // Whatever it says, it leads to the root: the draft allows nothing else.
            "$recursiveRef" if self.draft == Draft::Draft201909 => {
                Some(self.builder.dynamic_reference(self.spot, "#")?)
            }
            "unevaluatedProperties" => {
                let known = self.keywords.get("properties").and_then(Value::as_object);
                let known = known.into_iter().flatten().map(|(name, _)| name.as_str().into()).collect();
                Some(Rule::UnevaluatedProperties { node: self.only(keyword, value), known })
            }
            "unevaluatedItems" => Some(Rule::UnevaluatedItems(self.only(keyword, value))),
            // The first one that is there stands for all.
            "properties" | "patternProperties" | "additionalProperties" => self.members()?,
            "items" | "prefixItems" => self.elements(),
            _ => None,
        })
    }

    /// A condition without consequence matters only for what it evaluates.
    fn condition(&mut self, value: &'d Value) -> Option<Rule> {
        let (then, otherwise) = (self.given("then"), self.given("else"));
        let has_effect = then.or(otherwise).is_some() || self.draft > Draft::Draft7;
        has_effect.then(|| Rule::If { condition: self.only("if", value), then, otherwise })
    }

    fn types(&self, value: &Value) -> Rule {
        let named = |name: &Value| name.as_str().and_then(JsonType::named);
        let types: JsonTypeSet = match value {
            Value::Array(several) => several.iter().filter_map(named).collect(),
            name => named(name).into_iter().collect(),
        };
        Rule::Type { types, by_value: self.draft != Draft::Draft4 }
    }

    /// A bound that a flag beside it makes exclusive in the oldest draft.
    fn bound(&self, bound: Bound, exclusive: Bound, value: &Value) -> Option<Rule> {
        let is_exclusive =
            self.draft == Draft::Draft4 && self.keywords.get(exclusive.keyword()) == Some(&Value::Bool(true));
        number(value, |limit| Rule::Bound(if is_exclusive { exclusive } else { bound }, limit))
    }

    fn contains(&mut self, value: &'d Value) -> Rule {
        let count = |keyword: &str| self.keywords.get(keyword).and_then(integer);
        let (least, most) = match self.draft {
            Draft::Draft201909 | Draft::Draft202012 => (count("minContains"), count("maxContains")),
            _ => (None, None),
        };
        let node = self.only("contains", value);
        Rule::Contains(Contains { node, least, most, marks: self.draft == Draft::Draft202012 })
    }

    fn reference(&mut self, value: &Value, is_dynamic: bool) -> Result<Option<Rule>, SchemaError> {
        let Some(reference) = value.as_str() else { return Ok(None) };
        let rule = if is_dynamic {
            self.builder.dynamic_reference(self.spot, reference)
        } else {
            self.builder.reference(self.spot, reference)
        };
        rule.map(Some)
    }

    /// The rule for all members, made once.
    fn members(&mut self) -> Result<Option<Rule>, SchemaError> {
        if self.list.iter().any(|rule| matches!(rule, Rule::Members(_))) {
            return Ok(None);
        }
        let keywords = self.keywords;
        let properties = keywords.get("properties").map(|value| self.map("properties", value));
        let mut members = Members::new(properties.unwrap_or_default());
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            let node = self.inner("patternProperties", Within::Member(pattern), schema);
            let keyword = below("patternProperties", pattern);
            members.patterns.push((self.pattern(pattern, &keyword)?, node));
        }
        members.others = match keywords.get("additionalProperties") {
            None => Others::Unsaid,
            Some(Value::Bool(false)) => Others::None,
            Some(schema) => Others::Fit(self.only("additionalProperties", schema)),
        };
        Ok(Some(Rule::Members(members)))
    }

    /// The rule for all elements, made once.
    fn elements(&mut self) -> Option<Rule> {
        if self.list.iter().any(|rule| matches!(rule, Rule::Elements(_))) {
            return None;
        }
        let keywords = self.keywords;
        let items = keywords.get("items");
        let mut elements = Elements::default();
        if self.draft == Draft::Draft202012 {
            elements.first =
                keywords.get("prefixItems").map_or_else(Vec::new, |value| self.each("prefixItems", value));
        } else if items.is_some_and(Value::is_array) {
            elements.first = self.each("items", items?);
            elements.others = match keywords.get("additionalItems") {
                None => Others::Unsaid,
                Some(Value::Bool(false)) => Others::None,
                Some(schema) => Others::Fit(self.only("additionalItems", schema)),
            };
            return Some(Rule::Elements(elements));
        }
        elements.others = items.map_or(Others::Unsaid, |schema| Others::Fit(self.only("items", schema)));
        Some(Rule::Elements(elements))
    }

    fn pattern(&self, pattern: &str, keyword: &str) -> Result<Pattern, SchemaError> {
        Pattern::read(pattern).map_err(|refusal| {
            let path = format!("{}/{keyword}", self.spot.location);
            refusal.at(excerpt::clip(&path, 200).into_owned(), excerpt::clip(pattern, 200).into_owned())
        })
    }

    /// The node of a keyword beside, if it is there.
    fn given(&mut self, keyword: &str) -> Option<NodeId> {
        let value = self.keywords.get(keyword)?;
        Some(self.only(keyword, value))
    }

    fn only(&mut self, keyword: &str, schema: &'d Value) -> NodeId {
        self.inner(keyword, Within::Whole, schema)
    }

    fn each(&mut self, keyword: &str, schemas: &'d Value) -> Vec<NodeId> {
        let schemas = schemas.as_array().into_iter().flatten().enumerate();
        schemas.map(|(place, schema)| self.inner(keyword, Within::Element(place), schema)).collect()
    }

    /// The named schemas in a map, without the lists that `dependencies` may have beside them.
    fn map(&mut self, keyword: &str, schemas: &'d Value) -> Vec<(Box<str>, NodeId)> {
        let schemas = schemas.as_object().into_iter().flatten().filter(|(_, schema)| !schema.is_array());
        schemas
            .map(|(name, schema)| (name.as_str().into(), self.inner(keyword, Within::Member(name), schema)))
            .collect()
    }

    fn inner(&mut self, keyword: &str, within: Within<'_>, schema: &'d Value) -> NodeId {
        let mut location = self.spot.location.clone();
        push_within(&mut location, keyword, within);
        self.builder.node(Spot { schema, location, resource: self.spot.resource })
    }
}

fn number(value: &Value, rule: impl FnOnce(serde_json::Number) -> Rule) -> Option<Rule> {
    value.as_number().cloned().map(rule)
}

fn size(size: Size, value: &Value) -> Option<Rule> {
    integer(value).map(|limit| Rule::Size(size, limit))
}

/// A count, which may be written as `2.0`.
fn integer(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count beyond the range of \
        the type is the largest one"
    )]
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

fn texts(value: &Value) -> Vec<Box<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

fn dependent_required(keyword: &'static str, value: &Value) -> Rule {
    let lists = value.as_object().into_iter().flatten().filter(|(_, names)| names.is_array());
    Rule::DependentRequired(
        keyword,
        lists.map(|(name, names)| (name.as_str().into(), texts(names))).collect(),
    )
}
