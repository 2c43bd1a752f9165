//! What a template is made of.

use crate::operator::Operator;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that stands for itself, as it stands in a URI.
    Literal(String),
    Expression {
        operator: Operator,
        variables: Vec<Variable>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) modifier: Modifier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modifier {
    None,
    /// At most so many characters of the value.
    Prefix(usize),
    /// Each member of the value by itself.
    Explode,
}
