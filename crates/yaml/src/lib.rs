//! YAML tree in which every value knows its line and column, so that errors can name them.

mod fields;

pub use fields::{Fields, items, kind, members, number, text, texts, truth, whole_number};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;
use std::fmt;

/// How deeply lists and maps may be nested.
const DEEPEST: usize = 64;

/// A value and where it begins: line and column, counted from 1.
#[derive(Debug, Clone)]
pub struct Node {
    pub line: usize,
    pub column: usize,
    pub value: Tree,
}

#[derive(Debug, Clone)]
pub enum Tree {
    Plain(Value),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone)]
pub struct Key {
    pub line: usize,
    pub column: usize,
    pub name: String,
}

/// What is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub problem: String,
}

impl Node {
    /// Parses a text that holds one document. An empty one is null.
    pub fn read(text: &str) -> Result<Self, Wrong> {
        // `no` and `y` are texts: only `true` and `false` are booleans.
        let options = serde_saphyr::options! {
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_depth: DEEPEST },
        };
        let read: Result<Spanned<Tree>, _> = serde_saphyr::from_str_with_options(text, options);
        read.map(Self::from).map_err(|error| {
            let words = error.without_snippet().to_string();
            wrong_yaml(words.lines().next().unwrap_or_default())
        })
    }

    pub fn wrong(&self, problem: impl Into<String>) -> Wrong {
        Wrong { line: Some(self.line), column: Some(self.column), problem: problem.into() }
    }

    /// The same as a value, without its lines.
    pub fn to_value(&self) -> Value {
        match &self.value {
            Tree::Plain(value) => value.clone(),
            Tree::List(items) => items.iter().map(Self::to_value).collect(),
            Tree::Map(members) => {
                let members = members.iter().map(|(key, value)| (key.name.clone(), value.to_value()));
                Value::Object(members.collect::<Map<String, Value>>())
            }
        }
    }
}

impl Key {
    pub fn wrong(&self, problem: impl Into<String>) -> Wrong {
        Wrong { line: Some(self.line), column: Some(self.column), problem: problem.into() }
    }
}

/// The message of the parser, which ends with the position.
fn wrong_yaml(words: &str) -> Wrong {
    let (mut line, mut column) = (None, None);
    let mut problem = words.to_owned();
    if let Some((before, after)) = words.rsplit_once("line ") {
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        line = digits.parse().ok();
        let rest = after[digits.len()..].trim_start_matches([',', ' ']);
        let rest = rest.strip_prefix("column ").unwrap_or(rest);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        column = digits.parse().ok();
        let rest = &rest[digits.len()..];
        let before = before.trim_end().trim_end_matches(" at").trim_end_matches("error:").trim_end();
        let rest = rest.trim_start_matches([':', ' ']);
        problem = match (before.is_empty(), rest.is_empty()) {
            (false, true) => before.to_owned(),
            (true, _) => rest.to_owned(),
            (false, false) => format!("{before} {rest}"),
        };
    }
    Wrong { line, column, problem: format!("this is no YAML that can be read: {problem}") }
}

/// A line or a column, counted from 1.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(1).max(1)
}

impl From<Spanned<Tree>> for Node {
    fn from(spanned: Spanned<Tree>) -> Self {
        let (line, column) = (place(spanned.referenced.line()), place(spanned.referenced.column()));
        Self { line, column, value: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, a list or a map")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Plain(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Tree, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("this number is not finite"))?;
        Ok(Tree::Plain(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Plain(value.into()))
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Plain(Value::Null))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Tree>>()? {
            items.push(item.into());
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<Tree>>()? {
            let (line, column) = (place(key.referenced.line()), place(key.referenced.column()));
            members.push((Key { line, column, name: key.value }, value.into()));
        }
        Ok(Tree::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_know_their_lines() {
        let node = Node::read("- name: x\n  expect:\n    text: y\n- 1\n").unwrap();
        assert_eq!(node.to_value(), json!([{ "name": "x", "expect": { "text": "y" } }, 1]));
        let Tree::List(items) = node.value else { panic!("a list") };
        assert_eq!(items.iter().map(|item| item.line).collect::<Vec<_>>(), [1, 4]);
        let Tree::Map(members) = &items[0].value else { panic!("a map") };
        assert_eq!((members[1].0.line, members[1].1.line), (2, 3));
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        for (text, line) in [("a: [1\n", 1), ("a: 1\na: 2\n", 2), ("a:\n\t- x\n", 2)] {
            let wrong = Node::read(text).unwrap_err();
            assert_eq!(wrong.line, Some(line), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn deep_and_multiplying_texts_are_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
        }
        for text in [deep, bomb] {
            let wrong = Node::read(&text).unwrap_err();
            assert!(wrong.problem.len() < 300, "{wrong:?}");
        }
    }
}
