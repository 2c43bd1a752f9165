//! Python scripts: argparse, optparse, click, typer, getopt and `sys.argv`. Calls are read from tokens; no interpreter runs.

mod click;
mod parsers;
mod typer;
mod words;

use super::calls::{Token, Value, argument, calls, has_call, tokens};
use super::comment;
use super::reading::{ScriptReading, ScriptVariable};
use crate::effect::Effect;

/// Calls that change, send or delete something.
const CHANGES: [&str; 22] = [
    "remove",
    "unlink",
    "rmtree",
    "rmdir",
    "rename",
    "move",
    "copy",
    "copyfile",
    "copytree",
    "makedirs",
    "mkdir",
    "write_text",
    "write_bytes",
    "post",
    "put",
    "patch",
    "delete",
    "kill",
    "system",
    "truncate",
    "chmod",
    "chown",
];

pub(super) fn read(text: &str) -> ScriptReading {
    let tokens = tokens(text, true);
    let mut reading = ScriptReading { description: docstring(&tokens), ..ScriptReading::default() };
    let described =
        calls(&tokens, &["ArgumentParser", "OptionParser"]).into_iter().find_map(|(_, _, arguments)| {
            argument(&arguments, "description").and_then(Value::text).map(str::to_owned)
        });
    let is_read = click::read(&tokens, &mut reading)
        || typer::read(&tokens, &mut reading)
        || parsers::read(&tokens, &mut reading);
    if !is_read {
        words::read(&tokens, text, &mut reading);
    }
    if let Some(described) = described {
        reading.description =
            comment::paragraph(&described.lines().collect::<Vec<_>>()).or(reading.description);
    }
    reading.description = reading.description.take().or_else(|| comment::of_header(text, "#"));
    variables(&tokens, &mut reading);
    let opens = calls(&tokens, &["open"]).iter().any(|(_, _, arguments)| {
        let mode = arguments.get(1).map(|mode| &mode.value).or_else(|| argument(arguments, "mode"));
        mode.and_then(Value::text).is_some_and(|mode| mode.contains(['w', 'a', 'x', '+']))
    });
    if opens || has_call(&tokens, &CHANGES) {
        reading.effect = Some(Effect::Destroys);
    }
    let is_shell =
        |arguments: &[super::calls::Argument]| argument(arguments, "shell").is_some_and(Value::is_true);
    let runs = calls(&tokens, &["run", "Popen", "call", "check_call", "check_output"])
        .iter()
        .any(|(_, _, arguments)| is_shell(arguments))
        || has_call(&tokens, &["system", "eval", "exec"]);
    if runs {
        reading.doubt("it runs text as code or in a shell: look whether an argument becomes part of it");
    }
    reading
}

/// The text at the beginning of a file.
fn docstring(tokens: &[Token]) -> Option<String> {
    match tokens.iter().find(|token| !matches!(token, Token::Line(_)))? {
        Token::Text(text) => comment::paragraph(&text.lines().collect::<Vec<_>>()),
        _ => None,
    }
}

/// `os.environ["NAME"]`, `os.environ.get("NAME", "default")`, `os.getenv("NAME")`
fn variables(tokens: &[Token], reading: &mut ScriptReading) {
    let mut found: Vec<ScriptVariable> = Vec::new();
    for (index, window) in tokens.windows(3).enumerate() {
        if let [Token::Name(environ), Token::Sign('['), Token::Text(name)] = window
            && environ == "environ"
            && !matches!(tokens.get(index + 4), Some(Token::Sign('=')))
        {
            found.push(ScriptVariable {
                name: name.clone(),
                description: String::new(),
                default: None,
                is_required: true,
            });
        }
    }
    for (index, name, arguments) in calls(tokens, &["getenv", "get"]) {
        let is_environment = name == "getenv"
            || matches!(index.checked_sub(2).map(|at| &tokens[at]), Some(Token::Name(name)) if name == "environ");
        if let Some(name) = arguments.first().and_then(|first| first.value.text()).filter(|_| is_environment)
        {
            let default = arguments.get(1).and_then(|default| default.value.shown());
            found.push(ScriptVariable {
                name: name.to_owned(),
                description: String::new(),
                default,
                is_required: false,
            });
        }
    }
    super::variable::enter(found, reading);
}
