//! Values that a script evaluates become whole numbers. Those that cannot be are left out.

use super::evaluated::Evaluated;
use super::place::WORD_OF_LOOP;
use crate::argument::ArgumentKind;
use crate::scripts::reading::{Evaluation, ScriptReading};

const WHY: &str = "the script would evaluate its value, which can run a command: no caller may choose it";

pub(super) fn check(evaluated: &Evaluated<'_>, reading: &mut ScriptReading) {
    let mut numbers = Vec::new();
    let mut left_out = Vec::new();
    let mut has_parts = false;
    // Whether a value stays an argument.
    let mut is_kept = |name: &str, evaluation: Option<Evaluation>| {
        match evaluation {
            Some(Evaluation::Number) => numbers.push(name.to_owned()),
            Some(Evaluation::Part) => has_parts = true,
            Some(Evaluation::Text | Evaluation::Name) => left_out.push((name.to_owned(), WHY.to_owned())),
            None => {}
        }
        evaluation < Some(Evaluation::Text)
    };
    reading.options.retain_mut(|option| {
        // Several options may set one variable.
        let by_variable = option.variable.as_deref().and_then(|name| evaluated.use_of(name));
        let evaluation = option.evaluation.max(by_variable).filter(|_| option.value.is_some());
        if evaluation == Some(Evaluation::Number) {
            option.kind = ArgumentKind::Integer;
        }
        is_kept(&option.names[0], evaluation)
    });
    reading.variables.retain(|variable| is_kept(&variable.name, evaluated.use_of(&variable.name)));
    for answer in &reading.answers {
        if !is_kept(&answer.name, evaluated.use_of(&answer.name)) {
            reading.evaluates.get_or_insert_with(|| answer.name.clone());
        }
    }
    for positional in &mut reading.positionals {
        let by_name = evaluated.use_of(&positional.name);
        let evaluation = positional.evaluation.max(by_name);
        if !is_kept(&positional.name, evaluation) {
            reading.evaluates.get_or_insert_with(|| positional.name.clone());
        }
        if evaluation == Some(Evaluation::Number) {
            let is_list = positional.kind.is_list();
            positional.kind = if is_list { ArgumentKind::Integers } else { ArgumentKind::Integer };
        }
    }
    reading.left_out.extend(left_out);
    if !numbers.is_empty() {
        reading.gap(format!("it calculates with {}: only whole numbers are allowed", numbers.join(", ")));
    }
    reading.is_evaluated |= has_parts || evaluated.use_of(WORD_OF_LOOP).is_some();
    reading.integers = numbers;
}
