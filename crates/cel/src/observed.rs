//! Observed values: the parts of variables that an expression names, such as `args.env`, and what they are.

use crate::cost::Budget;
use crate::error::EvalError;
use crate::evaluate::Evaluation;
use crate::tree::{Expr, Node};
use crate::value::Value;
use crate::variable::Variable;

/// The units for reading one part.
const COST: u64 = 1000;

/// A part of a variable and its value.
#[derive(Debug)]
pub struct Observed<'a> {
    pub path: String,
    pub value: Result<Value<'a>, EvalError>,
}

pub(crate) fn of<'a>(tree: &'a Expr, declared: &[Variable], variables: &[Value<'a>]) -> Vec<Observed<'a>> {
    let mut found: Vec<Observed<'a>> = Vec::new();
    collect(tree, declared, &mut |path, expr| {
        if found.iter().all(|known| known.path != path) {
            let value = Evaluation::new(variables, &mut Budget::new(COST)).value(expr);
            found.push(Observed { path, value });
        }
    });
    found
}

/// Passes on the longest paths: `args.env` and not `args`.
fn collect<'a>(expr: &'a Expr, declared: &[Variable], found: &mut dyn FnMut(String, &'a Expr)) {
    if let Some(path) = path(expr, declared) {
        return found(path, expr);
    }
    expr.for_each_child(&mut |child| collect(child, declared, found));
}

fn path(expr: &Expr, declared: &[Variable]) -> Option<String> {
    match &expr.node {
        Node::Variable(number) => declared.get(*number).map(|variable| variable.name.to_owned()),
        Node::Select(of, field) => Some(format!("{}.{field}", path(of, declared)?)),
        Node::Has(of, field) => Some(format!("has({}.{field})", path(of, declared)?)),
        Node::Index(both) => match &both[1].node {
            Node::String(key) => Some(format!("{}[{key:?}]", path(&both[0], declared)?)),
            Node::Int(index) => Some(format!("{}[{index}]", path(&both[0], declared)?)),
            _ => None,
        },
        _ => None,
    }
}
