//! Flags of a tool, made from its schema: `--path /var --top 5`, and the tool's help.

use super::given::Pair;
use super::parameters::{Parameter, ParameterKind, Parameters};
use clap::{Arg, ArgAction, ArgMatches};
use mcp_bash_terminal::harmless_line;
use std::collections::HashSet;
use std::fmt::Write as _;

/// The prefix for the ids of parameters, which none of our own flags has.
const PREFIX: &str = "argument:";

/// The id of the words that are not flags.
pub(crate) const PAIRS: &str = "pairs";

/// The id of our own `--yes` after the name of a tool that has no argument of that name.
const YES: &str = "yes";

/// The command with a flag for each parameter whose name is not `taken` by one of ours. The help says how to pass the
/// others.
pub(crate) fn with_flags(
    mut command: clap::Command,
    parameters: &Parameters,
    mut taken: HashSet<String>,
) -> clap::Command {
    let mut without_flag = Vec::new();
    for parameter in &parameters.list {
        let mut names = vec![parameter.name.clone(), kebab(&parameter.name)];
        names.dedup();
        names.retain(|name| is_flag_name(name) && taken.insert(name.clone()));
        if let Some((first, rest)) = names.split_first() {
            command = command.arg(flag(parameter, first, rest));
        } else {
            without_flag.push(parameter);
        }
    }
    if let Some(words) = told_of(&without_flag) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        command = command.after_help(format!("{words}\n{after}"));
    }
    if taken.insert(YES.to_owned()) {
        command = command.arg(Arg::new(YES).long(YES).short('y').action(ArgAction::SetTrue).hide(true));
    }
    command.arg(
        Arg::new(PAIRS)
            .value_name("key=value")
            .num_args(0..)
            .help("Arguments in another form: key=value as it is declared below, or key:=JSON"),
    )
}

/// How to pass arguments that have no flag.
fn told_of(parameters: &[&Parameter]) -> Option<String> {
    let first = harmless_line(&parameters.first()?.name);
    let mut words = format!(
        "Further arguments of the tool, whose names are flags of mcp-bash or no flags at all; give them as {first}=value, \
         or in --args '{{\"{first}\": …}}':\n"
    );
    for parameter in parameters {
        let (name, kind) = (harmless_line(&parameter.name), parameter.kind.name().to_uppercase());
        let _ = writeln!(
            words,
            "{}",
            format!("      {name}=<{}>  {}", kind.replace(' ', "_"), help(parameter)).trim_end()
        );
    }
    Some(words)
}

fn flag(parameter: &Parameter, name: &str, aliases: &[String]) -> Arg {
    // Clap wants names that live as long as the program, and the program is short-lived.
    let lasting = |text: String| -> &'static str { text.leak() };
    let id = lasting(format!("{PREFIX}{}", parameter.name));
    let mut flag = Arg::new(id)
        .long(lasting(name.to_owned()))
        .help(lasting(help(parameter)))
        .help_heading("Arguments of the tool")
        .value_name(lasting(parameter.kind.name().to_uppercase().replace(' ', "_")))
        .action(ArgAction::Append)
        .allow_hyphen_values(true);
    for alias in aliases {
        flag = flag.visible_alias(lasting(alias.clone()));
    }
    if parameter.kind == ParameterKind::Boolean {
        // `--all` says yes, `--all=false` says no.
        flag = flag
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .allow_hyphen_values(false);
    }
    flag
}

/// The help of a parameter: its description, and in brackets its possible values.
fn help(parameter: &Parameter) -> String {
    let mut notes = Vec::new();
    if parameter.is_required {
        notes.push("required".to_owned());
    }
    if let Some(default) = &parameter.default {
        notes.push(format!("default: {default}"));
    }
    if !parameter.choices.is_empty() {
        notes.push(format!("one of: {}", parameter.choices.join(", ")));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" [{}]", notes.join("; ")) };
    harmless_line(&format!("{}{notes}", parameter.description))
}

/// Whether the user consents to the call.
pub(crate) fn consents(matches: &ArgMatches) -> bool {
    matches.try_get_one::<bool>(YES).ok().flatten().is_some_and(|yes| *yes)
}

/// The arguments that were given as flags and as pairs.
pub(crate) fn given(
    parameters: &Parameters,
    matches: &mut ArgMatches,
) -> Result<Vec<Pair>, super::given::ArgumentError> {
    let mut pairs = Vec::new();
    for parameter in &parameters.list {
        let id = format!("{PREFIX}{}", parameter.name);
        let values = matches.try_remove_many::<String>(&id).ok().flatten().into_iter().flatten();
        pairs.extend(values.map(|text| Pair::Text { key: parameter.name.clone(), text }));
    }
    for word in matches.remove_many::<String>(PAIRS).into_iter().flatten() {
        pairs.push(Pair::read(&word)?);
    }
    Ok(pairs)
}

fn is_flag_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

/// `maxItems` and `max_items` as people write flags.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_small {
            kebab.push('-');
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
        match letter {
            '_' => kebab.push('-'),
            _ => kebab.extend(letter.to_lowercase()),
        }
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_flags_as_people_write_them() {
        for (name, flag) in
            [("maxItems", "max-items"), ("max_items", "max-items"), ("URL", "url"), ("a1B", "a1-b")]
        {
            assert_eq!(kebab(name), flag);
        }
    }
}
