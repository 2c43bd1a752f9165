//! Scripts: a tool for a script, from its text alone. Nothing is run, and nothing in it is evaluated.
//!
//! Each language has its reader, which says what it found and what it is unsure of. A script whose words cannot be told
//! apart becomes a tool that takes a list of words, and says so.

mod calls;
mod comment;
mod draft;
mod language;
mod node;
mod perl;
mod python;
mod reading;
mod selection;
mod shell;
mod usage;
mod variable;

pub use draft::ScriptCommand;
pub use language::{ScriptLanguage, interpreter};
pub use reading::Evaluation;
pub use shell::{EvaluatedValue, GivenWord, ShellEvaluations, ShellTraps, shell_traps};

use crate::argument::ArgumentKind;
use crate::name::tool_name;
use crate::{Imported, Unreadable};
use reading::{ScriptPositional, ScriptReading};
use usage::{complete, words_of_usage};

/// Reads a script.
pub fn read(
    text: &str,
    language: ScriptLanguage,
    command: ScriptCommand<'_>,
) -> Result<Imported, Unreadable> {
    let strange = text.chars().filter(|letter| matches!(letter, '\u{fffd}' | '\0')).count();
    if strange > text.chars().count() / 20 {
        return Err(Unreadable::NoText);
    }
    let mut reading = match language {
        ScriptLanguage::Shell => shell::read(text),
        ScriptLanguage::Python => python::read(text),
        ScriptLanguage::Node => node::read(text),
        ScriptLanguage::Perl => perl::read(text, command.name),
        ScriptLanguage::Other => ScriptReading {
            description: comment::of_header(text, "#"),
            is_opaque: Some("scripts in its language are not read".to_owned()),
            ..ScriptReading::default()
        },
    };
    if reading.is_library {
        return Err(Unreadable::OnlyFunctions);
    }
    if let Some(runs) = reading.runs.take() {
        return Err(Unreadable::RunsWords(runs));
    }
    if let Some(evaluates) = reading.evaluates.take() {
        return Err(Unreadable::EvaluatesWords(evaluates));
    }
    if reading.is_evaluated {
        reading.gap("it may evaluate parts of its values as numbers: only harmless characters are allowed");
    }
    reading.success_exit_codes = comment::answering_codes(text);
    complete(&mut reading, command.name);
    if let Some(why) = reading.is_opaque.take() {
        reading.options.clear();
        reading.positionals = vec![ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false)];
        reading.doubt(format!("its arguments are not understood ({why}): it takes a list of words, none of which begins with `-`"));
    }
    selection::keep_first(&mut reading, command.all_options);
    let stem = command
        .name
        .rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map_or(command.name, |(stem, _)| stem);
    let name = tool_name(stem).ok_or(Unreadable::NoName)?;
    let mut imported = Imported::default();
    for (what, why) in std::mem::take(&mut reading.left_out) {
        imported.leave_out(format!("{} {what}", command.name), why);
    }
    imported.tools.push(draft::tool(command, reading, name));
    Ok(imported)
}

/// A script with commands of its own: the command is a choice, and the rest a list of words.
fn commands(names: Vec<String>, count: usize, reading: &mut ScriptReading) {
    reading.options.clear();
    let is_complete = names.len() == count && !names.is_empty();
    let kind = if is_complete { ArgumentKind::OneOf(names) } else { ArgumentKind::Text };
    reading.positionals = vec![
        ScriptPositional::new("command", kind, true),
        ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false),
    ];
    reading.gap("each of its commands has arguments of its own: they are a list of words, none of which begins with `-`");
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
