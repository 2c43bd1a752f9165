//! Usage line: which words a program takes besides its options, and which options it requires.

use super::indentation;
use super::kind::Placeholder;
use super::option::ProgramOption;
use super::positional::Positional;

/// The lines of the usage.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The first form of the usage, on one line and without `Usage:`.
    line: String,
    /// Its range of lines: start, and end (exclusive).
    pub(super) place: (usize, usize),
}

/// The words of the usage line.
#[derive(Debug, Default)]
pub(super) struct UsageWords {
    pub(super) positionals: Vec<Positional>,
    /// Whether one of the program's own commands has to follow.
    pub(super) needs_command: bool,
    pub(super) not_understood: Vec<String>,
}

const NO_ARGUMENTS: [&str; 10] = [
    "options",
    "option",
    "opts",
    "flags",
    "flag",
    "global options",
    "switches",
    "command options",
    "global flags",
    "args-options",
];
const COMMANDS: [&str; 6] = ["command", "subcommand", "commands", "cmd", "action", "subcommands"];

impl Usage {
    pub(super) fn find(lines: &[&str]) -> Option<Self> {
        let start = lines.iter().position(|line| {
            let line = line.trim_start();
            line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("usage"))
                && line[5..].trim_start().starts_with(':')
                || line.eq_ignore_ascii_case("usage")
                || line.eq_ignore_ascii_case("synopsis")
        })?;
        let first = lines[start].split_once(':').map_or("", |(_, rest)| rest).trim();
        let mut end = start + 1;
        let mut line = first.to_owned();
        if first.is_empty() {
            while lines.get(end).is_some_and(|line| line.is_empty()) {
                end += 1;
            }
            lines.get(end)?.trim().clone_into(&mut line);
            end += 1;
        }
        let indent = if first.is_empty() { indentation(lines[end - 1]) } else { indentation(lines[start]) };
        // Further lines of the same form are indented more; other forms begin with `or`, or with the program again.
        let program = line.split(' ').next().unwrap_or_default().to_owned();
        let mut is_other_form = false;
        while let Some(next) =
            lines.get(end).filter(|next| !next.is_empty() && indentation(next) > indent.saturating_sub(1))
        {
            let words = next.trim();
            let begins_anew =
                words.starts_with("or:") || words.starts_with("or ") || words.starts_with(&program);
            let is_option = words.starts_with('-') && words.contains("  ");
            if is_option || indentation(next) <= indent && !begins_anew {
                break;
            }
            is_other_form |= begins_anew;
            if !is_other_form {
                line.push(' ');
                line.push_str(words);
            }
            end += 1;
        }
        line.truncate(line.char_indices().nth(4000).map_or(line.len(), |(index, _)| index));
        Some(Self { line, place: (start, end) })
    }

    /// The program that it names, if it names one.
    pub(super) fn program(&self) -> &str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// Where it mentions an option.
    pub(super) fn position(&self, option: &str) -> Option<usize> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        self.line.match_indices(option).map(|(index, _)| index).find(|index| {
            let (before, after) = (&self.line[..*index], &self.line[index + option.len()..]);
            !before.ends_with(is_name) && !after.starts_with(is_name)
        })
    }

    /// Reads the words; options that are not in brackets become required.
    pub(super) fn words(&self, command: &[String], options: &mut Vec<ProgramOption>) -> UsageWords {
        let mut found = UsageWords::default();
        let has_list = !options.is_empty();
        let mut tokens = tokens(&self.line).into_iter().peekable();
        // The program, under whatever name, and its commands.
        tokens.next();
        for word in &command[1..] {
            tokens.next_if(|token| token == word);
        }
        while let Some(token) = tokens.next() {
            let is_followed_by_more =
                tokens.peek().is_some_and(|next| matches!(&**next, "..." | "…" | "[...]"));
            let bare = token
                .trim_end_matches('.')
                .trim_matches(['[', ']', '<', '>', ' '])
                .trim_end_matches(['.', ' ']);
            let lower = bare.to_ascii_lowercase();
            if bare.is_empty() || matches!(&*token, "..." | "…" | "[...]" | "[--]") {
                continue;
            }
            // Of `FILE | FOLDER` either stands in the same place.
            if token == "|" && !found.positionals.is_empty() {
                tokens.next();
                continue;
            }
            if token.starts_with("[-") {
                adopt(token.trim_matches(['[', ']', '.']), options, has_list);
                continue;
            }
            if token == "--" || NO_ARGUMENTS.contains(&&*lower) {
                continue;
            }
            if COMMANDS.contains(&&*lower) || token.starts_with('{') && is_followed_by_more {
                found.needs_command = true;
                return found;
            }
            if token.starts_with('-') {
                require(&token, options, &mut tokens);
                continue;
            }
            match positional(&token, is_followed_by_more) {
                Some(positional) => found.positionals.push(positional),
                None => found.not_understood.push(token.chars().take(80).collect()),
            }
        }
        found
    }
}

