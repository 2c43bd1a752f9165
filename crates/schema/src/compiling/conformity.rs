//! Conformity: whether a schema is one, by the meta-schema of its draft.

use crate::SchemaError;
use crate::check::{Check, with_enough_stack};
use crate::compiling::compile::compile;
use crate::compiling::draft::Draft;
use crate::compiling::meta;
use crate::compiling::program::Program;
use crate::compiling::resources::Resources;
use crate::tree::Tree;
use std::sync::OnceLock;

/// The meta-schema of a draft, compiled when it is first needed.
fn program(draft: Draft) -> Result<&'static Program, SchemaError> {
    static PROGRAMS: [OnceLock<Result<Program, SchemaError>>; Draft::ALL.len()] =
        [const { OnceLock::new() }; Draft::ALL.len()];
    let compiled = PROGRAMS[draft as usize]
        .get_or_init(|| compile(Resources::of(meta::document(draft), draft)?, &|_, _| Ok(())));
    compiled.as_ref().map_err(Clone::clone)
}

pub(crate) struct Conformity<'t> {
    schema: &'t Tree<'t>,
    /// The parts in other drafts, which the meta-schema of the whole has no say in.
    foreign: Vec<(String, Draft)>,
}

impl<'t> Conformity<'t> {
    pub(crate) fn new(schema: &'t Tree<'t>, resources: &Resources<'_>) -> Self {
        let foreign = resources.foreign().into_iter();
        Self { schema, foreign: foreign.map(|(location, draft)| (location.to_owned(), draft)).collect() }
    }

    /// Checks the whole and its parts in other drafts.
    pub(crate) fn check_all(&self, draft: Draft) -> Result<(), SchemaError> {
        self.check("", draft)?;
        self.foreign.iter().try_for_each(|(location, draft)| self.check(location, *draft))
    }

    /// Checks the part at a JSON Pointer.
    pub(crate) fn check(&self, location: &str, draft: Draft) -> Result<(), SchemaError> {
        let whole = "the schema";
        let program = program(draft)?;
        let others = self.foreign.iter().map(|(foreign, _)| foreign.as_str());
        let exempt: Vec<&str> = others.filter(|foreign| *foreign != location).collect();
        with_enough_stack(whole, |stack| {
            Check { location, exempt: &exempt, ..Check::new(program, whole, stack) }.tree(self.schema)
        })
        .map_err(|problems| {
            SchemaError::Invalid(problems.first().map_or_else(String::new, ToString::to_string))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meta_schema_conforms_to_itself() {
        for draft in Draft::ALL {
            let text = meta::document(draft).to_string();
            let schema = crate::Schema::compile(&text).unwrap_or_else(|error| panic!("{draft:?}: {error}"));
            assert!(schema.check_value(&text).is_ok(), "{draft:?}");
        }
    }
}
