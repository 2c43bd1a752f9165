//! Option list: `-n, --lines=NUM   how many`, with its description beside or below.

use super::kind::Placeholder;
use super::{LONGEST_DESCRIPTION, indentation};
use crate::argument::{Argument, ArgumentKind};
use crate::name::argument_name;
use crate::word::{each, escaped, flag, group, place};
use mcp_bash_hazards::{
    DescribedOption, Verdict, option_begins_code, option_verdict, option_writes, reads_like_code,
};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(super) struct ProgramOption {
    /// All its names; the first one is used.
    pub(super) names: Vec<String>,
    /// How its value is given; `None` for a flag.
    value: Option<Form>,
    /// The placeholder of its value.
    placeholder: Option<String>,
    pub(super) argument: Argument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `--name=value`
    Joined,
    /// `--name value`
    NextWord,
    /// `-nvalue`
    Attached,
}

/// Options that every program has, and that are useless in a tool.
const IDLE: [&str; 7] = ["help", "help-all", "usage", "version", "h", "V", "?"];

impl ProgramOption {
    /// Reads the text between brackets in a usage line: `-n NUM`, `--mood <kind|grim>`.
    pub(super) fn in_usage(text: &str) -> Option<Self> {
        let option = read(text.trim(), "").filter(|option| option.argument.description.is_empty())?;
        // Several letters after one dash are as many flags.
        let is_cluster = |name: &String| !name.starts_with("--") && name.len() > 2;
        let is_clear = option.takes_value() || !option.names.iter().any(is_cluster);
        (is_clear && !is_idle(&option)).then_some(option)
    }

    /// Takes over a value from the usage line that the list does not mention.
    pub(super) fn adopt(&mut self, other: Self) {
        if self.value.is_none() && other.value.is_some() && self.argument.kind == ArgumentKind::Boolean {
            self.value = other.value;
            self.placeholder = other.placeholder;
            self.argument.kind = other.argument.kind;
        }
    }

    /// Whether its value is code that the program would run: according to the table of programs, or to its name, its
    /// placeholder or its description.
    pub(super) fn takes_code(&self, command: &[String]) -> bool {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let is_free = matches!(
            self.argument.kind,
            ArgumentKind::Text
                | ArgumentKind::List(_)
                | ArgumentKind::HarmlessText
                | ArgumentKind::HarmlessList
        );
        let has_no_choices =
            !matches!(&self.argument.kind, ArgumentKind::List(choices) if !choices.is_empty());
        let is_known = || self.names.iter().any(|name| option_verdict(&command, name) != Verdict::Data);
        let sounds = || {
            let names = self.names.iter().map(String::as_str).chain(self.placeholder.as_deref());
            names.into_iter().any(reads_like_code) || speaks_of_code(&self.argument.description)
        };
        if !self.takes_value() {
            // The help may not tell that it takes a value, or that a command follows.
            return self.names.iter().any(|name| option_begins_code(&command, name));
        }
        is_free && has_no_choices && (is_known() || sounds())
    }

    /// Whether it changes, sends or deletes something.
    pub(super) fn writes(&self, command: &[String]) -> bool {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let placeholder = self.takes_value().then(|| self.placeholder.as_deref().unwrap_or_default());
        let description = &*self.argument.description;
        option_writes(&command, DescribedOption { names: &self.names, placeholder, description })
    }

    pub(super) fn takes_value(&self) -> bool {
        self.value.is_some()
    }

    /// Whether its value follows `=` in the same word.
    pub(super) fn is_joined(&self) -> bool {
        self.value == Some(Form::Joined)
    }

    /// Whether its value follows its letter in the same word.
    pub(super) fn is_attached(&self) -> bool {
        self.value == Some(Form::Attached)
    }

    /// Its element of `command`.
    pub(super) fn word(&self) -> Value {
        let (name, argument) = (&*self.names[0], &*self.argument.name);
        let Some(form) = self.value else { return flag(name, argument) };
        let escaped = escaped(name);
        let is_list = self.argument.is_list();
        match form {
            Form::Joined | Form::Attached => {
                let sign = if form == Form::Joined { "=" } else { "" };
                let value = if is_list { each(argument) } else { place(argument) };
                let word = format!("{escaped}{sign}{value}");
                if self.argument.is_required { word.into() } else { group(&[word]) }
            }
            Form::NextWord if is_list => group(&[escaped, place(argument), "...".to_owned()]),
            Form::NextWord => group(&[escaped, place(argument)]),
        }
    }
}

