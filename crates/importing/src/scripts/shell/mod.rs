//! Shell scripts: options from `getopts`, `getopt` and `case` loops, words from `$1` and `$@`, variables from
//! `${NAME:-default}`, answers from `read -p`.

mod body;
mod checks;
mod expansion;
mod flow;
mod getopts;
mod lexer;
mod option_loop;
mod positions;
mod run_values;
mod tree;
mod usage_text;
mod variables;

use super::comment;
use super::reading::ScriptReading;
use flow::Flow;

pub(super) fn read(text: &str) -> ScriptReading {
    let mut reading =
        ScriptReading { description: comment::of_header(text, "#"), ..ScriptReading::default() };
    let Some(items) = tree::parse(text) else {
        reading.is_opaque = Some("its text could not be read as a shell script to the end".to_owned());
        reading.usage = usage_text::by_lines(text);
        return reading;
    };
    let flow = Flow::of(&items);
    reading.usage = usage_text::find(&items);
    if flow.main.is_empty() {
        reading.is_library = true;
        return reading;
    }
    let checks = checks::Checks::of(&flow);
    let has_loop =
        option_loop::read(&flow, &checks, &mut reading) | getopts::read(&flow, &checks, &mut reading);
    positions::read(&flow, &checks, has_loop, &mut reading);
    variables::read(&flow, &checks, &mut reading);
    run_values::check(&flow, &mut reading);
    body::read(&items, &mut reading);
    reading
}

#[cfg(test)]
mod tests;
