//! Check of one value.

use crate::compiling::program::Program;
use crate::excerpt;
use crate::problem::{Instead, Problem, one};
use crate::repair::{drop_nulls, drops_null, repair};
use crate::running::meter::{Meter, Stack};
use crate::running::room::with_room;
use crate::running::run::Run;
use crate::running::violation::{Kind, Violation};
use crate::tree::{MAX_VALUES, Tree, Unreadable, unescape};
use crate::wording::tell;
use std::borrow::Cow;

/// How often arguments are corrected and checked again: each time may reveal what a string contained.
const REPAIRS: usize = 4;

/// Why a value was not found to fit.
pub(crate) enum Stop {
    Problems(Vec<Problem>),
    /// There was not enough stack to decide.
    TooDeep,
}

/// Runs `work` here if the stack suffices, and otherwise on a thread where it does. The value is called `whole`.
pub(crate) fn with_enough_stack<T: Send>(
    whole: &'static str,
    work: impl Fn(Stack) -> Result<T, Stop> + Sync,
) -> Result<T, Vec<Problem>> {
    let outcome = match work(Stack::Callers) {
        Err(Stop::TooDeep) => with_room(|| work(Stack::Roomy)),
        other => Some(other),
    };
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(Stop::Problems(problems))) => Err(problems),
        Some(Err(Stop::TooDeep)) => {
            Err(one(whole, "must be less deeply nested to be checked", Instead::Nothing))
        }
        None => {
            Err(one(whole, "could not be checked, as the system has no thread to spare", Instead::Nothing))
        }
    }
}

pub(crate) struct Check<'s> {
    pub(crate) program: &'s Program,
    /// The name of the value as a whole.
    pub(crate) whole: &'static str,
    pub(crate) stack: Stack,
    /// The JSON Pointer of the part that is checked.
    pub(crate) location: &'s str,
    /// The JSON Pointers of parts that are not.
    pub(crate) exempt: &'s [&'s str],
}

impl<'s> Check<'s> {
    pub(crate) fn new(program: &'s Program, whole: &'static str, stack: Stack) -> Self {
        Self { program, whole, stack, location: "", exempt: &[] }
    }

    /// The text of arguments that fit, corrected if necessary.
    pub(crate) fn arguments<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, Stop> {
        let tree = self.read(text)?;
        if self.fits(&tree)? {
            return Ok(Cow::Borrowed(text));
        }
        let Some(mut violations) = self.violations(&tree)? else { return Err(self.first_problem(&tree)) };
        if let Some(text) = self.put_right(&tree, &violations, REPAIRS)? {
            return Ok(Cow::Owned(text));
        }
        self.forget_nulls(&tree, &mut violations)?;
        Err(Stop::Problems(tell(&tree, self.whole, &violations)))
    }

    /// Drops the problems of a `null` that stands for an omitted argument. Clients that send one for every such
    /// argument should not see them beside a real mistake.
    fn forget_nulls(&self, tree: &Tree<'_>, violations: &mut Vec<Violation<'_>>) -> Result<(), Stop> {
        let Some(text) = drop_nulls(tree, violations) else { return Ok(()) };
        let fewer = self.read(&text)?;
        let Some(left) = self.violations(&fewer)? else { return Ok(()) };
        // A `null` for a required argument is a mistake all the same.
        let is_mistake = |violation: &Violation<'_>| {
            !drops_null(violation, tree) || left.iter().any(|left| requires(left, violation))
        };
        if violations.iter().any(is_mistake) {
            violations.retain(is_mistake);
        }
        Ok(())
    }

    /// Whether a value fits as it is.
    pub(crate) fn value(&self, text: &str) -> Result<(), Stop> {
        self.tree(&self.read(text)?)
    }

    /// Whether a value fits as it is.
    pub(crate) fn tree(&self, tree: &Tree<'_>) -> Result<(), Stop> {
        if self.fits(tree)? {
            return Ok(());
        }
        Err(match self.violations(tree)? {
            Some(violations) => Stop::Problems(tell(tree, self.whole, &violations)),
            None => self.first_problem(tree),
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

    /// The part of `tree` that is checked.
    fn part<'a, 't>(&self, tree: &'a Tree<'t>) -> &'a Tree<'t> {
        tree.at(self.location).unwrap_or(tree)
    }

    fn run<'t>(&self, tree: &'t Tree<'t>, meter: Meter) -> Run<'s> {
        Run::new(self.program, meter).exempting(self.exempt.iter().filter_map(|exempt| tree.at(exempt)))
    }

    fn fits(&self, tree: &Tree<'_>) -> Result<bool, Stop> {
        let mut run = self.run(tree, Meter::for_verdict(tree, self.stack));
        let fits = run.fits(self.part(tree), self.location);
        if run.meter.is_too_deep() {
            Err(Stop::TooDeep)
        } else if run.meter.is_over() {
            let expected = "cannot be checked in reasonable time; try a smaller or less nested value";
            Err(self.only(expected, Instead::Nothing))
        } else {
            Ok(fits)
        }
    }

    /// All violations; `None` if there are too many.
    fn violations(&self, tree: &Tree<'_>) -> Result<Option<Vec<Violation<'s>>>, Stop> {
        let mut run = self.run(tree, Meter::for_errors(tree, self.stack));
        let violations = run.violations(self.part(tree), self.location, false);
        if run.meter.is_too_deep() {
            return Err(Stop::TooDeep);
        }
        Ok((!run.meter.is_over() && !violations.is_empty()).then_some(violations))
    }

    /// The first problem, if there are too many.
    fn first_problem(&self, tree: &Tree<'_>) -> Stop {
        let mut run = self.run(tree, Meter::for_errors(tree, self.stack));
        let first = run.violations(self.part(tree), self.location, true);
        if run.meter.is_too_deep() {
            Stop::TooDeep
        } else if run.meter.is_over() || first.is_empty() {
            let why = "what is wrong is too intricate to say".to_owned();
            self.only("must fit the schema", Instead::But(why))
        } else {
            Stop::Problems(tell(tree, self.whole, &first))
        }
    }

    /// The corrected text of `tree`, if it then fits.
    fn put_right(
        &self,
        tree: &Tree<'_>,
        violations: &[Violation<'_>],
        attempts: usize,
    ) -> Result<Option<String>, Stop> {
        let Some(text) = repair(tree, violations) else { return Ok(None) };
        // The content of a string may be too large, in which case it stays a string.
        let Ok(repaired) = Tree::read(&text) else { return Ok(None) };
        if self.fits(&repaired)? {
            return Ok(Some(text));
        }
        if attempts == 1 {
            return Ok(None);
        }
        match self.violations(&repaired)? {
            Some(violations) => self.put_right(&repaired, &violations, attempts - 1),
            None => Ok(None),
        }
    }

    fn only(&self, expected: &str, instead: Instead) -> Stop {
        Stop::Problems(one(self.whole, expected, instead))
    }
}

/// Whether `missing` says that the value which `violation` is about must be there.
fn requires(missing: &Violation<'_>, violation: &Violation<'_>) -> bool {
    let Kind::Required { name, .. } = missing.kind else { return false };
    let Some((parent, last)) = violation.path.rsplit_once('/') else { return false };
    parent == missing.path && unescape(last) == name
}
