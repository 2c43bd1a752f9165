//! Template parts.

use crate::operator::Operator;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Literal text, as it is in a URI.
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
    /// At most this many characters of the value.
    Prefix(usize),
    /// Each member of the value separately.
    Explode,
}
