//! Arbitrary mappings with hostile values: no value becomes an option, a separate word or code.
//!
//! The result of a mapping is compared with a simple model of it. Then the real programs run the words, in
//! their own folder. No fixed word names the canary program, and every hostile value tries to run it: if the
//! canary ran, a value was executed as code. Makefiles with a variable in arbitrary places are imported,
//! called and checked in the same way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_importing::{FileLocation, read_makefile};
use mcp_bash_project::{Catalog, Execution, Mapping, Part, Paths, Reading, Template, Word, Words};
use mcp_bash_scripts::{Mapped, map_arguments};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Programs that run others or read code, and that are harmless here.
const PROGRAMS: [&str; 16] = [
    "sh", "bash", "env", "nice", "timeout", "xargs", "nohup", "stdbuf", "flock", "script", "awk", "sed", "find", "tar", "make", "echo",
];

/// Fixed words: options, programs, operands and code that uses no value.
const FIXED: [&str; 36] = [
    "-c", "-lc", "-e", "-n", "-S", "-i", "-f", "-x", "-qc", "-I", "-exec", "-name", "-xf", "--", "-o", "5", "pipefail", "sh", "env", "bash",
    "awk", "echo", "file", "a.tar", "echo \"$1\"", "A=1", ";", ".", "{{}}", "--command", "--file", "p", "1p", "-u", "errexit", "all",
];

/// Words with a placeholder for a value.
const PLACES: [&str; 20] = [
    "{x}", "{x}{y}", "{xs...}", "a{x}", "N={x}", "LD_PRELOAD={x}", "SHELL={x}", "echo {x}", "echo \"{x}\"", "--split-string={x}",
    "--to-command={x}", "--expression={x}", "--eval={x}", "--command={x}", "-c{x}", "-e{x}", "-S{x}", "-I{x}", "--file={x}", "{y}",
];

/// Values that run the canary if they are read as code; `@` is its path.
const HOSTILE: [&str; 22] = [
    "@", "$(@)", "`@`", ";@;", "x;@", "'\n@\n'", "\";@;\"", "$(shell @)", "BEGIN{system(\"@\")}", "1e@", "e@\n", "-c", "--eval=$(shell @)",
    "-exec", "--to-command=@", "--checkpoint-action=exec=@", "a=b", "SHELL=@", "all:;@", "", "harmless", "a b",
];

/// Lines of a recipe; `@` is a variable.
const RECIPES: [&str; 16] = [
    "echo @", "echo '@'", "echo \"@\"", "@", "@ x", "sh -c '@'", "sh -c \"echo @\"", "eval @", "eval \"echo @\"", "cat file @", "x=@; echo $$x",
    "echo `echo @`", "test -n @ && echo y", "echo x | xargs @", "env A=@ echo", "awk '@' file",
];

/// Reads choices from the bytes of an input; the first choice after their end.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn number(&mut self, below: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % below
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.number(list.len())]
    }

    fn words(&mut self) -> Vec<Value> {
        (0..self.number(4) + 1).map(|_| self.word()).collect()
    }

    fn word(&mut self) -> Value {
        match self.number(4) {
            0 => self.one_of(&PLACES).into(),
            // `allowDash: true` is the author's responsibility, so it is not generated.
            1 => json!({ "word": self.one_of(&["{x}", "{y}"]), "allowDash": false }),
            _ => self.one_of(&FIXED).into(),
        }
    }

    fn element(&mut self) -> Value {
        match self.number(7) {
            0 => self.words().into(),
            // An option that often takes code, and a value.
            6 => json!([self.one_of(&["-c", "-lc", "-S", "-e", "-qc", "-exec"]), self.one_of(&PLACES)]),
            1 => json!([self.one_of(&FIXED), "{xs}", "..."]),
            2 => json!({ "flag": self.one_of(&FIXED), "if": "yes" }),
            _ => self.word(),
        }
    }

    fn hostile(&mut self) -> String {
        self.one_of(&HOSTILE).replace('@', &STAGE.canary)
    }

    fn arguments(&mut self) -> Value {
        let mut arguments = Map::new();
        for name in ["x", "y"] {
            if self.number(8) > 0 {
                arguments.insert(name.to_owned(), self.hostile().into());
            }
        }
        let list = (0..self.number(3)).map(|_| self.hostile()).collect::<Vec<_>>();
        arguments.insert("xs".to_owned(), list.into());
        arguments.insert("yes".to_owned(), (self.number(2) == 1).into());
        arguments.into()
    }
}

