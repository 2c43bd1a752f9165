//! Evaluation of a tree. Every step costs a unit of the budget.

use crate::arithmetic::{compute, negate, no_overload};
use crate::cost::Budget;
use crate::error::{EvalError, Failure, Position, short};
use crate::held::Held;
use crate::order::{Order, compare, equal, lookup};
use crate::tree::{Expr, Node, Operator};
use crate::value::{List, Map, Type, Value};
use crate::{functions, macros};
use std::cmp::Ordering;

pub(crate) type Evaluated<'a> = Result<Value<'a>, EvalError>;

pub(crate) struct Evaluation<'e, 'a> {
    variables: &'e [Value<'a>],
    /// The variables of the macros around.
    pub(crate) locals: Vec<Value<'a>>,
    pub(crate) budget: &'e mut Budget,
}

/// Says where a failure happened.
pub(crate) trait Located<T> {
    fn at(self, at: Position) -> Result<T, EvalError>;
}

impl<T> Located<T> for Result<T, Failure> {
    fn at(self, at: Position) -> Result<T, EvalError> {
        self.map_err(|failure| EvalError { at, failure })
    }
}

impl<'e, 'a> Evaluation<'e, 'a> {
    pub(crate) fn new(variables: &'e [Value<'a>], budget: &'e mut Budget) -> Self {
        Self { variables, locals: Vec::new(), budget }
    }

    pub(crate) fn value(&mut self, expr: &'a Expr) -> Evaluated<'a> {
        self.budget.spend(1).at(expr.at)?;
        Ok(match &expr.node {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Int(value) => Value::Int(*value),
            Node::Uint(value) => Value::Uint(*value),
            Node::Double(value) => Value::Double(*value),
            Node::String(text) => Value::from(&**text),
            Node::Bytes(bytes) => Value::Bytes(Held::Borrowed(bytes)),
            Node::Type(kind) => Value::Type(*kind),
            Node::Variable(number) => self.variables.get(*number).cloned().unwrap_or(Value::Null),
            Node::Local(number) => self.locals.get(*number).cloned().unwrap_or(Value::Null),
            Node::Select(of, field) => {
                let map = self.value(of)?;
                let found = self.field(&map, field).at(expr.at)?;
                return found.ok_or_else(|| Failure::NoSuchKey(short(field))).at(expr.at);
            }
            Node::Has(of, field) => {
                let map = self.value(of)?;
                Value::Bool(self.field(&map, field).at(expr.at)?.is_some())
            }
            Node::Not(of) => Value::Bool(!self.bool(of)?),
            Node::And(all) => return self.logical(all, false),
            Node::Or(all) => return self.logical(all, true),
            Node::Choice(three) => {
                let [condition, yes, no] = &**three;
                return if self.bool(condition)? { self.value(yes) } else { self.value(no) };
            }
            // Apart, so that the frame of this function stays small.
            _ => return self.composed(expr),
        })
    }

    #[inline(never)]
    fn composed(&mut self, expr: &'a Expr) -> Evaluated<'a> {
        match &expr.node {
            Node::Index(both) => {
                let (of, index) = (self.value(&both[0])?, self.value(&both[1])?);
                self.element(&of, &index).at(expr.at)
            }
            Node::List(items) => {
                self.budget.spend_elements(items.len()).at(expr.at)?;
                Ok(Value::list(self.values(items)?))
            }
            Node::Map(entries) => self.map(expr, entries),
            Node::Negate(of) => negate(&self.value(of)?).at(expr.at),
            Node::Binary(operator, both) => {
                let (a, b) = (self.value(&both[0])?, self.value(&both[1])?);
                self.binary(*operator, &a, &b).at(expr.at)
            }
            Node::Call(function, arguments) => {
                let arguments = self.values(arguments)?;
                functions::call(*function, &arguments, self.budget).at(expr.at)
            }
            Node::Matches(text, pattern) => match self.value(text)? {
                Value::String(text) => {
                    self.budget.spend(pattern.cost(&text)).at(expr.at)?;
                    Ok(Value::Bool(pattern.is_match(&text)))
                }
                other => Err(no_overload("matches", &[other])).at(expr.at),
            },
            Node::Zoned(part, of, zone) => {
                let of = self.value(of)?;
                functions::time_part(*part, &of, Some(zone)).at(expr.at)
            }
            Node::Macro(kind, range) => macros::run(self, *kind, range, expr.at),
            _ => Ok(Value::Null),
        }
    }

    fn values(&mut self, all: &'a [Expr]) -> Result<Vec<Value<'a>>, EvalError> {
        all.iter().map(|expr| self.value(expr)).collect()
    }

    pub(crate) fn bool(&mut self, expr: &'a Expr) -> Result<bool, EvalError> {
        match self.value(expr)? {
            Value::Bool(value) => Ok(value),
            other => Err(Failure::NotBool(other.type_of())).at(expr.at),
        }
    }

    /// `&&` and `||`: a value that decides wins over errors on either side.
    fn logical(&mut self, all: &'a [Expr], decides: bool) -> Evaluated<'a> {
        let mut error = None;
        for expr in all {
            match self.bool(expr) {
                Ok(value) if value == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
                Err(failed) => keep(&mut error, failed)?,
            }
        }
        error.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn field(&mut self, of: &Value<'a>, field: &str) -> Result<Option<Value<'a>>, Failure> {
        match of {
            Value::Map(map) => lookup(map, &Value::from(field), self.budget),
            other => Err(Failure::NoFields(other.type_of(), short(field))),
        }
    }

    fn element(&mut self, of: &Value<'a>, index: &Value<'a>) -> Result<Value<'a>, Failure> {
        match of {
            Value::Map(map) => {
                if !may_be_key(index) && !matches!(index, Value::Double(_)) {
                    return Err(Failure::BadKey(index.type_of()));
                }
                let found = lookup(map, index, self.budget)?;
                found.ok_or_else(|| Failure::NoSuchKey(index.to_string()))
            }
            Value::List(list) => {
                let position =
                    position(index).ok_or_else(|| no_overload("[]", &[of.clone(), index.clone()]))?;
                let found = list.get(position);
                found.ok_or_else(|| Failure::Index { index: index.to_string(), length: list.len() })
            }
            _ => Err(no_overload("[]", &[of.clone(), index.clone()])),
        }
    }

    fn map(&mut self, expr: &'a Expr, entries: &'a [(Expr, Expr)]) -> Evaluated<'a> {
        let mut made: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        self.budget.spend_elements(2 * entries.len()).at(expr.at)?;
        for (key_expr, value) in entries {
            let key = self.value(key_expr)?;
            if !may_be_key(&key) {
                return Err(Failure::BadKey(key.type_of())).at(key_expr.at);
            }
            for (known, _) in &made {
                if equal(known, &key, self.budget).at(key_expr.at)? {
                    return Err(Failure::DuplicateKey(key.to_string())).at(key_expr.at);
                }
            }
            made.push((key, self.value(value)?));
        }
        Ok(Value::Map(Map::Made(made.into())))
    }

    fn binary(&mut self, operator: Operator, a: &Value<'a>, b: &Value<'a>) -> Result<Value<'a>, Failure> {
        let is: fn(Ordering) -> bool = match operator {
            Operator::Equal => return equal(a, b, self.budget).map(Value::Bool),
            Operator::NotEqual => return equal(a, b, self.budget).map(|equal| Value::Bool(!equal)),
            Operator::In => return self.is_in(a, b).map(Value::Bool),
            Operator::Less => Ordering::is_lt,
            Operator::LessOrEqual => Ordering::is_le,
            Operator::Greater => Ordering::is_gt,
            Operator::GreaterOrEqual => Ordering::is_ge,
            _ => return compute(operator, a, b, self.budget),
        };
        let order = compare(a, b, self.budget)?;
        match order {
            Order::Known(order) => Ok(Value::Bool(is(order))),
            Order::NotANumber => Ok(Value::Bool(false)),
            Order::None => Err(no_overload(operator.sign(), &[a.clone(), b.clone()])),
        }
    }

    fn is_in(&mut self, value: &Value<'a>, all: &Value<'a>) -> Result<bool, Failure> {
        match all {
            Value::Map(map) => Ok(lookup(map, value, self.budget)?.is_some()),
            Value::List(List::Made(items)) => self.is_among(value, items.iter().cloned()),
            Value::List(list) => self.is_among(value, list.iter()),
            _ => Err(no_overload("in", &[value.clone(), all.clone()])),
        }
    }

    fn is_among(&mut self, value: &Value<'a>, all: impl Iterator<Item = Value<'a>>) -> Result<bool, Failure> {
        for item in all {
            if equal(value, &item, self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Keeps the first error while a later value may still decide. An exhausted budget decides at once.
pub(crate) fn keep(first: &mut Option<EvalError>, error: EvalError) -> Result<(), EvalError> {
    if error.failure == Failure::CostExceeded {
        return Err(error);
    }
    first.get_or_insert(error);
    Ok(())
}

fn may_be_key(value: &Value<'_>) -> bool {
    matches!(value.type_of(), Type::Bool | Type::Int | Type::Uint | Type::String)
}

/// The position that a number names; one beyond every list for a number that is none. `None` if it is no number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only whole numbers in range are converted"
)]
fn position(index: &Value<'_>) -> Option<usize> {
    let position = match index {
        Value::Int(index) => usize::try_from(*index).ok(),
        Value::Uint(index) => usize::try_from(*index).ok(),
        Value::Double(index) => {
            (index.fract() == 0.0 && (0.0..1e15).contains(index)).then_some(*index as usize)
        }
        _ => return None,
    };
    Some(position.unwrap_or(usize::MAX))
}
