//! Perl scripts: `Getopt::Long`, `Getopt::Std`, and the documentation that follows them.

use super::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};
use super::{comment, words_of_usage};
use crate::argument::ArgumentKind;
use crate::effect::Effect;
use std::fmt::Write as _;

pub(super) fn read(text: &str, name: &str) -> ScriptReading {
    let code = text.split("\n__END__").next().unwrap_or(text);
    let mut reading = ScriptReading {
        description: of_pod(text).or_else(|| comment::of_header(text, "#")),
        ..ScriptReading::default()
    };
    reading.usage = usage(text);
    let code_lines: String = without_pod(code);
    let is_read = long(&code_lines, &mut reading) | short(&code_lines, &mut reading);
    let shifts = |line: &str| {
        !line.starts_with([' ', '\t'])
            && (line.ends_with("shift;") || line.contains("shift ||") || line.contains("shift or"))
    };
    let requires = |line: &str| {
        line.starts_with("require \"")
            || line.starts_with("require '")
            || line.starts_with("exit main(")
            || line.contains("->run(")
    };
    if !is_read && code_lines.lines().any(|line| requires(line.trim())) {
        reading.is_opaque = Some("another file reads its words".to_owned());
        return reading;
    }
    let reads_words =
        code_lines.contains("ARGV") || code_lines.contains("<>") || code_lines.lines().any(shifts);
    if !is_read && reads_words {
        reading.is_opaque = Some("it reads `@ARGV` by itself".to_owned());
    } else if reads_words {
        words(name, &mut reading);
    }
    let changes =
        ["unlink", "rmtree", "remove_tree", "rename", "mkdir", "chmod", "chown", "system", "open(", "kill "];
    let is_writing = |line: &str| line.contains("open") && (line.contains("'>") || line.contains("\">"));
    if code_lines.lines().any(|line| {
        is_writing(line) || changes.iter().any(|word| *word != "open(" && line.trim_start().starts_with(word))
    }) {
        reading.effect = Some(Effect::Destroys);
    }
    reading
}

/// The words besides options, from the usage.
fn words(name: &str, reading: &mut ScriptReading) {
    if let Some(usage) = reading.usage.clone() {
        return words_of_usage(&usage, name, reading);
    }
    reading.positionals.push(ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false));
    reading.doubt("which words it takes besides its options is not clear");
}

/// `GetOptions('name|n=s' => \$name, …)`
fn long(code: &str, reading: &mut ScriptReading) -> bool {
    let mut found = false;
    for (index, _) in code.match_indices("GetOptions") {
        let rest = code[index + 10..].trim_start_matches("FromArray");
        let Some(body) = rest.trim_start().strip_prefix('(') else { continue };
        let body = &body[..end_of_call(body)];
        found = true;
        let mut count = 0;
        for specification in specifications(body, code) {
            match specified(&specification) {
                Some(option) => {
                    count += 1;
                    if specification.contains(':') {
                        reading.gap(format!("the value of `{}` may be left out", option.names[0]));
                    }
                    reading.add(option);
                }
                None if specification == "<>" => {}
                None => reading.doubt(format!("the option `{specification}` is not clear")),
            }
        }
        if count == 0 {
            reading.doubt("the list of its options is put together while it runs");
        }
    }
    found
}

/// The specifications in a call: keys, the texts of a list, or the keys of a hash that is named.
fn specifications(body: &str, code: &str) -> Vec<String> {
    if body.contains("=>") {
        return keys(body);
    }
    if let Some(name) = body.trim().strip_prefix('%') {
        let name = name.trim_end_matches([')', ' ', '\n']);
        let start = code.find(&format!("%{name} = (")).map(|start| start + name.len() + 5);
        return start.map_or_else(Vec::new, |start| keys(&code[start..start + end_of_call(&code[start..])]));
    }
    let mut found = Vec::new();
    for part in body.split("qw").skip(1) {
        let close = match part.chars().next() {
            Some('(') => ')',
            Some('[') => ']',
            Some('{') => '}',
            Some(same) => same,
            None => break,
        };
        let list = part.get(1..).unwrap_or_default().split(close).next().unwrap_or_default();
        found.extend(list.split_whitespace().map(str::to_owned));
    }
    if found.is_empty() {
        found.extend(body.split(['\'', '"']).skip(1).step_by(2).map(str::to_owned));
    }
    found
}

/// The quoted or bare keys before `=>`.
fn keys(body: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for (index, _) in body.match_indices("=>") {
        let before = body[..index].trim_end();
        let key = if let Some(quote @ ('\'' | '"')) = before.chars().last() {
            let inner = &before[..before.len() - 1];
            inner.rfind(quote).map(|start| inner[start + 1..].to_owned())
        } else {
            let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let start =
                start.map_or(0, |start| start + before[start..].chars().next().map_or(1, char::len_utf8));
            Some(before[start..].to_owned()).filter(|key| !key.is_empty())
        };
        // Inside braces it is a key of a hash.
        let depth = before.matches('{').count().saturating_sub(before.matches('}').count());
        keys.extend(key.filter(|_| depth == 0));
    }
    keys
}

