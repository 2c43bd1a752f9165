//! Help text: the `--help` of a program, as GNU programs, clap, argparse, cobra and Go's flag package write it.
//!
//! The usage line says which words a program takes, and the list of options which options. In case of doubt, an option
//! or a word is left out rather than guessed: a tool that takes less than its program is useful, one that takes it
//! wrongly is not.

mod description;
mod facts;
mod kind;
mod option;
mod other_program;
mod positional;
mod selection;
mod usage;

use crate::argument::Argument;
use crate::effect::Effect;
use crate::name::tool_name;
use crate::plain_text::plain_text;
use crate::word::fixed;
use crate::{Imported, Tool, Unreadable};
pub(crate) use facts::{HelpFacts, HelpWord};
use usage::Usage;

/// More of a description than anyone reads.
pub(crate) const LONGEST_DESCRIPTION: usize = 1000;

/// What the user chose about the options of a program.
#[derive(Debug, Clone, Copy, Default)]
pub struct HelpChoices<'a> {
    /// Other names of the program, which its usage line may have: where a symbolic link leads.
    pub aliases: &'a [String],
    /// Options to take although they write something.
    pub allowed: &'a [String],
    /// Whether to take more options than a model reads with ease.
    pub all_options: bool,
}

/// Reads the `--help` output of a program. `command` is the program and its commands, as they are to be run.
pub fn read(command: &[String], text: &str, choices: HelpChoices<'_>) -> Result<Imported, Unreadable> {
    let strange = text.chars().filter(|letter| matches!(letter, '\u{fffd}' | '\0')).count();
    if strange > text.chars().count() / 20 {
        return Err(Unreadable::NoText);
    }
    let text = plain_text(text).replace('\t', "        ");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let usage = Usage::find(&lines);
    let (mut options, not_understood) = option::read_all(&lines);
    if usage.is_none() && options.is_empty() {
        return Err(Unreadable::NoHelp);
    }
    let name = full_name(command);
    let mut imported = Imported::default();
    for line in not_understood {
        imported.leave_out(line, "it does not look like one option and its value");
    }
    let usage = usage.unwrap_or_default();
    if let Some(other) = other_program::named(usage.program(), command, choices.aliases) {
        return Err(Unreadable::OtherProgram { other, program: name.join(" ") });
    }
    let words = usage.words(command, &mut options);
    if words.needs_command {
        return Err(Unreadable::OnlyCommands(usage::commands(&lines)));
    }
    for word in words.not_understood {
        imported.leave_out(word, "this part of the usage line is not clear");
    }
    let writes = selection::remove_hazards(&mut options, command, choices.allowed, &mut imported)?;
    let positionals = words.positionals.len();
    selection::keep_first(&mut options, &usage, positionals, choices.all_options, &mut imported);
    let mut arguments: Vec<Argument> = Vec::new();
    let mut all = command.iter().map(|word| fixed(word)).collect::<Vec<_>>();
    for option in options {
        if arguments.iter().all(|known| known.name != option.argument.name) {
            all.push(option.word());
            arguments.push(option.argument);
        }
    }
    for positional in positional::described(words.positionals, &lines) {
        if positional.is_code(&all) {
            if !positional.is_optional {
                return Err(Unreadable::TakesCode(positional.placeholder.name));
            }
            imported.leave_out(positional.placeholder.name, "the program would run it");
            continue;
        }
        positional.enter(&mut arguments, &mut all, &mut imported);
    }
    let origin = name.join(" ");
    imported.tools.push(Tool {
        name: tool_name(&origin).unwrap_or_else(|| "program".to_owned()),
        description: description::find(&lines, &usage).unwrap_or_else(|| format!("Runs `{origin}`")),
        effect: name.iter().find_map(|word| Effect::of_program(word)).or(writes.then_some(Effect::Destroys)),
        origin,
        arguments,
        command: all,
        ..Tool::default()
    });
    Ok(imported)
}

/// The program without its folder, and its commands.
fn full_name(command: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or(program);
    }
    words
}

/// How many spaces a line begins with.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests;
