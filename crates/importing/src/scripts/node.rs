//! Node scripts: `util.parseArgs`, commander, yargs, and `process.argv`.

use super::calls::{Argument, Token, Value, calls, has_call, tokens, uses_of};
use super::reading::{ScriptOption, ScriptPositional, ScriptReading, ScriptVariable, ValueForm};
use super::{comment, variable};
use crate::argument::ArgumentKind;
use crate::effect::Effect;

/// Calls that change, send or delete something.
const CHANGES: [&str; 21] = [
    "appendFile",
    "appendFileSync",
    "chmod",
    "chmodSync",
    "copyFile",
    "copyFileSync",
    "createWriteStream",
    "mkdir",
    "mkdirSync",
    "rename",
    "renameSync",
    "rm",
    "rmSync",
    "rmdir",
    "rmdirSync",
    "truncate",
    "unlink",
    "unlinkSync",
    "writeFile",
    "writeFileSync",
    "kill",
];

pub(super) fn read(text: &str) -> ScriptReading {
    let tokens = tokens(text, false);
    let mut reading = ScriptReading { description: header(text), ..ScriptReading::default() };
    let uses = |name: &str| {
        tokens.iter().any(|token| matches!(token, Token::Text(module) if module == name || module.starts_with(&format!("{name}/"))))
    };
    if let Some((_, _, arguments)) = calls(&tokens, &["parseArgs"]).into_iter().next() {
        parse_args(&arguments, &mut reading);
    } else if uses("commander") {
        commander(&tokens, &mut reading);
    } else if uses("yargs") {
        yargs(&tokens, &mut reading);
    } else {
        words(&tokens, &mut reading);
    }
    variables(&tokens, &mut reading);
    let has_method = tokens.windows(3).any(|window| {
        matches!(window, [Token::Name(key), Token::Sign(':'), Token::Text(method)] if key == "method" && method != "GET")
    });
    if has_method || has_call(&tokens, &CHANGES) {
        reading.effect = Some(Effect::Destroys);
    }
    if has_call(&tokens, &["execSync", "eval"]) {
        reading.doubt("it runs text as code or in a shell: look whether an argument becomes part of it");
    }
    reading
}

/// The comment at the beginning: `// …` or `/* … */`.
fn header(text: &str) -> Option<String> {
    let text =
        text.split_once('\n').filter(|(first, _)| first.starts_with("#!")).map_or(text, |(_, rest)| rest);
    let text = text.trim_start();
    if let Some(body) = text.strip_prefix("/*") {
        let body = &body[..body.find("*/")?];
        return comment::paragraph(
            &body.lines().map(|line| line.trim().trim_start_matches('*').trim()).collect::<Vec<_>>(),
        );
    }
    comment::of_header(text, "//")
}

fn parse_args(arguments: &[Argument], reading: &mut ScriptReading) {
    let Some(given) = arguments.first().map(|first| &first.value) else {
        return reading.doubt("the list of its options is put together while it runs");
    };
    match given.member("options") {
        Some(Value::Object(options)) => {
            for (name, option) in options {
                let mut names = vec![format!("--{name}")];
                names.extend(option.member("short").and_then(Value::text).map(|short| format!("-{short}")));
                let is_repeated = option.member("multiple").is_some_and(Value::is_true);
                let mut found = match option.member("type").and_then(Value::text) {
                    Some("boolean") => ScriptOption::flag(names),
                    Some(_) => {
                        ScriptOption { is_repeated, ..ScriptOption::with_value(names, ValueForm::Joined) }
                    }
                    None => {
                        reading.doubt(format!("whether `--{name}` takes a value is not clear"));
                        ScriptOption::flag(names)
                    }
                };
                found.default =
                    option.member("default").and_then(Value::shown).filter(|_| found.value.is_some());
                reading.options.push(found);
            }
        }
        None if given.member("args").is_some() || matches!(given, Value::Object(_)) => {}
        _ => reading.doubt("the list of its options is put together while it runs"),
    }
    let takes_words = given.member("allowPositionals").is_some_and(Value::is_true)
        || given.member("strict").is_some_and(|strict| strict.name() == Some("false"));
    if takes_words {
        reading.positionals.push(ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false));
    }
}