struct Stage {
    root: PathBuf,
    /// The path of a program that leaves a mark.
    canary: String,
    mark: PathBuf,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("mcp-bash-fuzz-mapping-{}", std::process::id()));
    let work = root.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(root.join("tools")).unwrap();
    let (canary, mark) = (root.join("canary"), root.join("mark"));
    fs::write(&canary, format!("#!/bin/sh\n: >{}\n", mark.display())).unwrap();
    fs::set_permissions(&canary, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(work.join("file"), "one\n").unwrap();
    let tar = Command::new("tar").args(["-cf", "a.tar", "file"]).current_dir(&work).status();
    assert!(tar.unwrap().success());
    Stage { canary: canary.to_str().unwrap().to_owned(), root, mark }
});

impl Stage {
    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The command that a server would run for this metadata, if it is valid.
    fn served(&self, metadata: &Value) -> Option<(String, Mapping)> {
        fs::write(self.root.join("tools/t.meta.json"), metadata.to_string()).unwrap();
        let catalog = Catalog::read(&Paths::of(&self.root), &Reading::default());
        match &catalog.tools.items().first()?.execution {
            Execution::Command { program, mapping } => Some((program.clone(), mapping.clone())),
            _ => None,
        }
    }

    /// Runs the command of a call, and returns whether the canary ran.
    fn sings(&self, program: &str, mapped: &Mapped) -> bool {
        let _ = fs::remove_file(&self.mark);
        // A file and not a pipe: a program that exits without reading would end us by a signal.
        let input = self.root.join("input");
        fs::write(&input, mapped.input.as_deref().unwrap_or_default()).unwrap();
        let input = fs::File::open(&input).unwrap();
        let mut command = Command::new(program);
        command.args(&mapped.words).envs(mapped.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.work()).stdout(Stdio::null()).stderr(Stdio::null()).stdin(input);
        let Ok(mut child) = command.spawn() else { return false };
        let end = Instant::now() + Duration::from_secs(2);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                let _ = child.kill();
            }
            std::thread::yield_now();
        }
        self.mark.exists()
    }
}

/// The text of an argument, in the simplest form.
fn text(arguments: &Value, name: &str) -> Option<String> {
    arguments[name].as_str().map(str::to_owned)
}

/// The words of a template; none if an argument is absent.
fn model_word(word: &Word, arguments: &Value, element: Option<&str>) -> Option<Vec<String>> {
    let Template { parts } = &word.template;
    let list = word.template.list();
    let elements: Vec<Option<String>> = match list {
        Some(list) => arguments[list].as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        None => vec![element.map(str::to_owned)],
    };
    let fill = |element: Option<String>| {
        parts.iter().map(|part| match part {
            Part::Fixed(fixed) => Some(fixed.clone()),
            Part::Each(_) => element.clone(),
            Part::Argument(name) if list.is_none() => element.clone().or_else(|| text(arguments, name)),
            Part::Argument(name) => text(arguments, name),
        }).collect::<Option<String>>()
    };
    elements.into_iter().map(fill).collect()
}