/// Learns from the usage line that an option takes a value, or which options exist if there is no list of options.
fn adopt(text: &str, options: &mut Vec<ProgramOption>, has_list: bool) {
    // Of `[-a | -b]` each is an option of its own.
    for part in text.split(" | ") {
        let Some(found) = ProgramOption::in_usage(part) else { continue };
        let known =
            options.iter_mut().find(|known| known.names.iter().any(|name| found.names.contains(name)));
        match known {
            Some(known) => known.adopt(found),
            None if !has_list => options.push(found),
            None => {}
        }
    }
}

/// An option in the usage line that is not in brackets is required, with the value after it.
fn require(
    token: &str,
    options: &mut [ProgramOption],
    tokens: &mut std::iter::Peekable<std::vec::IntoIter<String>>,
) {
    let name = token.split('=').next().unwrap_or(token);
    let Some(option) = options.iter_mut().find(|option| option.names.iter().any(|known| known == name))
    else {
        return;
    };
    if option.takes_value() {
        option.argument.is_required = true;
        if !token.contains('=') {
            tokens.next_if(|next| !next.starts_with('-'));
        }
    }
}

/// A word that the program takes: `FILE`, `<file>`, `[FILE]...`, `{a,b}`.
fn positional(token: &str, is_followed_by_more: bool) -> Option<Positional> {
    let is_optional = token.starts_with('[');
    let inner = token.trim_end_matches(['.', '…']).trim();
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner).trim();
    let inner = inner.trim_start_matches("-- ").trim_start_matches("[--] ");
    // `FILE [FILE ...]` is one list; other words together are more than one argument.
    let words: Vec<&str> =
        inner.split_whitespace().map(|word| word.trim_matches(['[', ']', '<', '>', '.', '…'])).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_one = inner.starts_with('<') && inner.ends_with('>') && inner.matches('<').count() == 1
        || words.iter().all(|word| Some(word) == words.first());
    if !is_one || inner.contains(['(', ')', '=']) || inner.starts_with('-') {
        return None;
    }
    let mut placeholder = Placeholder::read(inner)?;
    if inner.contains('|') && placeholder.choices.is_empty() {
        return None;
    }
    placeholder.is_list |=
        is_followed_by_more || token.ends_with("...") || token.ends_with('…') || inner.contains("...");
    Some(Positional { placeholder, is_optional, description: String::new() })
}

/// The words of a line; brackets keep their content together, with dots that follow a bracket.
fn tokens(line: &str) -> Vec<String> {
    let (mut tokens, mut token, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in line.chars() {
        match letter {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                if !token.is_empty() {
                    tokens.push(std::mem::take(&mut token));
                }
                continue;
            }
            _ => {}
        }
        token.push(letter);
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
}

/// The first commands that a help text lists.
pub(super) fn commands(lines: &[&str]) -> Vec<String> {
    let is_heading = |line: &&&str| {
        let line = line.trim().trim_end_matches(':').to_ascii_lowercase();
        line.ends_with("commands") || line == "subcommands"
    };
    let Some(heading) = lines.iter().position(|line| is_heading(&line)) else { return Vec::new() };
    let entries = lines[heading + 1..].iter().take_while(|line| line.is_empty() || line.starts_with(' '));
    let names = entries
        .filter_map(|line| line.split_whitespace().next())
        .map(|word| word.trim_end_matches([',', ':']));
    let is_name = |word: &&str| {
        word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
    };
    names.filter(is_name).filter(|word| !word.starts_with('-')).take(5).map(str::to_owned).collect()
}
