//! Check of one value.

use crate::excerpt;
use crate::meter::{Meter, Stack};
use crate::problem::{Instead, one};
use crate::repair::{drop_nulls, drops_null, repair};
use crate::schema::Stop;
use crate::tree::{MAX_VALUES, Tree, Unreadable};
use crate::wording::tell;
use crate::written::{Run, Written};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use std::borrow::Cow;

/// How often arguments are corrected and checked again: each time may reveal what a string contained.
const REPAIRS: usize = 4;

pub(crate) struct Check<'s> {
    pub(crate) validator: &'s Validator<Written>,
    /// The text of the schema.
    pub(crate) schema: &'s str,
    /// The name of the value as a whole.
    pub(crate) whole: &'static str,
    pub(crate) stack: Stack,
}

impl Check<'_> {
    /// The text of arguments that fit, corrected if necessary.
    pub(crate) fn arguments<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, Stop> {
        let tree = self.read(text)?;
        if self.fits(&tree)? {
            return Ok(Cow::Borrowed(text));
        }
        let run = Run::new(&tree, Meter::for_errors(&tree, self.stack));
        let Some(mut errors) = self.errors(&run)? else { return Err(self.first_problem(&tree)) };
        if let Some(text) = self.put_right(&tree, &errors, REPAIRS)? {
            return Ok(Cow::Owned(text));
        }
        self.forget_nulls(&tree, &mut errors)?;
        Err(Stop::Problems(tell(&tree, self.schema, self.whole, &errors)))
    }

    /// Drops the problems of a `null` that stands for an omitted argument. Clients that send one for every such
    /// argument should not see them beside a real mistake.
    fn forget_nulls(&self, tree: &Tree<'_>, errors: &mut Vec<ValidationError<'_>>) -> Result<(), Stop> {
        let Some(text) = drop_nulls(tree, errors) else { return Ok(()) };
        let fewer = self.read(&text)?;
        let run = Run::new(&fewer, Meter::for_errors(&fewer, self.stack));
        let Some(left) = self.errors(&run)? else { return Ok(()) };
        // A `null` for a required argument is a mistake all the same.
        let is_mistake = |error: &ValidationError<'_>| {
            !drops_null(error, tree) || left.iter().any(|left| requires(left, error))
        };
        if errors.iter().any(is_mistake) {
            errors.retain(is_mistake);
        }
        Ok(())
    }

    /// Whether a value fits as it is.
    pub(crate) fn value(&self, text: &str) -> Result<(), Stop> {
        let tree = self.read(text)?;
        if self.fits(&tree)? {
            return Ok(());
        }
        let run = Run::new(&tree, Meter::for_errors(&tree, self.stack));
        Err(match self.errors(&run)? {
            Some(errors) => Stop::Problems(tell(&tree, self.schema, self.whole, &errors)),
            None => self.first_problem(&tree),
        })
    }

    fn read<'a>(&self, text: &'a str) -> Result<Tree<'a>, Stop> {
        Tree::read(text).map_err(|reason| match reason {
            Unreadable::Scan(error) => self.only("must be JSON", Instead::But(error.to_string())),
            Unreadable::Surrogate => self.only("must not hold half of a surrogate pair", Instead::Nothing),
            Unreadable::TooMany => {
                self.only(&format!("must not hold more than {MAX_VALUES} values"), Instead::Nothing)
            }
            Unreadable::Duplicate(name) => {
                let again = format!("{} appears more than once", excerpt::quoted(&name));
                self.only("must name every member of an object once", Instead::But(again))
            }
        })
    }

    fn fits(&self, tree: &Tree<'_>) -> Result<bool, Stop> {
        let run = Run::new(tree, Meter::for_verdict(tree, self.stack));
        let fits = self.validator.is_valid(run.view());
        if run.meter.is_too_deep() {
            Err(Stop::TooDeep)
        } else if run.meter.is_over() {
            let expected = "cannot be checked in reasonable time; try a smaller or less nested value";
            Err(self.only(expected, Instead::Nothing))
        } else {
            Ok(fits)
        }
    }

    /// All problems; `None` if there are too many.
    fn errors<'r>(&'r self, run: &'r Run<'r>) -> Result<Option<Vec<ValidationError<'r>>>, Stop> {
        let errors: Vec<_> = self.validator.iter_errors(run.view()).collect();
        if run.meter.is_too_deep() {
            return Err(Stop::TooDeep);
        }
        Ok((!run.meter.is_over() && !errors.is_empty()).then_some(errors))
    }

    /// The first problem, if there are too many.
    fn first_problem(&self, tree: &Tree<'_>) -> Stop {
        let run = Run::new(tree, Meter::for_errors(tree, self.stack));
        let first = self.validator.validate(run.view());
        match first {
            _ if run.meter.is_too_deep() => Stop::TooDeep,
            Err(first) if !run.meter.is_over() => {
                Stop::Problems(tell(tree, self.schema, self.whole, std::slice::from_ref(&first)))
            }
            _ => {
                let why = "what is wrong is too intricate to say".to_owned();
                self.only("must fit the schema", Instead::But(why))
            }
        }
    }

    /// The corrected text of `tree`, if it then fits.
    fn put_right(
        &self,
        tree: &Tree<'_>,
        errors: &[ValidationError<'_>],
        attempts: usize,
    ) -> Result<Option<String>, Stop> {
        let Some(text) = repair(tree, errors) else { return Ok(None) };
        // The content of a string may be too large, in which case it stays a string.
        let Ok(repaired) = Tree::read(&text) else { return Ok(None) };
        if self.fits(&repaired)? {
            return Ok(Some(text));
        }
        if attempts == 1 {
            return Ok(None);
        }
        let run = Run::new(&repaired, Meter::for_errors(&repaired, self.stack));
        match self.errors(&run)? {
            Some(errors) => self.put_right(&repaired, &errors, attempts - 1),
            None => Ok(None),
        }
    }

    fn only(&self, expected: &str, instead: Instead) -> Stop {
        Stop::Problems(one(self.whole, expected, instead))
    }
}

/// Whether `missing` says that the value which `error` is about must be there.
fn requires(missing: &ValidationError<'_>, error: &ValidationError<'_>) -> bool {
    let ValidationErrorKind::Required { property } = missing.kind() else { return false };
    let Some((parent, name)) = error.instance_path().as_str().rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    parent == missing.instance_path().as_str() && property.as_str() == Some(&name)
}
