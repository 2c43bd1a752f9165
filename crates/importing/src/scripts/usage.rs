//! Usage text of a script, compared with its code: descriptions, types and names come from it, and a difference between
//! the two is reported.

use super::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};
use crate::argument::ArgumentKind;
use crate::help_text::{HelpFacts, HelpWord};

/// Completes a reading with what the usage text says.
pub(super) fn complete(reading: &mut ScriptReading, name: &str) {
    let Some(text) = reading.usage.take() else { return };
    let facts = HelpFacts::read(&text, name);
    if reading.description.is_none() {
        reading.description.clone_from(&facts.description);
    }
    if reading.is_opaque.is_some() {
        return take_over(&facts, reading);
    }
    for fact in &facts.options {
        let is_known = |known: &ScriptOption| known.names.iter().any(|name| fact.names.contains(name));
        // `-O` and `-OFILE` may both be known.
        let is_same = |known: &ScriptOption| is_known(known) && known.value.is_some() == fact.takes_value;
        let index =
            reading.options.iter().position(is_same).or_else(|| reading.options.iter().position(is_known));
        let Some(known) = index.map(|index| &mut reading.options[index]) else { continue };
        if known.description.is_empty() {
            known.description.clone_from(&fact.description);
        }
        if known.value.is_some()
            && known.kind == ArgumentKind::Text
            && !matches!(fact.kind, ArgumentKind::Boolean | ArgumentKind::List(_))
        {
            known.kind = fact.kind.clone();
        }
        if known.value.is_none() && fact.takes_value {
            let name = known.names[0].clone();
            reading.doubt(format!("its usage text gives `{name}` a value, its code does not"));
        }
    }
    let missing: Vec<&str> = facts
        .options
        .iter()
        .filter(|fact| !fact.names.iter().any(|name| is_idle(name)))
        .filter(|fact| {
            !reading.options.iter().any(|known| known.names.iter().any(|name| fact.names.contains(name)))
        })
        .filter(|fact| !reading.left_out.iter().any(|(what, _)| fact.names.contains(what)))
        .map(|fact| &*fact.names[0])
        .collect();
    if !missing.is_empty() {
        let all = missing.into_iter().take(10).collect::<Vec<_>>().join(", ");
        reading.gap(format!("its usage text names {all}, which its code does not show"));
    }
    if facts.needs_command && reading.positionals.is_empty() {
        reading.doubt("its usage text names a command or a program, which its code does not show");
    }
    name_words(&facts.words, reading);
}

pub(super) fn is_idle(name: &str) -> bool {
    matches!(name.trim_start_matches('-'), "help" | "h" | "version" | "V" | "usage" | "?")
}

/// Names and types for words that the code only numbers.
fn name_words(words: &[HelpWord], reading: &mut ScriptReading) {
    let is_numbered = |positional: &ScriptPositional| {
        positional.name == "args"
            || positional.name.strip_prefix("arg").is_some_and(|number| number.parse::<usize>().is_ok())
    };
    let takes_any = reading.positionals.iter().any(|positional| positional.kind.is_list());
    if words.len() > reading.positionals.len() && !takes_any {
        let names = words.iter().map(|word| &*word.name).collect::<Vec<_>>().join(", ");
        reading.doubt(format!(
            "its usage text names the words {names}, its code shows {}",
            reading.positionals.len()
        ));
    }
    if words.len() != reading.positionals.len() {
        return;
    }
    for (positional, word) in reading.positionals.iter_mut().zip(words) {
        let is_list = positional.kind.is_list();
        if is_list != word.is_list {
            continue;
        }
        if is_numbered(positional) {
            positional.name.clone_from(&word.name);
        }
        if positional.description.is_empty() {
            positional.description.clone_from(&word.description);
        }
        if positional.kind == ArgumentKind::Text && !is_list {
            positional.kind = word.kind.clone();
        }
    }
}

/// The usage text alone says how the script is called.
fn take_over(facts: &HelpFacts, reading: &mut ScriptReading) {
    if facts.options.is_empty() && facts.words.is_empty() {
        return;
    }
    let why = reading.is_opaque.take().unwrap_or_default();
    let note = format!("its arguments come from its usage text alone ({why})");
    if facts.is_unclear {
        reading.doubt(note);
    } else {
        reading.gap(note);
    }
    reading.options = facts
        .options
        .iter()
        .map(|fact| ScriptOption {
            value: fact.takes_value.then_some(match (fact.is_joined, fact.is_attached) {
                (true, _) => ValueForm::Joined,
                (false, true) => ValueForm::Attached,
                (false, false) => ValueForm::NextWord,
            }),
            kind: fact.kind.clone(),
            description: fact.description.clone(),
            is_repeated: matches!(fact.kind, ArgumentKind::List(_)),
            ..ScriptOption::flag(fact.names.clone())
        })
        .collect();
    reading.positionals = facts.words.iter().map(positional).collect();
}

/// The words of a usage line, for a script whose parser leaves them.
pub(super) fn words_of_usage(text: &str, name: &str, reading: &mut ScriptReading) {
    let text =
        if text.to_ascii_lowercase().contains("usage") { text.to_owned() } else { format!("Usage: {text}") };
    // What follows a redirection is no word of the command line.
    let text = text.split(" < ").next().unwrap_or_default();
    let facts = HelpFacts::read(text, name);
    if facts.is_unclear {
        return reading.take_one_list();
    }
    reading.positionals = facts.words.iter().map(positional).collect();
}

pub(super) fn positional(word: &HelpWord) -> ScriptPositional {
    let kind = if word.is_list { ArgumentKind::List(Vec::new()) } else { word.kind.clone() };
    let mut positional = ScriptPositional::new(word.name.clone(), kind, !word.is_optional);
    positional.description.clone_from(&word.description);
    positional
}