/// Whether a description says that a value is run.
fn speaks_of_code(description: &str) -> bool {
    const SAYINGS: [&str; 12] = [
        "as a command",
        "as code",
        "command to execute",
        "command to run",
        "evaluate",
        "execute ",
        "pipe through",
        "program to run",
        "program to use",
        "run the command",
        "shell command",
        "through the command",
    ];
    let description = description.to_ascii_lowercase();
    SAYINGS.iter().any(|saying| description.contains(saying))
}

/// All options in a text, and the lines that look like one and could not be read.
pub(super) fn read_all(lines: &[&str]) -> (Vec<ProgramOption>, Vec<String>) {
    let (mut options, mut not_understood) = (Vec::new(), Vec::new());
    let mut index = 0;
    // The column where the description of the previous option begins; text in that column belongs to it.
    let mut text_column = usize::MAX;
    while index < lines.len() {
        let line = lines[index];
        index += 1;
        if !is_option_line(line) || indentation(line) >= text_column {
            if !line.is_empty() && indentation(line) < text_column {
                text_column = usize::MAX;
            }
            continue;
        }
        let (spec, beside) = split_description(line);
        let (below, count) = below(&lines[index..], indentation(line), beside);
        index += count;
        text_column = beside.map_or(usize::MAX, |beside| line.len() - beside.len());
        let description = [beside.unwrap_or_default().to_owned(), below].join(" ");
        // Several options on one line, without descriptions.
        let is_table = beside.is_some_and(|beside| beside.starts_with('-'));
        match read(spec, description.trim()).filter(|_| !is_table) {
            Some(option) if is_idle(&option) => {}
            Some(option) => options.push(option),
            None => not_understood.push(spec.chars().take(80).collect()),
        }
    }
    not_understood.truncate(20);
    (options, not_understood)
}

fn is_option_line(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.strip_prefix('-').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    rest.is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '[' | '<' | '?'))
    })
}

fn is_idle(option: &ProgramOption) -> bool {
    option.names.iter().any(|name| {
        let name = name.trim_start_matches('-');
        IDLE.contains(&name) && (name.len() > 1 || option.names.len() == 1 && !option.takes_value())
    })
}

/// The text before and after the gap in a line: two spaces, or a colon between spaces.
fn split_description(line: &str) -> (&str, Option<&str>) {
    let spec = line.trim_start();
    let gap = [spec.find("  "), spec.find(" : ")].into_iter().flatten().min();
    match gap {
        Some(gap) => (
            spec[..gap].trim_end(),
            Some(spec[gap..].trim_start_matches([' ', ':'])).filter(|text| !text.is_empty()),
        ),
        None => (spec, None),
    }
}

/// The description in the lines below, which are indented further, and the number of its lines.
fn below(lines: &[&str], indent: usize, beside: Option<&str>) -> (String, usize) {
    let (mut words, mut count) = (String::new(), 0);
    // Where a description below its option begins. A further line of it may begin with the name of another option.
    let column = lines.first().filter(|line| beside.is_none() && !is_option_line(line));
    let column = column.map(|line| indentation(line)).filter(|column| *column > indent);
    for (index, line) in lines.iter().enumerate() {
        let is_in_column = column.is_some_and(|column| indentation(line) >= column);
        let is_more = match beside {
            // If the description is beside the option, its further lines are far to the right.
            Some(_) => {
                indentation(line) > indent + 4 && !(is_option_line(line) && indentation(line) < indent + 10)
            }
            None if is_in_column => true,
            None => indentation(line) > indent && !(is_option_line(line) && indentation(line) <= indent + 4),
        };
        // clap puts an empty line before the possible values.
        let is_gap = line.is_empty()
            && lines
                .get(index + 1)
                .is_some_and(|next| next.trim_start().to_lowercase().starts_with("possible values"));
        if !is_more && !is_gap || words.len() > 4 * LONGEST_DESCRIPTION {
            break;
        }
        words.push(' ');
        words.push_str(line.trim());
        count = index + 1;
    }
    (words.trim().to_owned(), count)
}

