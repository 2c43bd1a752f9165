//! Recursive references: `$ref`s of a schema that lead back to themselves.

use std::collections::{BTreeMap, BTreeSet};

/// How many references are followed.
const MOST: usize = 500;

/// The place of the first reference that leads to a schema it is part of. A reference is its place and its target, both as
/// JSON Pointers.
pub(super) fn recursive(references: &[(String, String)]) -> Option<&str> {
    let references = &references[..references.len().min(MOST)];
    let mut leads_to: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for target in references.iter().map(|(_, target)| &**target) {
        leads_to.entry(target).or_insert_with(|| {
            let inside = references.iter().filter(|(place, _)| is_inside(place, target));
            inside.map(|(_, next)| &**next).collect()
        });
    }
    let returns = |target: &str| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![target]);
        while let Some(next) = left.pop() {
            for next in leads_to.get(next).into_iter().flatten() {
                if *next == target {
                    return true;
                }
                if seen.insert(*next) {
                    left.push(next);
                }
            }
        }
        false
    };
    references.iter().find(|(_, target)| returns(target)).map(|(place, _)| &**place)
}

fn is_inside(place: &str, target: &str) -> bool {
    place.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_that_come_back_are_found() {
        let found = |references: &[(&str, &str)]| {
            let owned: Vec<_> = references.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            recursive(&owned).map(str::to_owned)
        };
        assert_eq!(found(&[("/properties/a/$ref", "/$defs/n"), ("/properties/b/$ref", "/$defs/n")]), None);
        assert_eq!(found(&[("/$defs/node/$ref", "/$defs/nodes")]), None);
        let tree = [("/properties/a/$ref", "/$defs/n"), ("/$defs/n/properties/next/$ref", "/$defs/n")];
        assert_eq!(found(&tree).as_deref(), Some("/properties/a/$ref"));
        assert_eq!(found(&[("/properties/a/items/$ref", "")]).as_deref(), Some("/properties/a/items/$ref"));
        let round =
            [("/$defs/a/$ref", "/$defs/b"), ("/$defs/b/$ref", "/$defs/c"), ("/$defs/c/$ref", "/$defs/a")];
        assert!(found(&round).is_some());
    }
}