fn specified(specification: &str) -> Option<ScriptOption> {
    let end = specification.find(['=', ':', '!', '+', '{']).unwrap_or(specification.len());
    let (names, kind) = specification.split_at(end);
    let names: Vec<String> = names
        .split('|')
        .filter(|name| !name.is_empty() && *name != "?")
        .map(|name| if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") })
        .collect();
    let is_name = |name: &String| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
    };
    if names.is_empty() || !names.iter().all(is_name) {
        return None;
    }
    let form =
        if names.iter().any(|name| name.starts_with("--")) { ValueForm::Joined } else { ValueForm::NextWord };
    let value = |kind: ArgumentKind, is_repeated: bool| ScriptOption {
        kind,
        is_repeated,
        ..ScriptOption::with_value(names.clone(), form)
    };
    let is_repeated = kind.ends_with(['@', '%', '}']);
    Some(match kind.trim_start_matches(['=', ':']).chars().next() {
        _ if matches!(kind, "" | "!" | "+") => ScriptOption::flag(names),
        Some('i') => value(ArgumentKind::Integer, is_repeated),
        Some('f') => value(ArgumentKind::Number, is_repeated),
        Some('s') => value(ArgumentKind::Text, is_repeated),
        _ => return None,
    })
}

/// `getopts('ab:c', \%opts)`
fn short(code: &str, reading: &mut ScriptReading) -> bool {
    let Some(index) = code.find("getopts(").or_else(|| code.find("getopts (")) else { return false };
    let body = &code[index..];
    let Some(start) = body.find(['\'', '"']) else { return false };
    let quote = &body[start..=start];
    let Some(end) = body[start + 1..].find(quote) else { return false };
    let mut letters = body[start + 1..start + 1 + end].chars().peekable();
    while let Some(letter) = letters.next() {
        let names = vec![format!("-{letter}")];
        let takes = letters.next_if_eq(&':').is_some();
        reading.add(if takes {
            ScriptOption::with_value(names, ValueForm::NextWord)
        } else {
            ScriptOption::flag(names)
        });
    }
    true
}

fn end_of_call(body: &str) -> usize {
    let mut depth = 1_usize;
    let mut quote = None;
    for (index, letter) in body.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    body.len()
}

fn without_pod(text: &str) -> String {
    let mut is_pod = false;
    let mut code = String::new();
    for line in text.lines() {
        if line.starts_with("=cut") {
            is_pod = false;
            continue;
        }
        is_pod |= line.starts_with("=head")
            || line.starts_with("=pod")
            || line.starts_with("=over")
            || line.starts_with("=item");
        if !is_pod && !line.trim_start().starts_with('#') {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// `=head1 NAME`, then `name - what it does`.
fn of_pod(text: &str) -> Option<String> {
    let section = section(text, "NAME")?;
    let line = section.lines().find(|line| line.contains(" - "))?;
    Some(plain(line.split_once(" - ")?.1))
}

fn section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.find(&format!("\n=head1 {name}\n"))? + name.len() + 9;
    let rest = &text[start..];
    Some(&rest[..rest.find("\n=head1").or(rest.find("\n=cut")).unwrap_or(rest.len())])
}

/// The synopsis and the options of the documentation as a help text, or what the script prints as its usage.
fn usage(text: &str) -> Option<String> {
    let mut help = String::new();
    if let Some(synopsis) = section(text, "SYNOPSIS").or_else(|| section(text, "USAGE")) {
        let first =
            synopsis.split("\n\n").find(|block| !block.trim().is_empty() && !block.starts_with("=for"))?;
        help.push_str("Usage: ");
        help.push_str(&first_form(&plain(first)));
        help.push_str("\n\n");
        for name in ["OPTIONS", "ARGUMENTS", "DESCRIPTION"] {
            for part in section(text, name).unwrap_or_default().split("\n=item ").skip(1) {
                let (item, rest) = part.split_once('\n').unwrap_or((part, ""));
                let described = rest.trim().split("\n\n").next().unwrap_or_default();
                let described = plain(described).split_whitespace().collect::<Vec<_>>().join(" ");
                let described = if described.starts_with('=') { String::new() } else { described };
                let _ = write!(help, "  {}\n      {described}\n", plain(item));
            }
        }
        return Some(help);
    }
    printed_usage(text)
}

/// The first form of a synopsis: further lines belong to it only if they do not begin with the program again.
fn first_form(synopsis: &str) -> String {
    let mut lines = synopsis.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let program = first.split(' ').next().unwrap_or_default();
    let rest = lines
        .take_while(|line| line.split(' ').next() != Some(program) && line.starts_with(['[', '<', '-', '{']));
    [first].into_iter().chain(rest).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// A here-document or a text that speaks of usage.
fn printed_usage(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_usage = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.contains("usage:") && !line.trim_start().starts_with('#')
    };
    let start = lines.iter().position(|line| is_usage(line))?;
    let first = &lines[start][lines[start].to_ascii_lowercase().find("usage:")?..];
    let rest = lines[start + 1..].iter().take(80).take_while(|line| {
        let line = line.trim();
        !matches!(line, "EOF" | "END" | "EOT" | "USAGE" | "}" | "HELP" | "EOM")
            && !line.ends_with(");")
            && !line.ends_with("\";")
    });
    let text = [first].into_iter().chain(rest.copied()).collect::<Vec<_>>().join("\n");
    Some(
        text.replace("\\n", "\n")
            .replace("$0", "PROGRAM")
            .replace("%s", "PROGRAM")
            .replace("$Dpkg::PROGNAME", "PROGRAM")
            .replace("$progname", "PROGRAM"),
    )
}

/// Text without the marks of the documentation: `B<bold>`.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut marks = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_uppercase() && letters.peek() == Some(&'<') {
            letters.next();
            marks.push(letter);
            // A placeholder.
            if letter == 'I' {
                plain.push('<');
            }
        } else if letter == '>' && !marks.is_empty() {
            if marks.pop() == Some('I') {
                plain.push('>');
            }
        } else {
            plain.push(letter);
        }
    }
    plain
}