fn read(spec: &str, description: &str) -> Option<ProgramOption> {
    let alternatives = alternatives(spec);
    let mut read: Vec<(String, Option<(Form, Placeholder)>)> = Vec::new();
    let mut description = description.to_owned();
    for alternative in alternatives {
        let Some((name, rest)) = name(alternative) else { continue };
        match value(rest) {
            Follows::Nothing => read.push((name, None)),
            Follows::Value(form, placeholder) => read.push((name, Some((form, placeholder)))),
            // A description after one space.
            Follows::Words(words) if description.is_empty() => {
                words.clone_into(&mut description);
                read.push((name, None));
            }
            Follows::Words(_) => return None,
        }
    }
    // The long name says more; the value may be given only with the other one.
    read.sort_by_key(|(name, _)| (!name.starts_with("--"), name.starts_with("--no-")));
    let value = read.iter().find_map(|(_, value)| value.clone());
    let first_name = read.first()?.0.clone();
    let argument = argument_name(first_name.trim_start_matches('-'))?;
    let value = value.filter(|(_, placeholder)| !matches!(&*placeholder.name, "count" | "bool"));
    let kind = match &value {
        Some((_, placeholder)) => placeholder.kind(&description),
        None => ArgumentKind::Boolean,
    };
    let placeholder = value.as_ref().map(|(_, placeholder)| placeholder.name.clone());
    let form = value.map(|(form, _)| match form {
        // `-n<num>` says nothing about `--lines`, which in practice always takes the next word.
        Form::Attached if first_name.starts_with("--") => Form::NextWord,
        form => form,
    });
    let description = description.chars().take(LONGEST_DESCRIPTION).collect();
    Some(ProgramOption {
        names: read.into_iter().map(|(name, _)| name).collect(),
        value: form,
        placeholder,
        argument: Argument { description, ..Argument::new(argument, kind) },
    })
}

fn is_long_name(text: &str) -> bool {
    text.strip_prefix("--").is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// The names of one option: separated by a space, `, `, ` | `, `|` or ` / `, outside brackets.
fn alternatives(spec: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (index, letter) in spec.char_indices() {
        match letter {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' | '|' | '/' if depth == 0 && spec[index + 1..].trim_start().starts_with('-') => {
                parts.push(spec[start..index].trim());
                start = index + 1;
            }
            // `-v --verbose`
            ' ' if depth == 0 && spec[..index].starts_with('-') && is_long_name(&spec[index + 1..]) => {
                parts.push(spec[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(spec[start..].trim());
    parts
}

/// The name of an option, and the text after it. For `--[no-]color` it is `--color`.
fn name(text: &str) -> Option<(String, &str)> {
    let (dashes, rest) = if text.starts_with("--") { text.split_at(2) } else { text.split_at_checked(1)? };
    let rest = rest.strip_prefix("[no-]").or(rest.strip_prefix("[no]")).unwrap_or(rest);
    let is_letter =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '?' | '+');
    let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let name = name.trim_end_matches('.');
    (dashes.starts_with('-') && !name.is_empty()).then(|| (format!("{dashes}{name}"), rest))
}

/// What follows the name of an option.
enum Follows<'t> {
    Nothing,
    Value(Form, Placeholder),
    /// Not a placeholder: words of a description.
    Words(&'t str),
}

fn value(rest: &str) -> Follows<'_> {
    let form = match rest.chars().next() {
        None => return Follows::Nothing,
        Some('=') => Form::Joined,
        Some('[') if rest.starts_with("[=") => Form::Joined,
        Some(' ') => Form::NextWord,
        Some('<' | '[' | '{') => Form::Attached,
        // `-v...`: it may be repeated.
        Some('.') if rest.trim_matches('.').is_empty() => return Follows::Nothing,
        Some(_) => return Follows::Words(rest),
    };
    let text = rest.trim();
    if form == Form::NextWord && matches!(text, "..." | "[...]") {
        return Follows::Nothing;
    }
    let inner = text.trim_start_matches(['[', '=']);
    let is_placeholder = |word: &str| {
        word.starts_with(['<', '[', '{', '"']) || word == "..." || !word.chars().any(char::is_lowercase)
    };
    let words: Vec<&str> = inner.split_whitespace().collect();
    // One word in lower case is a placeholder as well: `-o file`, `--name string`.
    let is_value = words.len() == 1 || words.first().is_some_and(|word| is_placeholder(word));
    match Placeholder::read(text).filter(|_| is_value) {
        Some(placeholder) => Follows::Value(form, placeholder),
        None => Follows::Words(text),
    }
}
