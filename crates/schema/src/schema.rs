//! Compiled schema, ready to check values.

use crate::check::Check;
use crate::meter::Stack;
use crate::plain::Plain;
use crate::problem::{Instead, Problem, one};
use crate::room::with_room;
use crate::tree::Tree;
use crate::written::Written;
use crate::{SchemaError, bounds, refusal};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The largest regular expression, in bytes of its compiled form.
const PATTERN_BYTES: usize = 4 * 1024 * 1024;
/// How much memory a regular expression may use as a cache while it matches.
const PATTERN_CACHE_BYTES: usize = 1024 * 1024;

/// The schema of a tool's input or output.
pub struct Schema {
    /// The same schema, if it is plain.
    plain: Option<Plain>,
    /// Prepared when it is first needed, if the schema is known to be valid.
    validator: OnceLock<Result<Validator<Written>, SchemaError>>,
    text: Box<str>,
    /// Whether it has so many references that following them in a row may take much stack.
    has_many_references: bool,
}

/// Arguments that fit their schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked<'a> {
    /// Borrowed: the original text, byte for byte. Owned: the same with some values corrected.
    pub text: Cow<'a, str>,
}

impl Checked<'_> {
    /// Whether any value was corrected.
    pub fn is_coerced(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }
}

/// Why a value was not found to fit.
pub(crate) enum Stop {
    Problems(Vec<Problem>),
    /// There was not enough stack to decide.
    TooDeep,
}

impl Schema {
    /// Reads a schema. Nothing is fetched: everything it refers to must be in the text.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        let schema = bounds::read(text)?;
        let plain = Plain::read(&schema);
        let validator = match &plain {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(Ok(validator(&schema, text)?)),
        };
        let has_many_references = bounds::count_references(&schema) > bounds::FEW_REFERENCES;
        Ok(Self { plain, validator, text: text.into(), has_many_references })
    }

    /// The validator, which decides if the plain schema does not.
    fn validator(&self) -> Result<&Validator<Written>, &SchemaError> {
        let prepared = self.validator.get_or_init(|| validator(&bounds::read(&self.text)?, &self.text));
        prepared.as_ref()
    }

    /// Whether a value fits beyond doubt, decided without preparing anything.
    fn surely_fits(&self, value: &str) -> bool {
        let plain = self.plain.as_ref().filter(|_| self.validator.get().is_none());
        plain.is_some_and(|plain| Tree::read(value).is_ok_and(|tree| plain.surely_fits(&tree)))
    }

    /// Whether a tool can be called with these arguments, the text of a JSON object. Values of the wrong type are
    /// corrected if the intended value is beyond doubt; arguments that fit are never changed.
    pub fn check<'a>(&self, arguments: &'a str) -> Result<Checked<'a>, Vec<Problem>> {
        if self.surely_fits(arguments) {
            return Ok(Checked { text: Cow::Borrowed(arguments) });
        }
        self.run("arguments", |check| check.arguments(arguments)).map(|text| Checked { text })
    }

    /// Whether a value of any type fits, as it is.
    pub fn check_value(&self, text: &str) -> Result<(), Vec<Problem>> {
        if self.surely_fits(text) {
            return Ok(());
        }
        self.run("the value", |check| check.value(text))
    }

    /// Runs `work` here if the stack suffices, and otherwise on a thread where it does.
    fn run<T: Send>(
        &self,
        whole: &'static str,
        work: impl Fn(&Check<'_>) -> Result<T, Stop> + Sync,
    ) -> Result<T, Vec<Problem>> {
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(error) => return Err(one(whole, "cannot be checked", Instead::But(error.to_string()))),
        };
        let on = |stack| work(&Check { validator, schema: &self.text, whole, stack });
        let here = if self.has_many_references { Err(Stop::TooDeep) } else { on(Stack::Callers) };
        let outcome = match here {
            Err(Stop::TooDeep) => with_room(|| on(Stack::Roomy)),
            other => Some(other),
        };
        match outcome {
            Some(Ok(value)) => Ok(value),
            Some(Err(Stop::Problems(problems))) => Err(problems),
            Some(Err(Stop::TooDeep)) => {
                Err(one(whole, "must be less deeply nested to be checked", Instead::Nothing))
            }
            None => Err(one(
                whole,
                "could not be checked, as the system has no thread to spare",
                Instead::Nothing,
            )),
        }
    }
}

fn validator(schema: &Value, text: &str) -> Result<Validator<Written>, SchemaError> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_CACHE_BYTES);
    jsonschema::options_for::<Written>()
        .with_draft(bounds::dialect(schema)?)
        .offline()
        .should_validate_formats(false)
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| refusal::of(&error, text))
}
