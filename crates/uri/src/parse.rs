//! Template parser: turns the text of a template into its parts.

use crate::operator::Operator;
use crate::part::{Modifier, Part, Variable};
use crate::percent::{self, Keep};

/// Longer templates are refused: they are written by people.
pub const MAX_TEMPLATE_BYTES: usize = 4096;

/// A prefix has at most four digits (RFC 6570, section 2.4.1).
const MAX_PREFIX: usize = 9999;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the template is longer than {MAX_TEMPLATE_BYTES} bytes")]
    TooLong,
    #[error(
        "the template has too many variables, or prefixes that are too long, to find it in a URI; write fewer or shorter ones"
    )]
    TooIntricate,
    #[error(
        "the `{{` at byte {at} is never closed; write `}}` after the variable, or `%7B` for the character itself"
    )]
    Unclosed { at: usize },
    #[error("the `}}` at byte {at} closes nothing; write `%7D` for the character itself")]
    Unopened { at: usize },
    #[error("the character {character:?} at byte {at} cannot stand in a template; write it percent-encoded")]
    BadLiteral { character: char, at: usize },
    #[error("the expression `{{}}` at byte {at} names no variable")]
    Empty { at: usize },
    #[error(
        "the operator `{sign}` of `{{{expression}}}` is reserved for what may come; known are + # . / ; ? &"
    )]
    UnknownOperator { sign: char, expression: String },
    #[error(
        "`{name}` in `{{{expression}}}` is not the name of a variable: letters, digits, `_` and single dots are"
    )]
    BadName { name: String, expression: String },
    #[error("the prefix of `{name}` in `{{{expression}}}` must be a number from 1 to {MAX_PREFIX}")]
    BadPrefix { name: String, expression: String },
}

pub(crate) fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    if text.len() > MAX_TEMPLATE_BYTES {
        return Err(TemplateError::TooLong);
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(inside) = rest.strip_prefix('{') {
            let length = inside.find(['{', '}']).filter(|&end| inside.as_bytes()[end] == b'}');
            let length = length.ok_or(TemplateError::Unclosed { at })?;
            parts.push(expression(&inside[..length], at)?);
            at += length + 2;
        } else {
            let length = rest.find('{').unwrap_or(rest.len());
            parts.push(Part::Literal(literal(&rest[..length], at)?));
            at += length;
        }
    }
    Ok(parts)
}

fn literal(text: &str, start: usize) -> Result<String, TemplateError> {
    for (offset, character) in text.char_indices() {
        let at = start + offset;
        match character {
            '}' => return Err(TemplateError::Unopened { at }),
            '%' if percent::escape_at(text.as_bytes(), offset).is_some() => {}
            '\0'..=' ' | '"' | '%' | '<' | '>' | '\\' | '^' | '`' | '|' | '\x7f' => {
                return Err(TemplateError::BadLiteral { character, at });
            }
            _ => {}
        }
    }
    let mut encoded = String::with_capacity(text.len());
    percent::encode_into(&mut encoded, text, Keep::Reserved);
    Ok(encoded)
}

fn expression(text: &str, at: usize) -> Result<Part, TemplateError> {
    let Some(first) = text.chars().next() else { return Err(TemplateError::Empty { at }) };
    if matches!(first, '=' | ',' | '!' | '@' | '|') {
        return Err(TemplateError::UnknownOperator { sign: first, expression: text.to_owned() });
    }
    let (operator, list) = match Operator::of(text.as_bytes()[0]) {
        Some(operator) => (operator, &text[1..]),
        None => (Operator::Simple, text),
    };
    let variables = list.split(',').map(|spec| variable(spec, text)).collect::<Result<_, _>>()?;
    Ok(Part::Expression { operator, variables })
}

fn variable(spec: &str, expression: &str) -> Result<Variable, TemplateError> {
    let (name, modifier) = if let Some(name) = spec.strip_suffix('*') {
        (name, Modifier::Explode)
    } else if let Some((name, digits)) = spec.split_once(':') {
        let bad = || TemplateError::BadPrefix { name: name.to_owned(), expression: expression.to_owned() };
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
        let length = digits.parse().ok().filter(|&length| is_number && length <= MAX_PREFIX);
        (name, Modifier::Prefix(length.ok_or_else(bad)?))
    } else {
        (spec, Modifier::None)
    };
    if !is_name(name) {
        return Err(TemplateError::BadName { name: name.to_owned(), expression: expression.to_owned() });
    }
    Ok(Variable { name: name.to_owned(), modifier })
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    let mut after_dot = true;
    while at < bytes.len() {
        match bytes[at] {
            b'.' if after_dot => return false,
            b'%' if percent::escape_at(bytes, at).is_some() => at += 2,
            b'.' | b'_' => {}
            byte if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        after_dot = bytes[at] == b'.';
        at += 1;
    }
    !after_dot
}
