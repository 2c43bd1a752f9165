//! package.json scripts. The package manager that the file names runs them.

use crate::argument::{Argument, ArgumentKind};
use crate::effect::Effect;
use crate::name::tool_name;
use crate::plain_text::plain_text;
use crate::shell_text::runs_what_follows;
use crate::word::{each, fixed, group};
use crate::{FileLocation, Imported, Tool, Unreadable};
use serde_json::{Map, Value};

/// Scripts that a package manager runs by itself, before or after others.
const HOOKS: [&str; 9] = [
    "install",
    "postinstall",
    "postpack",
    "postprepare",
    "preinstall",
    "prepack",
    "prepare",
    "prepublish",
    "prepublishOnly",
];

pub fn read(text: &str, place: FileLocation<'_>) -> Result<Imported, Unreadable> {
    let package: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Unreadable::Json(error.to_string()))?;
    let scripts = package["scripts"].as_object().ok_or(Unreadable::Missing("scripts"))?;
    let manager = Manager::of(package["packageManager"].as_str().unwrap_or_default());
    let mut imported = Imported::default();
    for (name, script) in scripts {
        if imported.is_full() {
            break;
        }
        let Some(script) = script.as_str() else {
            imported.leave_out(name, "its command is no text");
            continue;
        };
        if let Some(why) = belongs_to_another(name, scripts) {
            imported.leave_out(name, why);
            continue;
        }
        let Some(tool) = tool_name(name) else {
            imported.leave_out(name, "its name has no letter or digit that a tool's name may have");
            continue;
        };
        // A package manager appends the words to the text of the command.
        let takes_words = !runs_what_follows(&format!("{script} "));
        if !takes_words {
            imported.leave_out(format!("{name} args"), "the script would run words that are added to it");
        }
        let args = takes_words.then(|| Argument {
            description: "Words that are added to the command of the script".to_owned(),
            ..Argument::new("args", ArgumentKind::HarmlessList)
        });
        imported.tools.push(Tool {
            name: tool,
            origin: name.clone(),
            description: description(name, script, &package),
            command: manager.command(name, place.folder, args.is_some()),
            arguments: args.into_iter().collect(),
            effect: Effect::of_recipe(name),
            ..Tool::default()
        });
    }
    Ok(imported)
}

/// Why a script is not one that people call.
fn belongs_to_another(name: &str, scripts: &Map<String, Value>) -> Option<String> {
    if HOOKS.contains(&name) {
        return Some("package managers run it by themselves".to_owned());
    }
    if name.starts_with('-') {
        return Some("it would be taken for an option".to_owned());
    }
    let other = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"))?;
    scripts.contains_key(other).then(|| format!("it runs with `{other}`"))
}

/// A description of the script if the file has one, else its command.
fn description(name: &str, script: &str, package: &Value) -> String {
    let keys = ["scripts-info", "scriptsInfo", "scriptsDescription", "scripts-description"];
    let known = keys.iter().find_map(|key| package[*key][name].as_str());
    let ntl = || package["ntl"]["descriptions"][name].as_str();
    match known.or_else(ntl).map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => plain_text(words),
        None => format!("Runs the script `{name}` of package.json: {}", plain_text(script)),
    }
}

#[derive(Clone, Copy)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    /// By the name before the `@` of `packageManager`.
    fn of(name: &str) -> Self {
        match name.split('@').next() {
            Some("pnpm") => Self::Pnpm,
            Some("yarn") => Self::Yarn,
            Some("bun") => Self::Bun,
            _ => Self::Npm,
        }
    }

    fn command(self, script: &str, folder: &str, takes_words: bool) -> Vec<Value> {
        let (program, folder_option) = match self {
            Self::Npm => ("npm", "--prefix"),
            Self::Pnpm => ("pnpm", "--dir"),
            Self::Yarn => ("yarn", "--cwd"),
            Self::Bun => ("bun", "--cwd"),
        };
        let mut command = vec![fixed(program)];
        if !folder.is_empty() {
            command.extend([fixed(folder_option), fixed(folder)]);
        }
        command.push(fixed("run"));
        if matches!(self, Self::Npm) {
            // Without it the result begins with two lines about npm itself.
            command.push(fixed("--silent"));
        }
        command.push(fixed(script));
        // Only npm reads options after the name; the others would pass the `--` to the script.
        match self {
            _ if !takes_words => {}
            Self::Npm => command.push(group(&["--".to_owned(), each("args")])),
            _ => command.push(group(&[each("args")])),
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HERE: FileLocation<'_> = FileLocation { folder: "", file: "package.json" };

    fn imported(package: &Value) -> Imported {
        read(&package.to_string(), HERE).unwrap()
    }

    #[test]
    fn scripts_become_tools_and_hooks_do_not() {
        let imported = imported(&json!({
            "scripts": {
                "build": "tsc", "prebuild": "rm -r x", "postinstall": "x", "test:unit": "vitest", "n": 1, "--": "x", "predict": "y",
            },
            "scripts-info": { "test:unit": "Runs the unit tests" },
        }));
        let names: Vec<_> = imported.tools.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
        assert_eq!(
            names,
            [
                ("build", "Runs the script `build` of package.json: tsc"),
                ("test-unit", "Runs the unit tests"),
                ("predict", "Runs the script `predict` of package.json: y"),
            ]
        );
        let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
        assert_eq!(left_out, ["prebuild", "postinstall", "n", "--"]);
        assert_eq!(
            imported.tools[1].metadata()["command"],
            json!(["npm", "run", "--silent", "test:unit", ["--", "{args...}"]])
        );
    }

    #[test]
    fn the_package_manager_is_the_one_that_is_named() {
        let command = |manager: &str, folder| {
            let package = json!({ "packageManager": manager, "scripts": { "x": "y" } }).to_string();
            read(&package, FileLocation { folder, file: "package.json" }).unwrap().tools[0].command_words()
        };
        assert_eq!(command("pnpm@9.1.0", "web"), "pnpm --dir web run x [{args...}]");
        assert_eq!(command("yarn@4", ""), "yarn run x [{args...}]");
        assert_eq!(command("bun@1", "w e b"), "bun --cwd 'w e b' run x [{args...}]");
        assert_eq!(command("", "web"), "npm --prefix web run --silent x [-- {args...}]");
    }

    #[test]
    fn no_word_is_added_where_it_would_be_run() {
        let imported = imported(&json!({
            "scripts": { "a": "node -e", "b": "cd x && ", "c": "sh -c", "d": "npx", "e": "eslint .", "f": "vitest run --dir src" },
        }));
        let with_words = imported.tools.iter().filter(|tool| !tool.arguments.is_empty());
        assert_eq!(with_words.map(|tool| &*tool.name).collect::<Vec<_>>(), ["e", "f"]);
        let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
        assert_eq!(left_out, ["a args", "b args", "c args", "d args"]);
        assert_eq!(imported.tools[0].command_words(), "npm run --silent a");
        assert_eq!(imported.tools[4].arguments[0].kind, ArgumentKind::HarmlessList);
    }

    #[test]
    fn what_is_none_is_refused() {
        assert_eq!(read("{}", HERE), Err(Unreadable::Missing("scripts")));
        assert!(matches!(read("{", HERE), Err(Unreadable::Json(_))));
        assert!(matches!(read(&"[".repeat(100_000), HERE), Err(Unreadable::Json(_))));
    }
}
