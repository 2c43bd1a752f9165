//! Taskfile tasks.

use crate::argument::{Argument, ArgumentKind};
use crate::effect::Effect;
use crate::name::{argument_name, tool_name};
use crate::plain_text::plain_text;
use crate::shell_text::runs_what_follows;
use crate::word::{each, fixed, group, place};
use crate::{FileLocation, Imported, Tool, Unreadable};
use serde_json::Value;

/// Deeper than any Taskfile is.
const DEEPEST: usize = 100;

pub fn read(text: &str, file: FileLocation<'_>) -> Result<Imported, Unreadable> {
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_depth: DEEPEST } };
    let taskfile: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let words = error.without_snippet().to_string();
        Unreadable::Yaml(words.lines().next().unwrap_or_default().to_owned())
    })?;
    let tasks = taskfile["tasks"].as_object().ok_or(Unreadable::Missing("tasks"))?;
    let mut imported = Imported::default();
    for name in taskfile["includes"].as_object().into_iter().flatten().map(|(name, _)| name) {
        imported
            .leave_out(format!("include {name}"), "other files are not followed; import them by themselves");
    }
    for (name, task) in tasks {
        if imported.is_full() {
            break;
        }
        if task["internal"] == true {
            continue;
        }
        match unusable(name, task) {
            Some(why) => imported.leave_out(name, why),
            None => match tool(name, task, file, &mut imported) {
                Some(tool) => imported.tools.push(tool),
                None => {
                    imported.leave_out(name, "its name has no letter or digit that a tool's name may have");
                }
            },
        }
    }
    Ok(imported)
}

fn unusable(name: &str, task: &Value) -> Option<&'static str> {
    if name.contains('*') {
        return Some("its name has places for words, which cannot be told from a Taskfile yet");
    }
    if name.starts_with('-') || name.contains('=') {
        return Some("its name would be taken for something else");
    }
    if required(task)
        .iter()
        .any(|(variable, kind)| *kind == ArgumentKind::HarmlessText && is_run(task, variable))
    {
        return Some("it runs the value of a variable that it requires as a command");
    }
    task.get("prompt").is_some().then_some("it asks for a confirmation, which no user can give")
}

fn tool(name: &str, task: &Value, file: FileLocation<'_>, imported: &mut Imported) -> Option<Tool> {
    let words = |key: &str| task[key].as_str().map(str::trim).filter(|words| !words.is_empty());
    let mut command = vec![fixed("task"), fixed("--taskfile"), fixed(&file.path()), fixed(name)];
    let mut arguments: Vec<Argument> = Vec::new();
    for (variable, kind) in required(task) {
        let Some(name) = argument_name(&variable) else { continue };
        command.push(format!("{variable}={}", place(&name)).into());
        arguments.push(Argument { is_required: true, ..Argument::new(name, kind) });
    }
    for (variable, value) in with_default(task) {
        let Some(argument) = argument_name(variable) else { continue };
        if arguments.iter().any(|known| known.name == argument) {
            continue;
        }
        if is_run(task, variable) {
            imported.leave_out(format!("{name} {variable}"), "the task runs its value as a command");
            continue;
        }
        command.push(group(&[format!("{variable}={}", place(&argument))]));
        let description = format!("Default: {}", plain_text(value));
        arguments.push(Argument { description, ..Argument::new(argument, ArgumentKind::HarmlessText) });
    }
    if task.to_string().contains(".CLI_ARGS") && is_run(task, "CLI_ARGS") {
        imported.leave_out(format!("{name} CLI_ARGS"), "the task runs it as a command");
    } else if task.to_string().contains(".CLI_ARGS") {
        let kind = ArgumentKind::HarmlessList;
        let description = "Words that the task passes on".to_owned();
        command.push(group(&["--".to_owned(), each("args")]));
        arguments.push(Argument { description, ..Argument::new("args", kind) });
    }
    let description = words("desc").or_else(|| words("summary")).map(plain_text);
    Some(Tool {
        name: tool_name(name)?,
        origin: name.to_owned(),
        description: description.unwrap_or_else(|| format!("Runs the task `{name}` of {}", file.file)),
        arguments,
        command,
        effect: Effect::of_recipe(name),
        ..Tool::default()
    })
}

/// Whether one of its commands would run the value of a variable.
fn is_run(task: &Value, variable: &str) -> bool {
    let mut texts = Vec::new();
    commands(task, &mut texts);
    let dotted = format!(".{variable}");
    texts.iter().flat_map(|text| text.lines()).any(|line| {
        let pasted = line.match_indices("{{").filter(|(index, _)| {
            let inner = line[*index..].split("}}").next().unwrap_or_default();
            inner
                .split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '.'))
                .any(|word| word == dotted)
        });
        let named = [format!("${variable}"), format!("${{{variable}")];
        let expanded = named.iter().flat_map(|name| line.match_indices(&**name));
        pasted.chain(expanded).any(|(index, _)| runs_what_follows(&line[..index]))
    })
}

