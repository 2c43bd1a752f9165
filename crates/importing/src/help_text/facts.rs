//! Help facts: what a help text says about options and words, for a script whose code is read as well.

use super::usage::Usage;
use super::{description, option, other_program, positional};
use crate::argument::ArgumentKind;
use crate::name::argument_name;
use crate::plain_text::plain_text;

#[derive(Debug, Default)]
pub(crate) struct HelpFacts {
    pub(crate) description: Option<String>,
    pub(crate) options: Vec<OptionFact>,
    pub(crate) words: Vec<HelpWord>,
    /// Whether a part of the usage line was not understood, or there is none.
    pub(crate) is_unclear: bool,
    /// Whether it takes a command of its own, or a program.
    pub(crate) needs_command: bool,
}

#[derive(Debug)]
pub(crate) struct OptionFact {
    pub(crate) names: Vec<String>,
    pub(crate) takes_value: bool,
    pub(crate) is_joined: bool,
    pub(crate) is_attached: bool,
    pub(crate) kind: ArgumentKind,
    pub(crate) description: String,
}

#[derive(Debug)]
pub(crate) struct HelpWord {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) is_list: bool,
    pub(crate) kind: ArgumentKind,
    pub(crate) description: String,
}

impl HelpFacts {
    pub(crate) fn read(text: &str, program: &str) -> Self {
        let text = plain_text(text).replace('\t', "        ");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let usage = Usage::find(&lines);
        let (mut options, _) = option::read_all(&lines);
        let has_usage = usage.is_some();
        let usage = usage.unwrap_or_default();
        let words = usage.words(&[program.to_owned()], &mut options);
        let is_foreign = !program.is_empty()
            && other_program::named(usage.program(), &[program.to_owned()], &[]).is_some();
        let mut is_unclear =
            !has_usage || is_foreign || words.needs_command || !words.not_understood.is_empty();
        let needs_command = words.needs_command;
        let options = options
            .into_iter()
            .map(|option| OptionFact {
                takes_value: option.takes_value(),
                is_joined: option.is_joined(),
                is_attached: option.is_attached(),
                kind: option.argument.kind.clone(),
                description: option.argument.description.clone(),
                names: option.names,
            })
            .collect();
        let words = positional::described(words.positionals, &lines)
            .into_iter()
            .filter_map(|word| {
                let kind = word.placeholder.kind(&word.description);
                let has_choices = !word.placeholder.choices.is_empty();
                let name = if has_choices {
                    "choice".to_owned()
                } else {
                    argument_name(&word.placeholder.name.to_lowercase())?
                };
                Some(HelpWord {
                    name,
                    is_optional: word.is_optional,
                    is_list: word.placeholder.is_list,
                    kind,
                    description: word.description,
                })
            })
            .collect();
        let words = one_form(words, program, &mut is_unclear);
        let words = if is_foreign { Vec::new() } else { words };
        Self { description: description::find(&lines, &usage), options, words, is_unclear, needs_command }
    }
}

/// The words of the first form of the usage: up to the name of the program, a redirection, or a list.
fn one_form(words: Vec<HelpWord>, program: &str, is_unclear: &mut bool) -> Vec<HelpWord> {
    let mut kept: Vec<HelpWord> = Vec::new();
    for word in words {
        let is_other = word.name == program || matches!(&*word.name, "or" | "options" | "option");
        if matches!(&*word.name, "options" | "option") {
            continue;
        }
        if is_other || kept.last().is_some_and(|last| last.is_list) || kept.len() == 6 {
            *is_unclear = true;
            break;
        }
        kept.push(word);
    }
    kept
}
