//! Rules for every command, new ones included.

use super::*;
use crate::arguments::whole;
use crate::help_groups::GROUPS;
use std::collections::BTreeMap;

/// Commands that pass all their words on, and take no flags of their own.
const PASS_ON: [&str; 1] = ["jq"];

#[test]
fn every_command_and_every_argument_has_help() {
    let mut wrong = Vec::new();
    for page in pages(whole()) {
        let name = page.name.join(" ");
        if page.command.get_about().is_none() {
            wrong.push(format!("{name} has no help"));
        }
        for argument in page.command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            if argument.get_help().is_none() && !PASS_ON.contains(&page.command.get_name()) {
                wrong.push(format!("{name}: {} has no help", term(argument)));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_command_has_examples() {
    let has_examples = |page: &Page| {
        let after = page.after_help();
        after.contains("Examples") && after.contains("mcp-bash ")
    };
    let is_group = |page: &&Page| page.command.get_subcommands().next().is_some();
    let pages = pages(whole());
    let without: Vec<String> = pages
        .iter()
        .filter(|page| !is_group(page) && !PASS_ON.contains(&page.command.get_name()) && !has_examples(page))
        .map(|page| page.name.join(" "))
        .collect();
    assert_eq!(without, Vec::<String>::new(), "put `#[command(after_help = EXAMPLES)]` on what they take");
}

#[test]
fn help_fits_a_terminal() {
    for page in pages(whole()) {
        let help = page.command.clone().term_width(100).render_long_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", page.name.join(" "));
        }
    }
}

#[test]
fn a_letter_means_the_same_everywhere() {
    let mut meanings: BTreeMap<char, (String, String)> = BTreeMap::new();
    for page in pages(whole()) {
        for argument in page.command.get_arguments() {
            let (Some(letter), Some(long)) = (argument.get_short(), argument.get_long()) else { continue };
            let name = page.name.join(" ");
            let (known, by) = meanings.entry(letter).or_insert((long.to_owned(), name.clone()));
            assert_eq!(known, long, "-{letter} of {by} and of {name}");
        }
    }
}

#[test]
fn the_overview_names_every_command_once() {
    let mut named: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let whole = whole();
    let visible = whole.get_subcommands().filter(|command| !command.is_hide_set());
    let mut there: Vec<&str> = visible.map(Command::get_name).collect();
    named.sort_unstable();
    there.sort_unstable();
    // Parts of the program that are not built yet may be named already.
    let missing: Vec<&&str> = there.iter().filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "put {missing:?} into a group of help_groups.rs");
    let before = named.len();
    named.dedup();
    assert_eq!(named.len(), before, "a command is named twice");
}

#[test]
fn every_command_has_a_page_with_its_examples_and_exit_codes() {
    let pages = pages(whole());
    for page in &pages {
        let text = roff::page(page, &pages);
        let name = page.name.join(" ");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXIT STATUS"] {
            assert!(text.contains(section), "{name}: {section}");
        }
        for line in page.after_help().lines().filter(|line| line.starts_with("  mcp-bash")) {
            assert!(text.contains(&line.replace('\\', "\\e").replace('-', "\\-")), "{name}: {line}");
        }
    }
}

#[test]
fn the_page_of_exit_codes_names_every_command() {
    let page = include_str!("../../../../../docs/exit-codes.md");
    for command in whole().get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_name();
        assert!(page.contains(&format!("`{name}")), "docs/exit-codes.md does not say how {name} ends");
    }
}

#[test]
fn the_table_of_exit_codes_is_the_one_in_the_code() {
    let page = std::fs::read_to_string(doc("exit-codes.md")).unwrap();
    let start = page.find("| code | meaning |").expect("a table of codes");
    let end = start + page[start..].find("\n\n").expect("an end of the table");
    let expected = format!("{}{}{}", &page[..start], markdown::exit_codes().trim_end(), &page[end..]);
    expect_page("exit-codes.md", &expected);
}

#[test]
fn the_page_of_exit_codes_has_the_codes_in_the_help_of_each_command() {
    let page = std::fs::read_to_string(doc("exit-codes.md")).unwrap();
    let rows: Vec<Vec<&str>> =
        page.lines().filter(|line| line.starts_with("| `")).map(|line| line.split(" | ").collect()).collect();
    let mut count = 0;
    for shown in pages(whole()) {
        let help = shown.after_help();
        let Some((_, told)) = help.split_once("Exit codes: ") else { continue };
        let name = shown.name[1..].join(" ");
        let row = rows
            .iter()
            .find(|row| row[0].contains(&format!("`{name}`")) || row[0].contains(&format!("`{name} ")));
        let row = row.unwrap_or_else(|| panic!("docs/exit-codes.md has no row for {name}"));
        let numbers = told.split(['\n', ' ', ',', '.', ';']).filter(|word| word.parse::<u8>().is_ok());
        for number in numbers {
            let has = row[1] == "all" || row[1].split(", ").any(|known| known == number);
            assert!(has, "docs/exit-codes.md does not say that {name} ends with {number}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn the_page_of_commands_matches_the_code() {
    expect_page("commands.md", &markdown::document(&pages(whole())));
}

fn doc(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Checks that a page of `docs/` is what the code generates; or writes it again on request.
fn expect_page(name: &str, expected: &str) {
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(doc(name), expected).unwrap();
    }
    let text = std::fs::read_to_string(doc(name)).unwrap_or_default();
    assert!(text == expected, "run the tests once with UPDATE_REFERENCE=1 to write docs/{name} anew");
}

/// The commands of ours in the code blocks of a page: `mcp-bash …` and `$ mcp-bash …`.
fn shown_commands(page: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    page.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            is_inside = !is_inside;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        // Shell syntax is not ours to parse.
        let is_plain = !line.contains(['|', '$', '…', '<', '>', ';', '&', '[', '{']);
        (is_inside && is_plain && line.starts_with("mcp-bash ")).then_some(line)
    })
}

#[test]
fn every_command_that_a_page_shows_can_be_read() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = std::fs::read_dir(&docs).unwrap().map(|entry| entry.unwrap().path());
    let (mut count, mut wrong) = (0, Vec::new());
    for path in pages.chain([docs.join("../README.md")]) {
        let page = std::fs::read_to_string(&path).unwrap();
        for line in shown_commands(&page) {
            // A comment follows a `#` or several spaces.
            let command =
                [" #", "  "].iter().fold(line, |line, end| line.split_once(end).map_or(line, |cut| cut.0));
            let words: Vec<_> =
                crate::open::shell_words::split(command).unwrap().into_iter().map(Into::into).collect();
            let words = crate::commands::own_flags::with_flags_first(words);
            // Help or a version is not an error.
            if whole().try_get_matches_from(words).is_err_and(|error| error.use_stderr()) {
                wrong.push(format!("{}: {line}", path.display()));
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    assert_eq!(wrong, Vec::<String>::new());
}
