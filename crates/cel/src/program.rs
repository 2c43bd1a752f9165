//! Programs: compiled expressions.

use crate::cost::Budget;
use crate::error::{CompileError, EvalError, Failure, Mistake, Position};
use crate::evaluate::Evaluation;
use crate::observed::{self, Observed};
use crate::parser::Parser;
use crate::tree::{Expr, Node};
use crate::value::Value;
use crate::variable::Variable;

/// An expression that can be evaluated many times.
#[derive(Debug)]
pub struct Program {
    tree: Expr,
    source: Box<str>,
}

impl Program {
    /// The longest expression, in characters.
    pub const LONGEST: usize = 2000;

    pub fn compile(source: &str, variables: &[Variable]) -> Result<Self, CompileError> {
        let length = source.chars().count();
        if length > Self::LONGEST {
            let mistake = Mistake::TooLong { length, most: Self::LONGEST };
            return Err(CompileError { at: Position { line: 1, column: 1 }, mistake });
        }
        Ok(Self { tree: Parser::new(source, variables)?.whole()?, source: source.into() })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The value of the expression. The variables are in the order in which they were declared.
    pub fn evaluate<'a>(
        &'a self,
        variables: &[Value<'a>],
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvalError> {
        Evaluation::new(variables, budget).value(&self.tree)
    }

    /// Whether the condition holds.
    pub fn holds<'a>(&'a self, variables: &[Value<'a>], budget: &mut Budget) -> Result<bool, EvalError> {
        match self.evaluate(variables, budget)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(EvalError { at: self.tree.at, failure: Failure::NotBool(other.type_of()) }),
        }
    }

    /// Whether it names a variable, by its number.
    pub fn names(&self, variable: usize) -> bool {
        let mut names = false;
        self.tree
            .visit(&mut |expr| names |= matches!(expr.node, Node::Variable(number) if number == variable));
        names
    }

    /// The parts of variables that the expression looks at, with their values, for a person who asks why.
    pub fn observed<'a>(&'a self, declared: &[Variable], variables: &[Value<'a>]) -> Vec<Observed<'a>> {
        observed::of(&self.tree, declared, variables)
    }
}