/// All texts of a task that a shell reads.
fn commands<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    const NO_COMMANDS: [&str; 11] = [
        "aliases",
        "desc",
        "dir",
        "dotenv",
        "env",
        "generates",
        "label",
        "requires",
        "sources",
        "summary",
        "task",
    ];
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| commands(value, texts)),
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| !NO_COMMANDS.contains(&&***key)) {
                // A variable is a text, or the output of a command.
                if key == "vars" {
                    let dynamic =
                        value.as_object().into_iter().flatten().filter_map(|(_, value)| value.get("sh"));
                    dynamic.for_each(|command| commands(command, texts));
                } else {
                    commands(value, texts);
                }
            }
        }
        _ => {}
    }
}

/// The variables that the task says it requires: names, or names with the values they may have.
fn required(task: &Value) -> Vec<(String, ArgumentKind)> {
    let variables = task["requires"]["vars"].as_array().into_iter().flatten();
    let read = |variable: &Value| {
        let name = variable.as_str().or_else(|| variable["name"].as_str())?;
        let choices = variable["enum"].as_array().into_iter().flatten();
        let choices: Vec<String> = choices.filter_map(Value::as_str).map(str::to_owned).collect();
        let kind = if choices.is_empty() { ArgumentKind::HarmlessText } else { ArgumentKind::OneOf(choices) };
        is_variable(name).then(|| (name.to_owned(), kind))
    };
    variables.filter_map(read).collect()
}

/// The variables that use a given value, or else a default: `NAME: '{{.NAME | default "x"}}'`.
fn with_default(task: &Value) -> impl Iterator<Item = (&str, &str)> {
    let variables = task["vars"].as_object().into_iter().flatten();
    variables.filter_map(|(name, value)| {
        let value = value.as_str()?;
        let takes_given =
            value.contains("{{") && value.contains(&format!(".{name}")) && value.contains("default");
        (takes_given && is_variable(name)).then_some((&**name, value))
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HERE: FileLocation<'_> = FileLocation { folder: "", file: "Taskfile.yml" };

    #[test]
    fn tasks_become_tools_with_their_required_variables() {
        let imported = read(
            r#"
version: '3'
includes: {docs: ./docs}
tasks:
  build: go build
  greet:
    desc: Says hello
    requires: {vars: [NAME, {name: MOOD, enum: [kind, grim]}]}
    vars:
      GREETING: '{{.GREETING | default "Hello"}}'
      FIXED: x
    cmds: ["echo {{.GREETING}} {{.NAME}} {{.CLI_ARGS}}"]
  docker:push: {cmds: [x]}
  secret: {internal: true}
  careful: {prompt: Sure?, cmds: [x]}
  'to:*': {cmds: [x]}
"#,
            HERE,
        )
        .unwrap();
        let shown: Vec<String> = imported
            .tools
            .iter()
            .map(|tool| format!("{}: {}", tool.command_words(), tool.description))
            .collect();
        assert_eq!(
            shown,
            [
                "task --taskfile Taskfile.yml build: Runs the task `build` of Taskfile.yml",
                "task --taskfile Taskfile.yml greet NAME={NAME} MOOD={MOOD} [GREETING={GREETING}] [-- {args...}]: Says hello",
                "task --taskfile Taskfile.yml docker:push: Runs the task `docker:push` of Taskfile.yml",
            ]
        );
        let schema = &imported.tools[1].metadata()["inputSchema"];
        assert_eq!(schema["required"], json!(["NAME", "MOOD"]));
        assert_eq!(schema["properties"]["MOOD"], json!({ "type": "string", "enum": ["kind", "grim"] }));
        assert_eq!(imported.tools[2].effect, Some(Effect::Destroys));
        let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
        assert_eq!(left_out, ["include docs", "careful", "to:*"]);
    }

    #[test]
    fn a_variable_that_is_run_is_not_an_argument() {
        let imported = read(
            r#"
tasks:
  any: {requires: {vars: [CMD]}, cmds: ["{{.CMD}} now"]}
  with: {vars: {TOOL: '{{.TOOL | default "ls"}}', DIR: '{{.DIR | default "."}}'}, cmds: [{cmd: "cd x && {{.TOOL}} {{.DIR}}"}]}
  shell: {vars: {X: {sh: 'sh -c "echo {{.NAME}}"'}, NAME: '{{.NAME | default "x"}}'}, cmds: [ls]}
  pass: {cmds: ["{{.CLI_ARGS}}"]}
"#,
            HERE,
        )
        .unwrap();
        let shown: Vec<String> = imported.tools.iter().map(Tool::command_words).collect();
        assert_eq!(
            shown,
            [
                "task --taskfile Taskfile.yml with [DIR={DIR}]",
                "task --taskfile Taskfile.yml shell",
                "task --taskfile Taskfile.yml pass",
            ]
        );
        let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
        assert_eq!(left_out, ["any", "with TOOL", "shell NAME", "pass CLI_ARGS"]);
    }

    #[test]
    fn an_invalid_taskfile_is_refused() {
        assert_eq!(read("version: 3", HERE), Err(Unreadable::Missing("tasks")));
        for text in ["a: [", &"[".repeat(50_000), "a: &a [*a]\n", "\0"] {
            assert!(
                matches!(read(text, HERE), Err(Unreadable::Yaml(_) | Unreadable::Missing(_))),
                "{text:.20}"
            );
        }
    }
}
