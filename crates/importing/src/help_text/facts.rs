//! Help facts: what a help text says about options and words, for a script whose code is read as well.

use super::usage::Usage;
use super::{description, option, positional};
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
}

#[derive(Debug)]
pub(crate) struct OptionFact {
    pub(crate) names: Vec<String>,
    pub(crate) takes_value: bool,
    pub(crate) is_joined: bool,
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
        let is_unclear = !has_usage || words.needs_command || !words.not_understood.is_empty();
        let options = options
            .into_iter()
            .map(|option| OptionFact {
                takes_value: option.takes_value(),
                is_joined: option.is_joined(),
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
        Self { description: description::find(&lines, &usage), options, words, is_unclear }
    }
}