fn commander(tokens: &[Token], reading: &mut ScriptReading) {
    let commands = calls(tokens, &["command"]);
    let named: Vec<String> = commands
        .iter()
        .filter_map(|(_, _, arguments)| Some(arguments.first()?.value.text()?.split(' ').next()?.to_owned()))
        .collect();
    let described = calls(tokens, &["description"])
        .into_iter()
        .find_map(|(_, _, arguments)| arguments.first()?.value.text().map(str::to_owned));
    reading.description = described.or(reading.description.take());
    if !commands.is_empty() {
        return super::commands(named, commands.len(), reading);
    }
    for (_, name, arguments) in
        calls(tokens, &["option", "requiredOption", "argument", "arguments", "addOption"])
    {
        let text = |index: usize| arguments.get(index).and_then(|argument| argument.value.text());
        let described = text(1).unwrap_or_default().to_owned();
        match (&*name, text(0)) {
            ("option" | "requiredOption", Some(specification)) => {
                let Some(mut option) = specified(specification) else {
                    reading.doubt(format!("`{specification}` is not clear"));
                    continue;
                };
                option.description = described;
                option.is_required = name == "requiredOption" && option.value.is_some();
                let default = arguments.iter().skip(2).find_map(|argument| argument.value.shown());
                option.default = default.filter(|_| option.value.is_some());
                if matches!(
                    arguments.get(2).and_then(|third| third.value.name()),
                    Some("parseInt" | "Number")
                ) {
                    option.kind = ArgumentKind::Integer;
                }
                if specification.contains('[') && option.value.is_some() {
                    reading.gap(format!("the value of `{}` may be left out", option.names[0]));
                }
                reading.options.push(option);
            }
            ("argument" | "arguments", Some(words)) => {
                for word in words.split_whitespace() {
                    let is_list = word.contains("...");
                    let bare = word.trim_matches(['<', '>', '[', ']']).trim_end_matches('.');
                    let kind = if is_list { ArgumentKind::List(Vec::new()) } else { ArgumentKind::Text };
                    let mut positional = ScriptPositional::new(bare, kind, !word.starts_with('['));
                    positional.description.clone_from(&described);
                    reading.positionals.push(positional);
                }
            }
            _ => reading.doubt("an option is put together while it runs, and is not in the draft"),
        }
    }
}

/// `-p, --port <number>`
fn specified(specification: &str) -> Option<ScriptOption> {
    let (mut names, mut value) = (Vec::new(), None);
    for word in specification.split([' ', ',', '|']).filter(|word| !word.is_empty()) {
        if let Some(name) = word.strip_prefix('-') {
            // `--no-color` is a flag of that name.
            let (name, joined) =
                name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
            names.push(format!("-{name}"));
            value = value.or(joined);
        } else {
            value = Some(word);
        }
    }
    let form =
        if names.iter().any(|name| name.starts_with("--")) { ValueForm::Joined } else { ValueForm::NextWord };
    if names.is_empty() {
        return None;
    }
    Some(match value {
        None => ScriptOption::flag(names),
        Some(value) if value.contains("...") => ScriptOption {
            kind: ArgumentKind::List(Vec::new()),
            ..ScriptOption::with_value(names, ValueForm::NextWords)
        },
        Some(_) => ScriptOption::with_value(names, form),
    })
}

fn yargs(tokens: &[Token], reading: &mut ScriptReading) {
    let commands = calls(tokens, &["command"]);
    let named: Vec<String> = commands
        .iter()
        .filter_map(|(_, _, arguments)| Some(arguments.first()?.value.text()?.split(' ').next()?.to_owned()))
        .filter(|name| name != "$0")
        .collect();
    if !named.is_empty() {
        return super::commands(named, commands.len(), reading);
    }
    for (_, name, arguments) in calls(tokens, &["option", "options", "demandOption", "boolean", "alias"]) {
        let first = arguments.first().map(|first| &first.value);
        match (&*name, first) {
            ("option" | "options", Some(Value::Text(name))) => {
                yargs_option(name, arguments.get(1).map(|second| &second.value), reading);
            }
            ("option" | "options", Some(Value::Object(options))) => {
                for (name, option) in options {
                    yargs_option(name, Some(option), reading);
                }
            }
            _ => reading.doubt("an option is put together while it runs, and is not in the draft"),
        }
    }
    let has_words =
        tokens.windows(2).any(|pair| matches!(pair, [Token::Sign('.'), Token::Name(name)] if name == "_"));
    if has_words {
        reading.positionals.push(ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false));
    }
}

