//! Values that a script runs: a word that becomes a command, or code that a command reads. No caller may choose them.

use super::expansion::expansions;
use super::flow::{Flow, assignments, each_command, own_words};
use super::tree::Item;
use crate::argument::ArgumentKind;
use crate::scripts::reading::ScriptReading;
use crate::shell_text::runs_what_follows;
use std::collections::BTreeSet;

/// As many values of one command as are judged; further ones count as run.
const MOST_JUDGED: usize = 60;

/// Leaves out options and variables whose values are run, and notes words that are.
pub(super) fn check(flow: &Flow<'_>, reading: &mut ScriptReading) {
    let mut run: BTreeSet<String> = BTreeSet::new();
    let mut built: Vec<(String, Vec<String>)> = Vec::new();
    let bodies: Vec<(&[Item], bool)> =
        flow.functions.values().map(|body| (*body, false)).chain([(&*flow.main, true)]).collect();
    for (items, is_main) in bodies {
        each_command(items, &mut |command| {
            for (name, _, value) in assignments(command) {
                let used = expansions(value);
                let is_own = |used: &str| is_main || !is_position(used);
                let used = used
                    .iter()
                    .filter(|used| !used.is_inner && is_own(used.name))
                    .map(|used| used.name.to_owned());
                built.push((name.to_owned(), used.collect()));
            }
            let words = own_words(command);
            let mut before = String::new();
            let mut judged = 0;
            // `((…))` and `[[…]]` are no commands.
            for word in words.iter().filter(|word| !word.starts_with("((") && !word.starts_with("[[")) {
                // All words of `eval` are code, also those in quotes.
                let is_code = before.starts_with("eval ");
                let word = word.strip_prefix('\'').filter(|_| is_code).unwrap_or(word);
                for found in expansions(word).iter().filter(|found| !found.is_inner) {
                    let is_word = found
                        .name
                        .starts_with(|first: char| first.is_ascii_digit() || matches!(first, '@' | '*'));
                    // `eval set -- "$@"` only assigns.
                    let only_assigns = before.starts_with("eval set ");
                    if is_word && !is_main || only_assigns || run.contains(found.name) {
                        continue;
                    }
                    let prefix = word[..found.at].trim_matches(['"', '\'']);
                    let is_sourced = matches!(&*before, ". " | "source ");
                    judged += 1;
                    if is_code
                        || is_sourced
                        || judged > MOST_JUDGED
                        || runs_what_follows(&format!("{before}{prefix}"))
                    {
                        run.insert(found.name.to_owned());
                    }
                }
                before.push_str(word);
                before.push(' ');
            }
        });
    }
    let direct = run.clone();
    // A value that becomes part of a command through other variables.
    for _ in 0..4 {
        for (name, used) in &built {
            if run.contains(name) {
                run.extend(used.iter().cloned());
            }
        }
    }
    let is_run = |name: &str| run.contains(name);
    let mut left_out = Vec::new();
    reading.options.retain(|option| {
        let runs = option.value.is_some() && option.variable.as_deref().is_some_and(is_run);
        if runs {
            left_out.push((
                option.names[0].clone(),
                "the script would run its value, which no caller may choose".to_owned(),
            ));
        }
        !runs
    });
    reading.variables.retain(|variable| {
        let runs = is_run(&variable.name);
        if runs {
            left_out.push((
                variable.name.clone(),
                "the script would run its value, which no caller may choose".to_owned(),
            ));
        }
        !runs
    });
    reading.left_out.extend(left_out);
    if direct.contains("@") || direct.contains("*") {
        reading.runs = Some("its words".to_owned());
    }
    let mut is_built = is_run("@") || is_run("*");
    for (index, positional) in reading.positionals.iter_mut().enumerate() {
        let number = (index + 1).to_string();
        if direct.contains(&positional.name) || direct.contains(&number) {
            reading.runs.get_or_insert_with(|| positional.name.clone());
        } else if is_run(&positional.name) || is_run(&number) || is_built {
            is_built = true;
            positional.kind = match positional.kind {
                ArgumentKind::List(_) => ArgumentKind::HarmlessList,
                _ => ArgumentKind::HarmlessText,
            };
        }
    }
    if is_built {
        reading.gap(
            "its words become part of a command that it puts together: only harmless characters are allowed",
        );
    }
}

/// Whether a name is a word of the script: `1`, `@`.
fn is_position(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '@' | '*'))
}
