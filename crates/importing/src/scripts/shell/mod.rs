//! Shell scripts: options from `getopts`, `getopt` and `case` loops, words from `$1` and `$@`, variables from
//! `${NAME:-default}`, answers from `read -p`.

mod arithmetic;
mod body;
mod checked_values;
mod checks;
mod evaluated;
mod evaluated_values;
mod expansion;
mod flow;
mod getopts;
mod given_values;
mod json_arguments;
mod lexer;
mod option_loop;
mod place;
mod positions;
mod run_values;
mod traps;
mod tree;
mod usage_text;
mod variables;

pub use given_values::{EvaluatedValue, GivenWord, ShellEvaluations};
pub use traps::{ShellTraps, shell_traps};

use super::comment;
use super::reading::{ScriptOption, ScriptReading};
use evaluated::Evaluated;
use flow::Flow;
use tree::{Item, Node};

/// As many options as a message names.
const MOST_NAMED: usize = 10;

pub(super) fn read(text: &str) -> ScriptReading {
    let mut reading =
        ScriptReading { description: comment::of_header(text, "#"), ..ScriptReading::default() };
    let Some(items) = tree::parse(text) else {
        reading.is_opaque = Some("its text could not be read as a shell script to the end".to_owned());
        reading.usage = usage_text::by_lines(text);
        reading.is_evaluated = arithmetic::may_evaluate(text);
        return reading;
    };
    let flow = Flow::of(&items);
    reading.usage = usage_text::find(&items);
    if flow.main.is_empty() {
        reading.is_library = true;
        return reading;
    }
    let checks = checks::Checks::of(&flow);
    let evaluated = Evaluated::of(&flow, text);
    let has_loop = option_loop::read(&evaluated, &checks, &mut reading)
        | getopts::read(&evaluated, &checks, &mut reading);
    note_other_cases(&items, &mut reading);
    positions::read(&evaluated, &checks, has_loop, &mut reading);
    variables::read(&flow, &checks, &mut reading);
    pass_on(text, &mut reading);
    run_values::check(&flow, &mut reading);
    evaluated_values::check(&evaluated, &mut reading);
    body::read(&items, &mut reading);
    reading
}

/// Variables that the script reads without a default and never sets come from the environment of the server.
fn pass_on(text: &str, reading: &mut ScriptReading) {
    for name in shell_traps(text).variables {
        let is_known =
            reading.variables.iter().any(|variable| variable.name == name) || reading.passed.contains(&name);
        if !is_known {
            reading.passed.push(name);
        }
    }
}

/// Long options in a case that was not understood: the draft does not have them, and says so.
fn note_other_cases(items: &[Item], reading: &mut ScriptReading) {
    let mut missing: Vec<String> = Vec::new();
    flow::any_node(items, &mut |node| {
        let Node::Case { arms, .. } = node else { return false };
        for pattern in
            arms.iter().flat_map(|arm| &arm.patterns).filter_map(|pattern| expansion::plain(pattern))
        {
            let name = pattern.trim_end_matches(['*', '?', '=']);
            let is_option = name.len() > 3 && name.starts_with("--") && !name.contains(['*', '?', '[']);
            let is_known =
                || reading.options.iter().any(|known| known.names.iter().any(|known| known == name));
            let is_idle = || ScriptOption::flag(vec![name.to_owned()]).is_idle();
            let is_new =
                is_option && missing.len() < MOST_NAMED && !missing.iter().any(|known| known == name);
            if is_new && !is_known() && !is_idle() {
                missing.push(name.to_owned());
            }
        }
        false
    });
    if !missing.is_empty() {
        reading
            .doubt(format!("it compares words with {}, in a way that is not understood", missing.join(", ")));
    }
}

#[cfg(test)]
mod evaluated_tests;
#[cfg(test)]
mod given_values_tests;
