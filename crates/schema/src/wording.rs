//! Problem wording: describes what a run found. No value is shown whole, and none that is not in the arguments.

use crate::excerpt;
use crate::expectation::expectation;
use crate::problem::{Instead, Problem, Problems};
use crate::running::place::below;
use crate::running::violation::{Kind, Violation};
use crate::tree::Tree;

/// Describes `violations` as problems of the value `tree`, which as a whole is called `whole`.
pub(crate) fn tell(tree: &Tree<'_>, whole: &'static str, violations: &[Violation<'_>]) -> Vec<Problem> {
    let teller = Teller { tree };
    let mut problems = Problems::new(whole);
    for violation in violations {
        teller.tell(violation, &mut problems);
    }
    problems.into_list()
}

pub(crate) struct Teller<'t> {
    pub(crate) tree: &'t Tree<'t>,
}

impl Teller<'_> {
    pub(crate) fn tell(&self, violation: &Violation<'_>, problems: &mut Problems) {
        let path = &violation.path;
        problems.set_rule(&violation.rule());
        match &violation.kind {
            Kind::Required { name, because, .. } => {
                let expected = match because {
                    Some(other) => {
                        format!("is required when {} is given", excerpt::quoted(&below(path, other)))
                    }
                    None => "is required".to_owned(),
                };
                problems.add(&below(path, name), expected, Instead::Nothing);
            }
            Kind::Unexpected { names, known, .. } => tell_unexpected(path, names, known, problems),
            Kind::NoAlternative(_, branches) => self.tell_alternatives(path, branches, problems),
            Kind::PropertyName(name, inner) => {
                let unwanted = format!("must not have a member named {}", excerpt::quoted(name));
                let expected = match &inner.kind {
                    Kind::Never => unwanted,
                    kind => {
                        format!("{unwanted}: the name {}", expectation(kind, path, &Tree::of_name(name)).0)
                    }
                };
                problems.add(path, expected, Instead::Nothing);
            }
            kind => {
                let (expected, instead) = match self.tree.at(path) {
                    Some(value) => expectation(kind, path, value),
                    None => (format!("does not fit `{}`", kind.keyword()), Instead::Nothing),
                };
                problems.add(path, expected, instead);
            }
        }
    }
}

fn tell_unexpected(path: &str, unexpected: &[String], known: &[&str], problems: &mut Problems) {
    let known: Vec<_> = known.iter().map(|name| excerpt::quoted(name)).collect();
    let expected = match &known[..] {
        [] => "is not allowed".to_owned(),
        [only] => format!("is not allowed; known is {only}"),
        all => format!("is not allowed; known are {}", excerpt::list(all)),
    };
    for (number, name) in unexpected.iter().enumerate() {
        if problems.is_full() {
            return problems.count(unexpected.len() - number);
        }
        problems.add(&below(path, name), expected.clone(), Instead::Nothing);
    }
}
