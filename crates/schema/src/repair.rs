//! Argument repair: corrects arguments if the intended value is beyond doubt.
//!
//! Violations say where a value has the wrong type, so that references, conditions and dialects need
//! no second interpretation here. They lead to replacements in the text: everything else keeps its spelling.
//!
//! One of several alternatives (`anyOf`, `oneOf`) is considered only if it is the only one for the type of the value; a
//! plain value is replaced only if none of them accepts its type.
//!
//! `null` for an optional property that does not allow it means "nothing": models that have to name every property use
//! it so. The property is dropped if the schema names it under `properties`; a `null` in a free-form map
//! (`additionalProperties`) stays, because there the author has not said which names exist.

use crate::coerce::coerce;
use crate::mismatch::{branch_wants, wanted_types};
use crate::running::violation::{Branch, Violation};
use crate::tree::{Body, Members, Tree, place};
use std::collections::BTreeMap;

/// The text with every possible correction. `None` if there is none.
pub(crate) fn repair(root: &Tree<'_>, violations: &[Violation<'_>]) -> Option<String> {
    apply(root, violations.iter().filter_map(|violation| fixes_for(violation, root)).flatten())
}

/// The text without each `null` that means nothing. `None` if there is none.
pub(crate) fn drop_nulls(root: &Tree<'_>, violations: &[Violation<'_>]) -> Option<String> {
    let fixes = violations.iter().filter_map(|violation| fixes_for(violation, root)).flatten();
    apply(root, fixes.filter(|(_, fix)| *fix == Fix::Drop))
}

/// Whether `violation` is about a `null` that means nothing.
pub(crate) fn drops_null(violation: &Violation<'_>, root: &Tree<'_>) -> bool {
    fixes_for(violation, root).is_some_and(|fixes| fixes.iter().all(|(_, fix)| *fix == Fix::Drop))
}

fn apply(root: &Tree<'_>, fixes: impl Iterator<Item = (usize, Fix)>) -> Option<String> {
    let mut plan = Plan { root, fixes: BTreeMap::new() };
    for (place, fix) in fixes {
        let planned = plan.fixes.entry(place).or_insert_with(|| fix.clone());
        if *planned != fix {
            *planned = Fix::Keep;
        }
    }
    plan.fixes.retain(|_, fix| *fix != Fix::Keep);
    if plan.fixes.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(root.text.len());
    plan.write(root, &mut text);
    Some(text)
}

#[derive(Clone, PartialEq)]
enum Fix {
    Write(String),
    /// Leave the member out.
    Drop,
    /// Two parts of the schema disagree on what is right.
    Keep,
}

struct Plan<'t> {
    root: &'t Tree<'t>,
    /// By the position of the value in the text.
    fixes: BTreeMap<usize, Fix>,
}

impl Plan<'_> {
    /// Appends `tree` with the fixes it holds.
    fn write(&self, tree: &Tree<'_>, text: &mut String) {
        let place = tree.place_in(self.root);
        if let Some(Fix::Write(instead)) = self.fixes.get(&place.start) {
            return text.push_str(instead);
        }
        if self.fixes.range(place.clone()).next().is_none() {
            return text.push_str(tree.text);
        }
        match &tree.body {
            Body::Object(members) => self.write_members(tree, members, text),
            Body::Array(elements) => {
                let mut written = place.start;
                for element in elements {
                    let at = element.place_in(self.root);
                    text.push_str(&self.root.text[written..at.start]);
                    self.write(element, text);
                    written = at.end;
                }
                text.push_str(&self.root.text[written..place.end]);
            }
            _ => text.push_str(tree.text),
        }
    }

    fn write_members(&self, tree: &Tree<'_>, members: &Members<'_>, text: &mut String) {
        let whole = self.root.text;
        let mut written = tree.place_in(self.root).start;
        let mut any_kept = false;
        for (number, member) in members.list.iter().enumerate() {
            let at = member.value.place_in(self.root);
            if self.fixes.get(&at.start) != Some(&Fix::Drop) {
                text.push_str(&whole[written..at.start]);
                self.write(&member.value, text);
                written = at.end;
                any_kept = true;
            } else if any_kept {
                // The comma before the member goes with it.
                written = at.end;
            } else {
                // Nothing was kept so far, so the comma after the member goes with it.
                text.push_str(&whole[written..place(member.key, whole).start]);
                let next = members.list.get(number + 1);
                written = next.map_or(at.end, |next| place(next.key, whole).start);
            }
        }
        text.push_str(&whole[written..tree.place_in(self.root).end]);
    }
}

/// The fixes that remove `violation`.
fn fixes_for(violation: &Violation<'_>, root: &Tree<'_>) -> Option<Vec<(usize, Fix)>> {
    let value = root.at(&violation.path)?;
    let start = value.place_in(root).start;
    if matches!(value.body, Body::Null) && violation.is_declared {
        return Some(vec![(start, Fix::Drop)]);
    }
    if let Some(text) = wanted_types(violation, value).and_then(|wanted| coerce(value, wanted)) {
        return Some(vec![(start, Fix::Write(text))]);
    }
    let branch = only_alternative(violation, value)?;
    let fixes: Option<Vec<_>> = branch.iter().map(|inner| fixes_for(inner, root)).collect();
    Some(fixes?.into_iter().flatten().collect())
}

/// The alternative that a container was meant to fit, if only one of them accepts its type.
fn only_alternative<'e>(violation: &'e Violation<'_>, value: &Tree<'_>) -> Option<&'e Branch<'e>> {
    let branches = violation.alternatives()?;
    if !matches!(value.body, Body::Array(_) | Body::Object(_)) {
        return None;
    }
    let mut fitting = branches.iter().filter(|branch| branch_wants(branch, &violation.path, value).is_none());
    fitting.next().filter(|_| fitting.next().is_none())
}
