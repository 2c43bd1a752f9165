//! Documentation of a Perl script: POD, or the usage text that it prints.

use std::fmt::Write as _;

/// `=head1 NAME`, then `name - what it does`.
pub(super) fn description(text: &str) -> Option<String> {
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
pub(super) fn usage(text: &str) -> Option<String> {
    let mut help = String::new();
    if let Some(synopsis) = section(text, "SYNOPSIS").or_else(|| section(text, "USAGE")) {
        let is_text = |block: &&str| {
            let block = block.trim();
            !block.is_empty() && !block.starts_with("=for") && !block.starts_with("=over")
        };
        let first = synopsis.split("\n\n").find(is_text)?.trim();
        // The words of an item stand below it.
        let first = match first.strip_prefix("=item ") {
            Some(_) => synopsis.split("=item ").nth(1)?.split("\n=").next()?,
            None => first,
        };
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

/// Whether the synopsis has further forms, each of which begins with the name of the script.
pub(super) fn has_more_forms(text: &str, name: &str) -> bool {
    let synopsis = section(text, "SYNOPSIS").or_else(|| section(text, "USAGE")).unwrap_or_default();
    synopsis.lines().filter(|line| plain(line).trim_start().split(' ').next() == Some(name)).count() > 1
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