/// The words of a mapping, each with the word of the mapping that it comes from.
fn model<'m>(mapping: &'m Mapping, arguments: &Value) -> Option<Vec<(Option<&'m Word>, String)>> {
    let mut all = Vec::new();
    for words in &mapping.words {
        match words {
            Words::Word(word) => all.extend(model_word(word, arguments, None)?.into_iter().map(|text| (Some(word), text))),
            Words::Group(words) => {
                let made: Option<Vec<_>> = words.iter().map(|word| {
                    let made = model_word(word, arguments, None)?;
                    (word.template.list().is_none() || !made.is_empty()).then_some((word, made))
                }).collect();
                for (word, made) in made.into_iter().flatten() {
                    all.extend(made.into_iter().map(|text| (Some(word), text)));
                }
            }
            Words::Repeated { words, list } => {
                for element in arguments[list].as_array().into_iter().flatten() {
                    for word in words {
                        let made = model_word(word, arguments, element.as_str())?;
                        all.extend(made.into_iter().map(|text| (Some(word), text)));
                    }
                }
            }
            Words::Flag { word, argument } if arguments[argument] == true => all.push((None, word.clone())),
            Words::Flag { .. } => {}
        }
    }
    Some(all)
}

/// No word is a value that starts with `-`, except after `--`.
fn check_words(metadata: &Value, mapping: &Mapping, arguments: &Value, mapped: &Mapped) {
    let model = model(mapping, arguments).expect("what is absent was refused");
    let texts: Vec<&str> = model.iter().map(|(_, text)| &**text).collect();
    assert_eq!(mapped.words, texts, "{metadata} with {arguments}");
    for (word, text) in &model {
        let Some(word) = word.filter(|word| word.template.fixed().is_none()) else { continue };
        let begins_with_value = word.template.prefix().is_empty();
        assert!(!begins_with_value || word.may_begin_with_dash || !text.starts_with('-'), "{metadata} with {arguments}");
    }
}

fn check_command(choices: &mut Choices<'_>) {
    let mut command: Vec<Value> = vec![choices.one_of(&PROGRAMS).into()];
    command.extend((0..choices.number(5) + 1).map(|_| choices.element()));
    let mut metadata = json!({ "command": command });
    match choices.number(4) {
        0 => metadata["stdin"] = "{x}".into(),
        1 => metadata["env"] = json!({ choices.one_of(&["A", "BASH_ENV", "MAKEFLAGS", "TAR_OPTIONS", "NAME", "ENV"]): "{x}" }),
        _ => {}
    }
    let arguments = choices.arguments();
    check(&metadata, &arguments);
}

fn check(metadata: &Value, arguments: &Value) {
    let Some((program, mapping)) = STAGE.served(metadata) else { return };
    let Ok(mapped) = map_arguments(&mapping, &arguments.to_string()) else { return };
    check_words(metadata, &mapping, arguments, &mapped);
    assert!(!STAGE.sings(&program, &mapped), "{metadata} ran a value of {arguments}");
}

fn check_recipe(choices: &mut Choices<'_>) {
    let place = choices.one_of(&["$(X)", "${X}", "$(Y)", "$$X", "$${X}", "a$(X)b"]);
    let lines: Vec<String> =
        (0..choices.number(3) + 1).map(|_| format!("\t{}", choices.one_of(&RECIPES).replace('@', place))).collect();
    let makefile = format!("X ?= x\nY = {}$(X)\nexport X\n.PHONY: all\nall:\n{}\n", choices.one_of(&["", "a "]), lines.join("\n"));
    fs::write(STAGE.work().join("Makefile"), &makefile).unwrap();
    let work = STAGE.work();
    let folder = work.to_str().unwrap();
    let imported = read_makefile(&makefile, FileLocation { folder, file: "Makefile" });
    for tool in imported.tools {
        check(&tool.metadata(), &json!({ "X": choices.hostile() }));
    }
    let _ = fs::remove_file(STAGE.work().join("Makefile"));
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices(bytes);
    match choices.number(4) {
        0 => check_recipe(&mut choices),
        _ => check_command(&mut choices),
    }
});
