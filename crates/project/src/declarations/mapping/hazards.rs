//! Injection hazards: places in which a value would be more than data: code that an interpreter reads, and variables that
//! change which code runs. Certain code is refused; possible code is restricted to harmless characters.

use super::Mapping;
use super::error::MappingError;
use super::schema::ValueKind;
use super::template::Template;
use super::words::{Word, Words};
use mcp_bash_hazards::{Control, Judgement, Piece, Verdict, control, judge};

/// Refuses a mapping in which a value would be code, and restricts the values that may be code. `program` is the program of
/// a tool without a script; a script is the author's own, and may interpret its words.
pub(super) fn restrict(
    mapping: &mut Mapping,
    program: Option<&str>,
    kinds: &[(String, ValueKind)],
) -> Result<(), MappingError> {
    let choices = kinds.iter().filter(|(_, kind)| *kind == ValueKind::Choice).map(|(name, _)| name);
    let declared = mapping.unrestricted.iter().map(|(name, _)| name);
    mapping.exempt = choices.chain(declared).cloned().collect();
    let judged = program.map(|program| {
        let is_plain = |template: &Template| {
            let is_number = |name: &str| kinds.iter().any(|(known, _)| known == name);
            template.arguments().all(|name| is_number(name) || mapping.is_exempt(name))
        };
        judge(program, &pieces(&mapping.words, is_plain))
    });
    if let Some(judged) = &judged {
        restrict_words(mapping, judged)?;
    }
    let is_foreign = judged.as_ref().is_some_and(|judged| !judged.runs_own_code);
    restrict_variables(mapping, is_foreign)?;
    let input = judged.map(|judged| judged.input).unwrap_or_default();
    let is_any_text = |template: &Template| !template.arguments().all(|name| mapping.is_exempt(name));
    match input {
        Verdict::Code { reader } if mapping.input.as_ref().is_some_and(is_any_text) => {
            Err(MappingError::Code {
                key: "stdin",
                reader,
                remedy: "write a script, and give the value to it",
            })
        }
        Verdict::Code { .. } | Verdict::Doubtful { .. } => {
            mapping.input_only_harmless = true;
            Ok(())
        }
        Verdict::Data => Ok(()),
    }
}

impl Mapping {
    fn is_exempt(&self, argument: &str) -> bool {
        self.exempt.iter().any(|name| name == argument)
    }

    /// Whether the argument is restricted to harmless characters in some place.
    pub(super) fn is_restricted(&self, argument: &str) -> bool {
        let words = self.words.iter().flat_map(Words::words);
        let words = words.filter(|word| word.only_harmless).map(|word| &word.template);
        let variables = self.variables.iter().filter(|variable| variable.only_harmless);
        let input = self.input.as_ref().filter(|_| self.input_only_harmless);
        let mut places = words.chain(variables.map(|variable| &variable.value)).chain(input);
        !self.is_exempt(argument) && places.any(|template| template.arguments().any(|name| name == argument))
    }
}

/// How often a list in a group is repeated for the check: no row of the table distinguishes more operands.
const REPETITIONS: usize = 3;

/// How many words of a command line this one counts as.
fn copies(word: &Word, is_alone: bool) -> usize {
    if word.template.list().is_some() && !is_alone { REPETITIONS } else { 1 }
}

/// The words as they are judged. A value can occur more than once.
fn pieces<'w>(words: &'w [Words], is_plain: impl Fn(&Template) -> bool) -> Vec<Piece<'w>> {
    let judged = |word: &'w Word| match word.template.fixed() {
        Some(text) => mcp_bash_hazards::Word::Fixed(text),
        None => mcp_bash_hazards::Word::Value {
            prefix: word.template.prefix(),
            is_plain: is_plain(&word.template),
            may_be_option: word.may_begin_with_dash,
        },
    };
    let together = |words: &'w [Word]| {
        words.iter().flat_map(|word| std::iter::repeat_n(judged(word), copies(word, false))).collect()
    };
    let piece = |words: &'w Words| match words {
        Words::Word(word) if word.template.list().is_some() => Piece::Repeated(vec![judged(word)]),
        Words::Word(word) => Piece::Always(judged(word)),
        Words::Group(words) => Piece::Optional(together(words)),
        Words::Repeated { words, .. } => Piece::Repeated(together(words)),
        Words::Flag { word, .. } => Piece::Optional(vec![mcp_bash_hazards::Word::Fixed(word)]),
    };
    words.iter().map(piece).collect()
}

fn restrict_words(mapping: &mut Mapping, judged: &Judgement) -> Result<(), MappingError> {
    let mut verdicts = judged.words.iter();
    for words in &mut mapping.words {
        let is_alone = matches!(words, Words::Word(_));
        for word in words.words_mut().iter_mut().filter(|word| word.template.fixed().is_none()) {
            let verdict = verdicts.by_ref().take(copies(word, is_alone)).max().copied().unwrap_or_default();
            match verdict {
                Verdict::Data => {}
                Verdict::Doubtful { .. } => word.only_harmless = true,
                Verdict::Code { reader } => {
                    let remedy = "give the value a word of its own, as in [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{text}\"]";
                    return Err(MappingError::Code { key: "command", reader, remedy });
                }
            }
        }
    }
    Ok(())
}

/// `is_foreign` says that neither the program nor what it runs is the author's own: such a program takes settings from its
/// variables.
fn restrict_variables(mapping: &mut Mapping, is_foreign: bool) -> Result<(), MappingError> {
    for index in 0..mapping.variables.len() {
        let variable = &mapping.variables[index];
        if variable.value.arguments().all(|name| mapping.is_exempt(name)) {
            continue;
        }
        let only_harmless = match control(&variable.name) {
            Control::Decides => return Err(MappingError::DecidingVariable(variable.name.clone())),
            Control::Sounds => true,
            Control::Free => is_foreign,
        };
        mapping.variables[index].only_harmless = only_harmless;
    }
    Ok(())
}

/// Refuses the name of a variable that metadata must not set at all.
pub(super) fn require_free_name(name: &str) -> Result<(), MappingError> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(MappingError::VariableName(name.to_owned()));
    }
    if name.starts_with("MCP_") || name.starts_with("MCPBASH_") {
        return Err(MappingError::OwnVariable(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
