//! Messages with values of the request in braces, such as `Deploy {args.version}?`.

use crate::error::Problem;
use crate::limits::LONGEST_MESSAGE;
use crate::request::VARIABLES;
use mcp_bash_cel::{Budget, Program, Value};

/// The longest value in a message, in characters.
const LONGEST_VALUE: usize = 200;

/// The units for one value.
const COST: u64 = 10_000;

#[derive(Debug)]
pub(crate) struct Message(Vec<Part>);

#[derive(Debug)]
enum Part {
    Text(String),
    Value(Program),
}

impl Message {
    pub(crate) fn parse(rule: &str, text: &str) -> Result<Self, Problem> {
        let length = text.chars().count();
        if length > LONGEST_MESSAGE {
            return Err(Problem::LongMessage { rule: rule.to_owned(), length });
        }
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
            } else if brace == "}" {
                plain.push('}');
            } else {
                let end = rest.find('}').ok_or_else(|| Problem::OpenBrace { rule: rule.to_owned() })?;
                let program = Program::compile(&rest[..end], &VARIABLES)
                    .map_err(|error| Problem::Expression { rule: rule.to_owned(), error: error.into() })?;
                parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Value(program)]);
                rest = &rest[end + 1..];
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Ok(Self(parts))
    }

    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(program) => Some(program),
            Part::Text(_) => None,
        })
    }

    /// The message for a request. Values are on one line and short: they come from a client, and a person reads them.
    pub(crate) fn render<'a>(&'a self, values: &[Value<'a>]) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Value(program) => {
                    let value = match program.evaluate(values, &mut Budget::new(COST)) {
                        Ok(Value::String(value)) => value.chars().take(LONGEST_VALUE + 1).collect(),
                        Ok(value) => value.to_string(),
                        Err(_) => "(unknown)".to_owned(),
                    };
                    let shown: String = value.chars().take(LONGEST_VALUE).collect();
                    text.push_str(&mcp_bash_harmless::line(&shown));
                    if shown.len() < value.len() {
                        text.push('…');
                    }
                }
            }
        }
        text.trim().to_owned()
    }
}
