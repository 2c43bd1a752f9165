//! Shebang: whether the system can start the program that the first line of a script names.

use super::surroundings::Surroundings;
use crate::Diagnostic;
use crate::ground::interpreters::is_executable;
use std::path::Path;

/// The kernel reads no more than this of a file to find its interpreter.
const LONGEST: usize = 255;

/// The problem with the `#!` line of a script, which is `line` without its line break.
pub(super) fn check(script: &Path, line: &str, surroundings: Surroundings<'_>) -> Option<Diagnostic> {
    let words = line.strip_prefix("#!")?;
    let wrong = |problem: String, remedy: &str| Some(Diagnostic::error(script, problem, remedy).at_line(1));
    if line.len() > LONGEST {
        return wrong(
            format!("has a `#!` line of more than {LONGEST} bytes, of which the system reads no more"),
            "shorten it, or let it name `/usr/bin/env` and a program on PATH",
        );
    }
    let words = words.trim_matches([' ', '\t']);
    let (program, argument) = words.split_once([' ', '\t']).unwrap_or((words, ""));
    if program.is_empty() {
        return wrong(
            "has a `#!` line that names no interpreter".to_owned(),
            "write one, such as `#!/usr/bin/env bash`",
        );
    }
    if !program.starts_with('/') {
        return wrong(
            format!("names the interpreter `{program}`, which is no absolute path"),
            &format!("write `#!/usr/bin/env {program}`"),
        );
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if !is_executable(Path::new(program)) {
        let exists = Path::new(program).exists();
        let state = if exists { "is not executable" } else { "does not exist" };
        let remedy = if surroundings.has(name) {
            format!("write `#!/usr/bin/env {name}`, which finds the one on PATH")
        } else {
            format!("install {name}, or name an interpreter that is there")
        };
        return wrong(format!("names the interpreter `{program}`, which {state}"), &remedy);
    }
    if name == "env" { check_env(script, argument.trim(), surroundings) } else { None }
}

/// The problem with the program that `env` is to find.
fn check_env(script: &Path, argument: &str, surroundings: Surroundings<'_>) -> Option<Diagnostic> {
    let wrong = |problem: String, remedy: &str| Some(Diagnostic::error(script, problem, remedy).at_line(1));
    let split = argument.strip_prefix("-S").or_else(|| argument.strip_prefix("--split-string="));
    if split.is_none() && !argument.starts_with('-') && argument.contains([' ', '\t']) {
        // Other systems split the words.
        return cfg!(target_os = "linux").then(|| {
            Diagnostic::error(
                script,
                format!(
                    "lets `env` look for a program called `{argument}`: on Linux it gets all words as one"
                ),
                &format!("write `#!/usr/bin/env -S {argument}`"),
            )
            .at_line(1)
        });
    }
    let is_program = |word: &&str| !word.starts_with('-') && !word.contains('=');
    let program = split.unwrap_or(argument).split_whitespace().find(is_program);
    let Some(program) = program else {
        let says_nothing = argument.is_empty();
        return says_nothing
            .then(|| wrong("names `env` and no program".to_owned(), "write `#!/usr/bin/env bash`, say"))?;
    };
    let is_there =
        if program.contains('/') { is_executable(Path::new(program)) } else { surroundings.has(program) };
    if is_there {
        return None;
    }
    wrong(
        format!("is to be run by `{program}`, which is not on the PATH of scripts"),
        &format!("install {program}, or add its folder to MCPBASH_PATH"),
    )
}
