//! Macros: `all`, `exists`, `exists_one`, `map` and `filter` over the elements of a list or the keys of a map.

use crate::arithmetic::no_overload;
use crate::error::{EvalError, Position};
use crate::evaluate::{Evaluated, Evaluation, Located, keep};
use crate::tree::{Expr, Macro, Range};
use crate::value::{List, Map, Value};

pub(crate) fn run<'a>(
    evaluation: &mut Evaluation<'_, 'a>,
    kind: Macro,
    range: &'a Range,
    at: Position,
) -> Evaluated<'a> {
    let over = evaluation.value(&range.over)?;
    let elements: Box<dyn Iterator<Item = Value<'a>>> = match &over {
        Value::List(list) => Box::new(elements(list)),
        Value::Map(Map::Json(members)) => Box::new(members.keys().map(|key| Value::from(&**key))),
        Value::Map(map) => Box::new(map.entries().map(|(key, _)| key)),
        other => return Err(no_overload(name(kind), std::slice::from_ref(other))).at(at),
    };
    match (kind, &range.condition, &range.result) {
        (Macro::All, Some(condition), _) => decided(evaluation, elements, condition, false, at),
        (Macro::Exists, Some(condition), _) => decided(evaluation, elements, condition, true, at),
        (Macro::ExistsOne, Some(condition), _) => {
            let mut count = 0_usize;
            for element in elements {
                count += usize::from(holds(evaluation, element, condition, at)?);
            }
            Ok(Value::Bool(count == 1))
        }
        (_, condition, result) => {
            let mut made = Vec::new();
            for element in elements {
                if let Some(condition) = condition
                    && !holds(evaluation, element.clone(), condition, at)?
                {
                    continue;
                }
                evaluation.budget.spend_elements(1).at(at)?;
                made.push(match result {
                    Some(result) => with(evaluation, element, |evaluation| evaluation.value(result))?,
                    None => element,
                });
            }
            Ok(Value::list(made))
        }
    }
}

/// The elements of a list, which need not outlive it.
fn elements<'a>(list: &List<'a>) -> impl Iterator<Item = Value<'a>> + use<'a> {
    let list = list.clone();
    (0..list.len()).filter_map(move |index| list.get(index))
}

/// Whether one element decides. Errors count only if none does.
fn decided<'a>(
    evaluation: &mut Evaluation<'_, 'a>,
    elements: impl Iterator<Item = Value<'a>>,
    condition: &'a Expr,
    decides: bool,
    at: Position,
) -> Evaluated<'a> {
    let mut error = None;
    for element in elements {
        match holds(evaluation, element, condition, at) {
            Ok(value) if value == decides => return Ok(Value::Bool(decides)),
            Ok(_) => {}
            Err(failed) => keep(&mut error, failed)?,
        }
    }
    error.map_or(Ok(Value::Bool(!decides)), Err)
}

fn holds<'a>(
    evaluation: &mut Evaluation<'_, 'a>,
    element: Value<'a>,
    condition: &'a Expr,
    at: Position,
) -> Result<bool, EvalError> {
    evaluation.budget.spend(1).at(at)?;
    with(evaluation, element, |evaluation| evaluation.bool(condition))
}

/// Evaluates with one more variable.
fn with<'e, 'a, T>(
    evaluation: &mut Evaluation<'e, 'a>,
    element: Value<'a>,
    then: impl FnOnce(&mut Evaluation<'e, 'a>) -> T,
) -> T {
    evaluation.locals.push(element);
    let result = then(evaluation);
    evaluation.locals.pop();
    result
}

fn name(kind: Macro) -> &'static str {
    match kind {
        Macro::All => "all",
        Macro::Exists => "exists",
        Macro::ExistsOne => "exists_one",
        Macro::Map => "map",
        Macro::Filter => "filter",
    }
}
