//! Compiled schema, ready to check values.

use crate::check::{Check, with_enough_stack};
use crate::compiling::compile::compile;
use crate::compiling::conformity::Conformity;
use crate::compiling::draft::Draft;
use crate::compiling::program::Program;
use crate::compiling::resources::Resources;
use crate::problem::Problem;
use crate::tree::Tree;
use crate::{SchemaError, bounds};
use std::borrow::Cow;

/// The schema of a tool's input or output.
pub struct Schema {
    program: Program,
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

impl Schema {
    /// Reads a schema. Nothing is fetched: everything it refers to must be in the text.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        let schema = bounds::read(text)?;
        let draft = Draft::of(&schema)?;
        let mut resources = Resources::of(&schema, draft)?;
        // A name may occur twice in a schema, as its parsers agree that the last one counts. A tree has it once.
        let unique;
        let tree = if let Ok(tree) = Tree::read(text) {
            tree
        } else {
            unique = schema.to_string();
            Tree::read(&unique).map_err(|_| SchemaError::TooLarge)?
        };
        let conformity = Conformity::new(&tree, &resources);
        conformity.check_all(draft)?;
        resources.check_references()?;
        let program = compile(resources, &|location, draft| conformity.check(location, draft))?;
        Ok(Self { program })
    }

    /// Whether a tool can be called with these arguments, the text of a JSON object. Values of the wrong type are
    /// corrected if the intended value is beyond doubt; arguments that fit are never changed.
    pub fn check<'a>(&self, arguments: &'a str) -> Result<Checked<'a>, Vec<Problem>> {
        let whole = "arguments";
        let work = |stack| Check::new(&self.program, whole, stack).arguments(arguments);
        with_enough_stack(whole, work).map(|text| Checked { text })
    }

    /// Whether a value of any type fits, as it is.
    pub fn check_value(&self, text: &str) -> Result<(), Vec<Problem>> {
        let whole = "the value";
        with_enough_stack(whole, |stack| Check::new(&self.program, whole, stack).value(text))
    }
}
