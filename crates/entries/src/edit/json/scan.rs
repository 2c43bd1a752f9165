//! JSON scanner with positions: each member of each object, with the comma after it.
//!
//! Comments and trailing commas are understood if the dialect has them. The scanner holds no text and changes nothing.

use crate::client::Dialect;
use serde_json::Value;
use std::ops::Range;

/// A value and the bytes it takes.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) value: Node,
    /// The position of the comma after it.
    pub(super) comma: Option<usize>,
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) problem: &'static str,
}

/// No file of a client is deeper, and each level costs stack.
const DEEPEST: usize = 100;

impl Node {
    /// The value as other parsers read it: of two members with one name the last counts.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            NodeKind::Object(members) => Value::Object(
                members.iter().map(|member| (member.key.clone(), member.value.value())).collect(),
            ),
        }
    }
}

/// Scans a text; `None` if it holds only white space and comments.
pub(super) fn scan(text: &str, dialect: Dialect) -> Result<Option<Node>, Fault> {
    let mut scanner = Scanner { text, at: 0, dialect };
    scanner.skip_space()?;
    if scanner.next().is_none() {
        return Ok(None);
    }
    let root = scanner.value(0)?;
    scanner.skip_space()?;
    match scanner.next() {
        None => Ok(Some(root)),
        Some(_) => Err(scanner.fault("something follows the end of the document")),
    }
}

/// The end of the comment that begins at `at`, if one does.
pub(super) fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        return Some(rest.find('\n').map_or(text.len(), |end| {
            let end = at + end;
            if text[..end].ends_with('\r') { end - 1 } else { end }
        }));
    }
    let inside = rest.strip_prefix("/*")?;
    inside.find("*/").map(|end| at + 2 + end + 2)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
}

impl Scanner<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, problem: &'static str) -> Fault {
        Fault { at: self.at, problem }
    }

    fn skip_space(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.next() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' if !self.dialect.comments => return Err(self.fault("comments are not allowed here")),
                b'/' => {
                    let end = comment_end(self.text, self.at);
                    self.at = end.ok_or_else(|| self.fault("a comment does not end"))?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > DEEPEST {
            return Err(self.fault("it is nested too deeply"));
        }
        match self.next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => {
                let start = self.at;
                let text = self.string()?;
                Ok(Node { span: start..self.at, kind: NodeKind::Scalar(text.into()) })
            }
            Some(_) => self.word(),
            None => Err(self.fault("it ends too early")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip_space()?;
            match self.next() {
                Some(b'}') if self.may_close(members.last().is_some_and(|last| last.comma.is_some())) => {
                    self.at += 1;
                    return Ok(Node { span: start..self.at, kind: NodeKind::Object(members) });
                }
                Some(b'}') => return Err(self.fault("there is a comma before the closing brace")),
                Some(b'"') if members.last().is_some_and(|last| last.comma.is_none()) => {
                    return Err(self.fault("a comma is missing"));
                }
                Some(b'"') => {}
                None => return Err(self.fault("it ends too early")),
                Some(_) => return Err(self.fault("a name in quotes or a closing brace is expected")),
            }
            let key_start = self.at;
            let key = self.string()?;
            self.skip_space()?;
            if self.next() != Some(b':') {
                return Err(self.fault("a colon is missing"));
            }
            self.at += 1;
            self.skip_space()?;
            let value = self.value(depth + 1)?;
            self.skip_space()?;
            let comma = self.comma();
            members.push(Member { key, key_start, value, comma });
        }
    }

    fn array(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        self.at += 1;
        let (mut items, mut ends_with_comma) = (Vec::new(), false);
        loop {
            self.skip_space()?;
            match self.next() {
                Some(b']') if self.may_close(ends_with_comma) => {
                    self.at += 1;
                    return Ok(Node { span: start..self.at, kind: NodeKind::Array(items) });
                }
                Some(b']') => return Err(self.fault("there is a comma before the closing bracket")),
                Some(_) if !items.is_empty() && !ends_with_comma => {
                    return Err(self.fault("a comma is missing"));
                }
                _ => {}
            }
            items.push(self.value(depth + 1)?);
            self.skip_space()?;
            ends_with_comma = self.comma().is_some();
        }
    }

    fn may_close(&self, after_comma: bool) -> bool {
        !after_comma || self.dialect.trailing_commas
    }

    fn comma(&mut self) -> Option<usize> {
        (self.next() == Some(b',')).then(|| {
            self.at += 1;
            self.at - 1
        })
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.next() {
            match byte {
                b'"' => {
                    self.at += 1;
                    let read = serde_json::from_str(&self.text[start..self.at]);
                    return read
                        .map_err(|_| Fault { at: start, problem: "a text is not written as JSON wants it" });
                }
                b'\\' => self.at += 2,
                b'\n' => break,
                _ => self.at += 1,
            }
        }
        Err(Fault { at: start, problem: "a text does not end" })
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        while self.next().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.at += 1;
        }
        let read = serde_json::from_str(&self.text[start..self.at]);
        let value = read.map_err(|_| Fault { at: start, problem: "a value is expected" })?;
        Ok(Node { span: start..self.at, kind: NodeKind::Scalar(value) })
    }
}
