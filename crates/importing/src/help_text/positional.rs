//! Positional words of a program.

use super::indentation;
use super::kind::Placeholder;
use crate::Imported;
use crate::argument::{Argument, ArgumentKind};
use crate::name::argument_name;
use crate::word::{each, group, place};
use mcp_bash_hazards::{Piece, Verdict, Word, judge, reads_like_code};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Positional {
    pub(super) placeholder: Placeholder,
    pub(super) is_optional: bool,
    pub(super) description: String,
}

impl Positional {
    /// Adds it to the arguments and to the words of the command. No other can follow an optional one, because it would
    /// take its place.
    pub(super) fn enter(
        self,
        arguments: &mut Vec<Argument>,
        command: &mut Vec<Value>,
        imported: &mut Imported,
    ) {
        let Some(name) = self.name(arguments) else { return };
        if let Some(before) = optional_word(command) {
            let why = format!("it would be taken for `{before}` where that is absent");
            return imported.leave_out(self.placeholder.name, why);
        }
        let mut argument = Argument::new(name, self.placeholder.kind(&self.description));
        argument.is_required = !self.is_optional;
        argument.description = self.description;
        let word = if argument.is_list() { each(&argument.name) } else { place(&argument.name) };
        command.push(if self.is_optional { group(&[word]) } else { word.into() });
        arguments.push(argument);
    }

    /// Whether the program would run it, after the words of the command so far: according to the table of programs, or
    /// to its name.
    pub(super) fn is_code(&self, command: &[Value]) -> bool {
        let kind = self.placeholder.kind(&self.description);
        let is_free = matches!(&kind, ArgumentKind::Text)
            || matches!(&kind, ArgumentKind::List(choices) if choices.is_empty());
        let fixed: Vec<&str> =
            command.iter().map_while(Value::as_str).filter(|word| !word.contains('{')).collect();
        let value = Word::Value { prefix: "", is_plain: false, may_be_option: false };
        let words = fixed.iter().skip(1).map(|word| Piece::Always(Word::Fixed(word)));
        // Positional words before it count, options do not.
        let before = command.iter().filter(|word| word.as_str().is_some_and(|word| word.starts_with('{')));
        let before = before.map(|_| Piece::Always(value));
        let pieces: Vec<Piece<'_>> = words.chain(before).chain([Piece::Always(value)]).collect();
        let judged = || judge(fixed.first().unwrap_or(&""), &pieces).words.pop();
        is_free && (reads_like_code(&self.placeholder.name) || matches!(judged(), Some(Verdict::Code { .. })))
    }

    fn name(&self, arguments: &[Argument]) -> Option<String> {
        let choices = !self.placeholder.choices.is_empty();
        let name =
            if choices { "choice".to_owned() } else { argument_name(&self.placeholder.name.to_lowercase())? };
        let is_free = |name: &String| arguments.iter().all(|known| known.name != *name);
        let others = (2..10).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(others).find(is_free)
    }
}

/// The optional positional word, if the command has one.
fn optional_word(command: &[Value]) -> Option<String> {
    let last = command.last()?.as_array()?;
    let [Value::String(word)] = &**last else { return None };
    word.starts_with('{').then(|| word.trim_matches(['{', '}', '.']).to_owned())
}

/// The words with their descriptions from the section about arguments.
pub(super) fn described(mut positionals: Vec<Positional>, lines: &[&str]) -> Vec<Positional> {
    let is_heading = |line: &&&str| {
        let heading = line.trim().trim_end_matches(':').to_ascii_lowercase();
        matches!(&*heading, "arguments" | "args" | "positional arguments" | "parameters" | "positionals")
    };
    let Some(heading) = lines.iter().position(|line| is_heading(&line)) else { return positionals };
    let base = indentation(lines[heading]);
    let mut current: Option<usize> = None;
    let mut entry_indent = usize::MAX;
    for line in &lines[heading + 1..] {
        if line.is_empty() {
            continue;
        }
        if indentation(line) <= base {
            break;
        }
        entry_indent = entry_indent.min(indentation(line));
        let line_text = line.trim();
        if indentation(line) == entry_indent {
            let (name, words) = line_text.split_once("  ").unwrap_or((line_text, ""));
            let name = name.trim_matches(['[', ']', '<', '>', '.', '…']);
            current = positionals.iter().position(|known| known.placeholder.name.eq_ignore_ascii_case(name));
            if let Some(index) = current {
                words.trim().clone_into(&mut positionals[index].description);
            }
        } else if let Some(index) =
            current.filter(|index| positionals[*index].description.len() < super::LONGEST_DESCRIPTION)
        {
            let description = &mut positionals[index].description;
            if !description.is_empty() {
                description.push(' ');
            }
            description.push_str(line_text);
        }
    }
    positionals
}
