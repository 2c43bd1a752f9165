//! JSON positions: the line and the column of a value in a text, both counted from 1.

use mcp_bash_wire::{Limits, Raw, Scanner};
use std::fmt;

/// The line and the column of a problem, if they are known. Displayed as parsers write them after the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position(pub(crate) Option<(u64, u64)>);

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |(line, column)| write!(formatter, " at line {line} column {column}"))
    }
}

/// The line and the column of `part`, which must be a slice of `whole`.
pub(crate) fn place_of(part: &str, whole: &str) -> Option<(u64, u64)> {
    let offset = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let before = whole.get(..offset)?;
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
    Some((line, column))
}

/// The value that the names lead to from the root of a JSON text. If the path breaks off, the last value that was found.
pub(crate) fn follow<'t, 'n>(text: &'t str, names: impl IntoIterator<Item = &'n str>) -> Option<Raw<'t>> {
    let mut here = Scanner::new(text, Limits::NONE).whole_value().ok()?;
    for name in names {
        let Some(next) = step(here, name) else { break };
        here = next;
    }
    Some(here)
}

fn step<'t>(value: Raw<'t>, name: &str) -> Option<Raw<'t>> {
    let mut found = None;
    if value.is_object() {
        members(value, |key, value| {
            if key.string().is_some_and(|key| key == name) {
                found = Some(value);
            }
        });
    } else if value.is_array() {
        let (mut index, wanted) = (0, name.parse::<usize>().ok()?);
        let listed = Scanner::again(value).elements(|element| {
            if index == wanted {
                found = Some(element);
            }
            index += 1;
        });
        listed.ok()?;
    }
    found
}

/// Visits the members of an object.
pub(crate) fn members<'t>(object: Raw<'t>, visit: impl FnMut(Raw<'t>, Raw<'t>)) {
    // It was scanned as part of the whole, so it is valid.
    let _ = Scanner::again(object).members(visit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_names_and_knows_its_place() {
        let text = "{\n  \"é\": [1,\n   {\"b\": 7}]\n}";
        let seven = follow(text, ["é", "1", "b"]).unwrap();
        assert_eq!((seven.text(), place_of(seven.text(), text)), ("7", Some((3, 10))));
        let nearest = follow(text, ["é", "1", "gone", "b"]).unwrap();
        assert_eq!(nearest.text(), "{\"b\": 7}");
    }
}
