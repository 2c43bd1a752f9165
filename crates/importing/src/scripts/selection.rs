//! Selection: which options and variables of a script become arguments, if it has more than a model reads with ease.

use super::reading::{ScriptOption, ScriptReading};
use crate::argument_limit::argument_limit;

/// Keeps all positions and questions, required options, then documented ones, then the others in the order of the code.
/// Variables come last.
pub(super) fn keep_first(reading: &mut ScriptReading, wants_all: bool) {
    reading.options.retain(|option| !option.is_idle());
    let (most, why) = argument_limit(wants_all);
    let required_variables = reading.variables.iter().filter(|variable| variable.is_required).count();
    let room = most.saturating_sub(reading.positionals.len() + reading.answers.len() + required_variables);
    let mut order: Vec<usize> = (0..reading.options.len()).collect();
    order.sort_by_key(|index| rank(&reading.options[*index]));
    let required = reading.options.iter().filter(|option| option.is_required).count();
    order.truncate(room.max(required));
    let mut left_out = Vec::new();
    let mut index = 0;
    reading.options.retain(|option| {
        index += 1;
        let is_kept = order.contains(&(index - 1));
        left_out.extend((!is_kept).then(|| option.names.join(" ")));
        is_kept
    });
    let mut room = room.saturating_sub(reading.options.len());
    reading.variables.retain(|variable| {
        let is_kept = variable.is_required || room > 0;
        if !variable.is_required {
            room = room.saturating_sub(1);
        }
        left_out.extend((!is_kept).then(|| variable.name.clone()));
        is_kept
    });
    if !left_out.is_empty() {
        reading.left_out.push((left_out.join(", "), why));
    }
}

fn rank(option: &ScriptOption) -> (bool, bool) {
    (!option.is_required, option.description.is_empty())
}
