//! Perl scripts: `Getopt::Long`, `Getopt::Std`, loops over `@ARGV`, and their documentation.

mod code;
mod documentation;
mod getopt;
mod option_loop;
mod pattern;
mod words;

use super::reading::ScriptReading;
use super::{comment, words_of_usage};
use crate::effect::Effect;
use crate::help_text::HelpFacts;
use words::{Words, take_one_list};

pub(super) fn read(text: &str, name: &str) -> ScriptReading {
    let mut reading = ScriptReading {
        description: documentation::description(text).or_else(|| comment::of_header(text, "#")),
        usage: documentation::usage(text),
        ..ScriptReading::default()
    };
    let code = code::code(text);
    let has_table = getopt::long(&code, &mut reading) | getopt::short(&code, &mut reading);
    if !has_table && code.lines().any(|line| is_elsewhere(line.trim())) {
        reading.is_opaque = Some("another file reads its words".to_owned());
        return reading;
    }
    let outside = code::outside_of_functions(&code);
    let reads_words = code.contains("ARGV") || code.contains("<>") || !code::shifts(&outside).is_empty();
    if reads_words {
        let has_more_forms = documentation::has_more_forms(text, name);
        words_besides_options(&code, name, has_table, has_more_forms, &mut reading);
    }
    if code.lines().any(changes_something) {
        reading.effect = Some(Effect::Destroys);
    }
    reading
}

/// Whether the words go to code that is not here.
fn is_elsewhere(line: &str) -> bool {
    line.starts_with("require \"")
        || line.starts_with("require '")
        || line.starts_with("exit main(")
        || line.contains("->run(")
        || line.contains("->getopt(")
        || line.contains("Dh_Lib")
}

fn runs_words(line: &str) -> bool {
    let runs = |word: &'static str| {
        code::words_at(line, word)
            .any(|index| line[index + word.len()..].trim_start_matches([' ', '(']).starts_with("@ARGV"))
    };
    runs("exec") || runs("system")
}

fn changes_something(line: &str) -> bool {
    const CHANGES: [&str; 9] =
        ["unlink", "rmtree", "remove_tree", "rename", "mkdir", "chmod", "chown", "system", "kill "];
    let is_writing = line.contains("open") && (line.contains("'>") || line.contains("\">"));
    is_writing || CHANGES.iter().any(|word| line.trim_start().starts_with(word))
}

fn words_besides_options(
    code: &str,
    name: &str,
    has_table: bool,
    has_more_forms: bool,
    reading: &mut ScriptReading,
) {
    let facts = reading.usage.as_deref().map(|usage| HelpFacts::read(usage, name));
    let (rest, mut words) =
        option_loop::read(code, reading).unwrap_or_else(|| (code.to_owned(), Words::default()));
    words.read(&rest);
    if code.lines().any(runs_words) {
        if reading.options.is_empty() {
            reading.runs = Some("its words".to_owned());
        } else {
            reading.doubt("it can run its words as a command: the draft takes none");
        }
        return;
    }
    if has_table && facts.as_ref().is_some_and(|facts| words.leaves_to(facts)) {
        let usage = reading.usage.clone().unwrap_or_default();
        words_of_usage(&usage, name, reading);
        if words.is_unclear && reading.positionals.is_empty() {
            take_one_list(facts.as_ref().filter(|_| !has_more_forms), reading);
        }
        return;
    }
    let is_silent = reading.options.is_empty() && words.is_unclear;
    if is_silent && !has_table {
        reading.is_opaque = Some("it reads `@ARGV` by itself".to_owned());
        return;
    }
    let is_shown = |names: &[String]| {
        reading.options.iter().any(|known| known.names.iter().any(|name| names.contains(name)))
    };
    let is_idle = |names: &[String]| names.iter().any(|name| super::usage::is_idle(name));
    let hidden = facts
        .iter()
        .flat_map(|facts| &facts.options)
        .find(|fact| !is_shown(&fact.names) && !is_idle(&fact.names));
    let hidden = hidden.filter(|_| reading.options.is_empty()).map(|fact| fact.names[0].clone());
    words.add(facts.as_ref(), reading);
    if !has_table {
        unknown_in_usage_line(reading);
    }
    if let Some(name) = hidden {
        reading.doubt(format!("its usage text names `{name}`, which its code does not show"));
    }
}

/// Names options of the usage line that the code does not look for.
fn unknown_in_usage_line(reading: &mut ScriptReading) {
    let usage = reading.usage.clone().unwrap_or_default();
    let tokens = usage.lines().next().unwrap_or_default().split_whitespace();
    for token in tokens.filter_map(|token| token.strip_prefix("[-")) {
        let end =
            token.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_');
        let name = format!("-{}", &token[..end.unwrap_or(token.len())]);
        let begins = |known: &String| name.starts_with(&**known) || known.starts_with(&*name);
        let is_known = reading.options.iter().any(|option| option.names.iter().any(begins));
        if name.len() > 1 && !is_known && !super::usage::is_idle(&name) {
            reading.gap(format!("its usage text names {name}, which its code does not show"));
        }
    }
}

#[cfg(test)]
mod tests;