fn yargs_option(name: &str, option: Option<&Value>, reading: &mut ScriptReading) {
    let member = |key: &str| option.and_then(|option| option.member(key));
    let mut names = vec![format!("--{name}")];
    match member("alias") {
        Some(Value::Text(alias)) => {
            names.push(if alias.chars().count() == 1 { format!("-{alias}") } else { format!("--{alias}") });
        }
        Some(Value::List(_)) | None => {}
        Some(_) => reading.doubt(format!("other names of `--{name}` are not clear")),
    }
    let choices = member("choices").and_then(Value::texts);
    let mut found = match (member("type").and_then(Value::text), choices) {
        (_, Some(choices)) => ScriptOption {
            kind: ArgumentKind::OneOf(choices),
            ..ScriptOption::with_value(names, ValueForm::Joined)
        },
        (Some("boolean" | "count"), _) => ScriptOption::flag(names),
        (Some("number"), _) => {
            ScriptOption { kind: ArgumentKind::Number, ..ScriptOption::with_value(names, ValueForm::Joined) }
        }
        (Some("array"), _) => {
            ScriptOption { is_repeated: true, ..ScriptOption::with_value(names, ValueForm::Joined) }
        }
        (Some(_), _) => ScriptOption::with_value(names, ValueForm::Joined),
        (None, _) => {
            reading.doubt(format!("whether `--{name}` takes a value is not clear"));
            ScriptOption::with_value(names, ValueForm::Joined)
        }
    };
    let described =
        ["describe", "description", "desc"].iter().find_map(|key| member(key).and_then(Value::text));
    described.unwrap_or_default().clone_into(&mut found.description);
    found.default = member("default").and_then(Value::shown).filter(|_| found.value.is_some());
    let is_demanded = ["demandOption", "demand", "required"]
        .iter()
        .any(|key| member(key).is_some_and(|value| value.name() != Some("false")));
    found.is_required = is_demanded && found.value.is_some() && found.default.is_none();
    reading.options.push(found);
}

/// `process.argv[2]`, `process.argv.slice(2)`
fn words(tokens: &[Token], reading: &mut ScriptReading) {
    let mut last = 0;
    let mut names = std::collections::BTreeMap::new();
    let mut has_rest = false;
    for (index, line) in uses_of(tokens, "argv") {
        match (tokens.get(index + 1), tokens.get(index + 2)) {
            (Some(Token::Sign('[')), Some(Token::Number(number))) => {
                if let Ok(position @ 2..12) = number.parse::<usize>() {
                    last = last.max(position - 1);
                    if let [_, Token::Name(name), Token::Sign('='), ..] = line {
                        names.insert(position - 1, name.clone());
                    }
                }
            }
            _ => has_rest = true,
        }
    }
    for position in 1..=last {
        let name = names.remove(&position).unwrap_or_else(|| format!("arg{position}"));
        reading.positionals.push(ScriptPositional::new(name, ArgumentKind::Text, true));
    }
    if last > 0 {
        reading.doubt("which of its words it requires is not clear");
    }
    if has_rest {
        reading.positionals.push(ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false));
        reading.doubt("it reads `process.argv` by itself: which options it knows is not clear");
    }
}

/// `process.env.NAME`
fn variables(tokens: &[Token], reading: &mut ScriptReading) {
    let mut found = Vec::new();
    for window in tokens.windows(3) {
        if let [Token::Name(env), Token::Sign('.'), Token::Name(name)] = window
            && env == "env"
        {
            found.push(ScriptVariable {
                name: name.clone(),
                description: String::new(),
                default: None,
                is_required: false,
            });
        }
    }
    variable::enter(found, reading);
}
