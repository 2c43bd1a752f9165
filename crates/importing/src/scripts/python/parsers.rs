//! argparse, optparse and getopt.

use crate::argument::ArgumentKind;
use crate::scripts::calls::{Argument, Token, Value, argument, calls, has_call};
use crate::scripts::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};

/// Returns whether one of them is used.
pub(super) fn read(tokens: &[Token], reading: &mut ScriptReading) -> bool {
    let added = calls(tokens, &["add_argument", "add_option"]);
    let has_parser = has_call(tokens, &["ArgumentParser", "OptionParser"]);
    if added.is_empty() && !has_parser {
        return by_getopt(tokens, reading);
    }
    let commands = calls(tokens, &["add_parser"]);
    if !commands.is_empty() {
        let names: Vec<String> = commands
            .iter()
            .filter_map(|(_, _, arguments)| arguments.first()?.value.text().map(str::to_owned))
            .collect();
        super::super::commands(names, commands.len(), reading);
        return true;
    }
    let is_optparse = added.iter().any(|(_, name, _)| name == "add_option");
    for (_, _, arguments) in &added {
        one(arguments, reading);
    }
    if has_call(tokens, &["parse_known_args"]) {
        reading.gap("it passes words that it does not know on");
    }
    if is_optparse {
        let usage = calls(tokens, &["OptionParser"]).into_iter().find_map(|(_, _, arguments)| {
            let usage =
                argument(&arguments, "usage").or_else(|| arguments.first().map(|first| &first.value))?;
            usage.text().map(|text| text.replace("%prog", "PROGRAM"))
        });
        match usage {
            Some(usage) => super::super::words_of_usage(&usage, "", reading),
            None => reading.take_one_list(),
        }
    }
    true
}

/// `add_argument("--name", type=int, help="…")`
fn one(arguments: &[Argument], reading: &mut ScriptReading) {
    let names: Option<Vec<String>> = arguments
        .iter()
        .filter(|argument| argument.key.is_none())
        .map(|argument| argument.value.text().map(str::to_owned))
        .collect();
    let Some(names) = names.filter(|names| !names.is_empty()) else {
        let dest = argument(arguments, "dest").and_then(Value::text);
        if let Some(dest) = dest {
            return one(
                &[
                    &[Argument { key: None, value: Value::Text(dest.to_owned()) }],
                    without(arguments, "dest").as_slice(),
                ]
                .concat(),
                reading,
            );
        }
        return reading.doubt("an argument is named while it runs, and is not in the draft");
    };
    let help = argument(arguments, "help").and_then(Value::text).unwrap_or_default().to_owned();
    if argument(arguments, "help").and_then(Value::name).is_some_and(|name| name.ends_with("SUPPRESS")) {
        return;
    }
    let action =
        argument(arguments, "action").map(|action| action.text().or(action.name()).unwrap_or("?").to_owned());
    let nargs = argument(arguments, "nargs");
    let count = nargs.and_then(|nargs| {
        nargs.text().map(str::to_owned).or_else(|| nargs.name().map(str::to_owned)).or_else(|| nargs.shown())
    });
    let kind = kind(arguments);
    let default = argument(arguments, "default").and_then(Value::shown);
    let is_option = names.iter().all(|name| name.starts_with('-'));
    if !is_option {
        let metavar = argument(arguments, "metavar").and_then(Value::text);
        let name = metavar.filter(|name| name.len() > 1).map_or_else(|| names[0].clone(), str::to_lowercase);
        let is_list = matches!(count.as_deref(), Some("*" | "+"))
            || count.as_deref().is_some_and(|count| {
                count.ends_with("REMAINDER") || count.parse::<usize>().is_ok_and(|count| count > 1)
            });
        let is_required = !matches!(count.as_deref(), Some("?" | "*"))
            && !count.as_deref().is_some_and(|count| count.ends_with("REMAINDER"));
        if count.as_deref().is_some_and(|count| count.parse::<usize>().is_ok_and(|count| count > 1)) {
            reading.doubt(format!("`{name}` needs an exact number of values"));
        }
        let kind = if is_list { list(kind) } else { kind };
        let mut positional = ScriptPositional::new(name, kind, is_required);
        positional.description = help;
        positional.default = default;
        return reading.positionals.push(positional);
    }
    let is_long = names.iter().any(|name| name.starts_with("--"));
    let form = if is_long { ValueForm::Joined } else { ValueForm::NextWord };
    let mut option = match action.as_deref() {
        Some("version" | "help") => return,
        Some("store_true" | "store_false" | "store_const" | "count" | "append_const") => {
            ScriptOption::flag(names)
        }
        Some(action) if action.ends_with("BooleanOptionalAction") => ScriptOption::flag(names),
        None | Some("store" | "append" | "extend") => {
            let several = matches!(count.as_deref(), Some("*" | "+"));
            if several {
                ScriptOption { kind: list(kind), ..ScriptOption::with_value(names, ValueForm::NextWords) }
            } else if matches!(action.as_deref(), Some("append" | "extend")) {
                ScriptOption { kind: list(kind), is_repeated: true, ..ScriptOption::with_value(names, form) }
            } else {
                ScriptOption { kind, ..ScriptOption::with_value(names, form) }
            }
        }
        Some(_) => {
            reading.gap(format!("code of its own reads the value of `{}`, perhaps several times", names[0]));
            ScriptOption { kind, ..ScriptOption::with_value(names, form) }
        }
    };
    if matches!(count.as_deref(), Some("?")) {
        reading.gap(format!("the value of `{}` may be left out", option.names[0]));
    }
    if count.as_deref().is_some_and(|count| count.parse::<usize>().is_ok_and(|count| count > 1)) {
        reading.left_out.push((option.names[0].clone(), "it takes several values at once".to_owned()));
        return;
    }
    option.description = help;
    option.default = default.filter(|_| option.value.is_some());
    option.is_required = argument(arguments, "required").is_some_and(Value::is_true);
    reading.options.push(option);
}

