//! Positioned JSON tree: every value knows its position in the text.
//!
//! Numbers stay as they were written, so that large integers are compared exactly and `1.10` survives; and a value can
//! be replaced in the text without touching its neighbours.

use crate::types::JsonType;
use mcp_bash_wire::{Limits, Raw, ScanError, Scanner};
use std::borrow::Cow;
use std::ops::Range;

/// The most values that are read. It limits the memory of a tree, which is many times that of its text.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// One value of the text.
pub(crate) struct Tree<'t> {
    /// The value as it was written, without surrounding white space.
    pub(crate) text: &'t str,
    pub(crate) body: Body<'t>,
}

pub(crate) enum Body<'t> {
    Null,
    Boolean(bool),
    /// A number is its text.
    Number,
    String(Cow<'t, str>),
    Array(Vec<Tree<'t>>),
    Object(Box<Members<'t>>),
}

/// The members of an object in the order of the text, and an index of their names.
pub(crate) struct Members<'t> {
    pub(crate) list: Vec<Member<'t>>,
    by_name: Vec<u32>,
}

pub(crate) struct Member<'t> {
    /// The name as it was written, quotes included.
    pub(crate) key: &'t str,
    pub(crate) name: Cow<'t, str>,
    pub(crate) value: Tree<'t>,
}

/// Why a text was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Scan(ScanError),
    /// A name occurs twice in one object. Parsers disagree on which of the two counts, so neither is trusted.
    Duplicate(String),
    /// A string holds a lone surrogate, which no text can contain.
    Surrogate,
    TooMany,
}

impl<'t> Tree<'t> {
    pub(crate) fn read(text: &'t str) -> Result<Self, Unreadable> {
        let raw = Scanner::new(text, Limits::default()).whole_value().map_err(Unreadable::Scan)?;
        Reader { left: MAX_VALUES }.value(raw)
    }

    /// A single string without a text, such as the name of a member.
    pub(crate) fn of_name(name: &'t str) -> Self {
        Self { text: "", body: Body::String(Cow::Borrowed(name)) }
    }

    /// What the JSON Pointer leads to.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Self> {
        let mut place = self;
        for segment in pointer.split('/').skip(1) {
            place = match &place.body {
                Body::Array(elements) => elements.get(segment.parse::<usize>().ok()?)?,
                Body::Object(members) => members.get(&unescape(segment))?,
                _ => return None,
            };
        }
        Some(place)
    }

    /// The position of this value in the text of `root`, which it must be a part of.
    pub(crate) fn place_in(&self, root: &Self) -> Range<usize> {
        place(self.text, root.text)
    }
}

impl Body<'_> {
    pub(crate) fn json_type(&self) -> JsonType {
        match self {
            Self::Null => JsonType::Null,
            Self::Boolean(_) => JsonType::Boolean,
            Self::Number => JsonType::Number,
            Self::String(_) => JsonType::String,
            Self::Array(_) => JsonType::Array,
            Self::Object(_) => JsonType::Object,
        }
    }
}

impl<'t> Members<'t> {
    /// The members with an index of their names.
    fn index(list: Vec<Member<'t>>) -> Result<Self, Unreadable> {
        let mut by_name: Vec<u32> = (0u32..).take(list.len()).collect();
        let name = |place: u32| list[place as usize].name.as_ref();
        by_name.sort_unstable_by(|one, other| name(*one).cmp(name(*other)));
        match by_name.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
            Some(pair) => Err(Unreadable::Duplicate(name(pair[0]).to_owned())),
            None => Ok(Self { list, by_name }),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tree<'t>> {
        let at = |place: &u32| &self.list[*place as usize];
        let found = self.by_name.binary_search_by(|place| at(place).name.as_ref().cmp(name)).ok()?;
        Some(&at(&self.by_name[found]).value)
    }

    /// The members in the order of their names.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = &Member<'t>> {
        self.by_name.iter().map(|place| &self.list[*place as usize])
    }
}

/// The position of `part` in `whole`, of which it is a slice.
pub(crate) fn place(part: &str, whole: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// Decodes a segment of a JSON Pointer to a name.
pub(crate) fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') { segment.replace("~1", "/").replace("~0", "~").into() } else { segment.into() }
}

/// Builds the tree of a text that is known to be JSON of bounded depth, which is why it may recurse.
struct Reader {
    left: usize,
}

impl Reader {
    fn value<'t>(&mut self, raw: Raw<'t>) -> Result<Tree<'t>, Unreadable> {
        self.left = self.left.checked_sub(1).ok_or(Unreadable::TooMany)?;
        let text = raw.text();
        let body = match text.as_bytes().first() {
            Some(b'{') => self.object(raw)?,
            Some(b'[') => self.array(raw)?,
            Some(b'"') => Body::String(raw.string().ok_or(Unreadable::Surrogate)?),
            Some(b't') => Body::Boolean(true),
            Some(b'f') => Body::Boolean(false),
            Some(b'n') => Body::Null,
            _ => Body::Number,
        };
        Ok(Tree { text, body })
    }

    fn array<'t>(&mut self, raw: Raw<'t>) -> Result<Body<'t>, Unreadable> {
        let mut found = Vec::new();
        Scanner::again(raw).elements(|element| found.push(element)).map_err(Unreadable::Scan)?;
        let elements: Result<_, _> = found.into_iter().map(|element| self.value(element)).collect();
        Ok(Body::Array(elements?))
    }

    fn object<'t>(&mut self, raw: Raw<'t>) -> Result<Body<'t>, Unreadable> {
        let mut found = Vec::new();
        Scanner::again(raw).members(|key, value| found.push((key, value))).map_err(Unreadable::Scan)?;
        let mut list = Vec::with_capacity(found.len());
        for (key, value) in found {
            let name = key.string().ok_or(Unreadable::Surrogate)?;
            list.push(Member { key: key.text(), name, value: self.value(value)? });
        }
        Ok(Body::Object(Box::new(Members::index(list)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_place() {
        let text = r#" {"a/b": [1, {"c~d": 1.10}], "é": "x\ty"} "#;
        let tree = Tree::read(text).unwrap_or_else(|error| panic!("{error:?}"));
        let deep = tree.at("/a~1b/1/c~0d").unwrap();
        assert_eq!(deep.text, "1.10");
        assert_eq!(&tree.text[deep.place_in(&tree)], "1.10");
        assert!(matches!(&tree.at("/é").unwrap().body, Body::String(string) if string == "x\ty"));
        assert!(tree.at("/a~1b/2").is_none());
        assert!(tree.at("/a~1b/1/c~0d/0").is_none());
    }

    #[test]
    fn refuses_what_readers_disagree_on() {
        let error = |text: &str| Tree::read(text).err().unwrap();
        assert_eq!(error(r#"{"a": 1, "\u0061": 2}"#), Unreadable::Duplicate("a".into()));
        assert_eq!(error(r#"["\ud800"]"#), Unreadable::Surrogate);
        assert_eq!(error(r#"{"\ud800": 1}"#), Unreadable::Surrogate);
        assert_eq!(error("[1"), Unreadable::Scan(ScanError::End));
        assert_eq!(error(&format!("[{}0]", "0,".repeat(MAX_VALUES))), Unreadable::TooMany);
        assert!(matches!(error(&"[".repeat(200)), Unreadable::Scan(ScanError::TooDeep(_))));
    }
}
