//! Alternatives: describes what is wrong with a value that fits none of them.
//!
//! Listing every way in which every alternative fails helps no reader. So the intended alternative is guessed: the only
//! one that takes the type of the value, or the only one whose tag (a member with a fixed value) is the given one.

use crate::excerpt;
use crate::expectation::{shown_with_kind, type_phrases, values};
use crate::mismatch::branch_wants;
use crate::problem::{Instead, Problems};
use crate::running::violation::{Branch, Kind, Violation};
use crate::tree::Tree;
use crate::types::JsonType;
use crate::wording::Teller;

impl Teller<'_> {
    pub(crate) fn tell_alternatives(&self, path: &str, branches: &[Branch<'_>], problems: &mut Problems) {
        let Some(value) = self.tree.at(path) else {
            return problems.add(path, "fits none of its alternatives".to_owned(), Instead::Nothing);
        };
        let mut wanted = Wanted::default();
        if branches.iter().all(|branch| wanted.gather(path, branch)) {
            return wanted.tell(path, value, problems);
        }
        let fitting: Vec<_> =
            branches.iter().filter(|branch| branch_wants(branch, path, value).is_none()).collect();
        let tagged: Vec<_> =
            fitting.iter().copied().filter(|branch| wrong_tag(branch, path).is_none()).collect();
        match (&tagged[..], &fitting[..]) {
            ([only], _) | ([], [only]) => only.iter().for_each(|violation| self.tell(violation, problems)),
            ([], all) => match common_tag(all, path) {
                Some((tag, values)) => {
                    let given =
                        self.tree.at(tag).map_or_else(String::new, |given| excerpt::value(given.text));
                    problems.add(tag, format!("must be {}", excerpt::either(&values)), Instead::Given(given));
                }
                None => self.tell_each(path, value, all, problems),
            },
            (several, _) => self.tell_each(path, value, several, problems),
        }
    }

    /// Names the first problem of the first alternatives.
    fn tell_each(&self, path: &str, value: &Tree<'_>, branches: &[&Branch<'_>], problems: &mut Problems) {
        const MOST: usize = 3;
        let mut reasons = Vec::new();
        for branch in branches.iter().take(MOST) {
            let mut aside = problems.aside();
            branch.iter().take(1).for_each(|violation| self.tell(violation, &mut aside));
            reasons.extend(aside.into_list().first().map(|problem| problem.demand().to_owned()));
        }
        reasons.dedup();
        if branches.len() > MOST {
            reasons.push(format!("{} more", branches.len() - MOST));
        }
        let expected = format!("must fit one of the alternatives ({})", reasons.join("; or "));
        problems.add(path, expected, Instead::Given(excerpt::value(value.text)));
    }
}

/// The types or values that alternatives accept, if they can be listed.
#[derive(Default)]
struct Wanted {
    types: Vec<JsonType>,
    values: Vec<String>,
}

impl Wanted {
    /// Adds what an alternative accepts at `path`. False if its problem is not a type or a value.
    fn gather(&mut self, path: &str, branch: &[Violation<'_>]) -> bool {
        let mut here = branch.iter().filter(|violation| violation.path == path);
        here.any(|violation| {
            match &violation.kind {
                Kind::Type(types) => self.types.extend(types.iter()),
                Kind::Enum(options) => self.values.extend(values(options)),
                Kind::Const(expected) => self.values.extend(values(std::slice::from_ref(expected))),
                Kind::NoAlternative(_, branches) => {
                    return branches.iter().all(|branch| self.gather(path, branch));
                }
                _ => return false,
            }
            true
        })
    }

    fn tell(mut self, path: &str, value: &Tree<'_>, problems: &mut Problems) {
        let shown = if self.types.is_empty() { excerpt::value(value.text) } else { shown_with_kind(value) };
        self.values.extend(type_phrases(self.types.into_iter()));
        self.values.dedup();
        problems.add(path, format!("must be {}", excerpt::either(&self.values)), Instead::Given(shown));
    }
}

/// The tag of an object, the member that says which alternative it is, if it says another one than this: its path, and
/// the values that would have been right.
fn wrong_tag<'b>(branch: &'b Branch<'_>, path: &str) -> Option<(&'b str, Vec<String>)> {
    branch.iter().find_map(|violation| {
        let at = violation.path.as_str();
        let name = at.strip_prefix(path)?.strip_prefix('/')?;
        match &violation.kind {
            _ if name.contains('/') => None,
            Kind::Const(expected) => Some((at, values(std::slice::from_ref(expected)))),
            Kind::Enum(options) => Some((at, values(options))),
            _ => None,
        }
    })
}

/// The tag that all alternatives have, and all the values it may have.
fn common_tag<'b>(branches: &[&'b Branch<'_>], path: &str) -> Option<(&'b str, Vec<String>)> {
    let tags: Option<Vec<_>> = branches.iter().map(|branch| wrong_tag(branch, path)).collect();
    let tags = tags?;
    let (tag, _) = tags.first()?;
    let same = tags.iter().all(|(other, _)| other == tag);
    same.then(|| (*tag, tags.iter().flat_map(|(_, values)| values.clone()).collect()))
}