fn without(arguments: &[Argument], key: &str) -> Vec<Argument> {
    arguments
        .iter()
        .filter(|argument| argument.key.is_some() && argument.key.as_deref() != Some(key))
        .cloned()
        .collect()
}

fn kind(arguments: &[Argument]) -> ArgumentKind {
    let choices = argument(arguments, "choices").and_then(Value::texts).filter(|choices| !choices.is_empty());
    if let Some(choices) = choices {
        return ArgumentKind::OneOf(choices);
    }
    match argument(arguments, "type").and_then(|kind| kind.name().or(kind.text())) {
        Some("int") => ArgumentKind::Integer,
        Some("float") => ArgumentKind::Number,
        _ => ArgumentKind::Text,
    }
}

fn list(kind: ArgumentKind) -> ArgumentKind {
    match kind {
        ArgumentKind::OneOf(choices) => ArgumentKind::List(choices),
        _ => ArgumentKind::List(Vec::new()),
    }
}

/// `getopt.getopt(sys.argv[1:], "ho:", ["help", "output="])`
fn by_getopt(tokens: &[Token], reading: &mut ScriptReading) -> bool {
    let found = calls(tokens, &["getopt", "gnu_getopt"]);
    let Some((_, _, arguments)) = found.iter().find(|(_, _, arguments)| arguments.len() >= 2) else {
        return false;
    };
    let Some(short) = arguments[1].value.text() else {
        reading.doubt("the list of its options is put together while it runs");
        return true;
    };
    let mut letters = short.chars().peekable();
    while let Some(letter) = letters.next() {
        let names = vec![format!("-{letter}")];
        let takes = letters.next_if_eq(&':').is_some();
        reading.add(if takes {
            ScriptOption::with_value(names, ValueForm::NextWord)
        } else {
            ScriptOption::flag(names)
        });
    }
    for long in arguments.get(2).and_then(|long| long.value.texts()).unwrap_or_default() {
        let names = vec![format!("--{}", long.trim_end_matches('='))];
        let option = if long.ends_with('=') {
            ScriptOption::with_value(names, ValueForm::Joined)
        } else {
            ScriptOption::flag(names)
        };
        reading.add(option);
    }
    reading.take_one_list();
    true
}
