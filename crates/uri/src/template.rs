//! URI template: text with placeholders for values.

use crate::matching;
use crate::parse::{self, TemplateError};
use crate::part::Part;
use crate::program::Program;
use crate::value::Values;
use std::fmt;

#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
    program: Program,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let parts = parse::parts(text)?;
        let program = Program::of(&parts).ok_or(TemplateError::TooIntricate)?;
        Ok(Self { text: text.to_owned(), parts, program })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, each once, in the order in which they first occur.
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.parts {
            let Part::Expression { variables, .. } = part else { continue };
            for variable in variables {
                if !names.contains(&variable.name.as_str()) {
                    names.push(variable.name.as_str());
                }
            }
        }
        names
    }

    /// The values with which it could have made this URI.
    pub fn matches(&self, uri: &str) -> Option<Values> {
        matching::matches(&self.program, uri)
    }

    #[cfg(test)]
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
