//! `scaffold tool NAME`: a folder with a script, its metadata, a test and a smoke test; in Python and JavaScript a function
//! and its test; or only metadata that runs an existing program.

use super::function_file::FunctionLanguage;
use super::hints::{HintArguments, with_hints};
use super::language::Language;
use super::open_project::OpenProject;
use super::template::{Places, Template, fill, template};
use super::{
    Draft, NextSteps, ScaffoldError, add_missing_schemas, finish, path_to_schemas, require_good_name,
};
use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::search_path::SearchPath;
use mcp_bash_harmless::shell_word;
use mcp_bash_importing::Effect;
use mcp_bash_project::Paths;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Letters, digits, `_` and `-`: the name that clients see
    name: String,

    /// The language [default: bash]. In Python and JavaScript it is a function, which stays loaded between
    /// calls
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Option<Language>,

    /// In Python and JavaScript too: a script with metadata, in its own folder and with a process for each
    /// call
    #[arg(long)]
    script: bool,

    /// A program to run, instead of a new script
    #[arg(long, value_name = "PROGRAM")]
    from: Option<String>,

    #[command(flatten)]
    hints: HintArguments,

    #[arg(long, hide = true)]
    ui: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash scaffold tool backup
  mcp-bash scaffold tool report --lang python             tools/report.py
  mcp-bash scaffold tool report --lang python --script    tools/report/tool.py
  mcp-bash scaffold tool search --from rg
  mcp-bash scaffold tool rotate-logs --destructive        clients ask before each call";

pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<(), Error> {
    let Arguments { name, lang, script, from, hints, ui } = arguments;
    if *ui {
        return Err(ScaffoldError::NoUi.into());
    }
    require_good_name("tool", name)?;
    let project = OpenProject::find(common)?;
    let folder = project.paths.tools.join(name);
    if super::draft::is_there(&folder) {
        return Err(ScaffoldError::Exists(folder).into());
    }
    project.require_no_tool(name)?;
    let effect = hints.effect(name);
    let functions = lang.and_then(FunctionLanguage::of).filter(|_| !script && from.is_none());
    if let Some(functions) = functions {
        return add_function(common, &project, name, functions, (effect, hints.note(effect)));
    }
    let mut draft = Draft::default();
    let mut steps = NextSteps::default();
    let script = match (from, lang) {
        (Some(_), Some(_)) => return Err(ScaffoldError::LanguageOfProgram.into()),
        (Some(_), None) if *script => return Err(ScaffoldError::ScriptOfProgram.into()),
        (Some(program), None) => {
            let found = find_program(program, &project.paths)?;
            add_program(&mut draft, &project.paths, name, &found, effect);
            steps = steps
                .step(
                    format!("mcp-bash import {}", shell_word(program)),
                    "or: an argument for each option of its --help",
                )
                .step(format!("mcp-bash call {name}"), "call it");
            "tool.meta.json"
        }
        (None, lang) => {
            let script = add_script(&mut draft, &project.paths, name, lang.unwrap_or_default(), effect);
            add_smoke_test(&mut draft, &folder, name, script);
            steps = steps.step(format!("mcp-bash call {name} name=Ada"), "call it");
            script
        }
    };
    add_missing_schemas(&project.paths.root, &mut draft);
    steps.notes.extend(hints.note(effect));
    steps.notes.extend(project.registered_by_hand("tools", &format!("{name}/{script}")));
    steps = steps
        .step(format!("mcp-bash test {name}"), "run its test")
        .step("mcp-bash install", "add the server to your clients");
    finish(common, &project, "tool", &folder, draft, steps)
}

/// A function and its test.
fn add_function(
    common: &Common,
    project: &OpenProject,
    name: &str,
    functions: FunctionLanguage,
    (effect, note): (Effect, Option<String>),
) -> Result<(), Error> {
    let mut draft = Draft::default();
    functions.add(&mut draft, &project.paths, name, effect);
    add_missing_schemas(&project.paths.root, &mut draft);
    let mut steps = NextSteps::default()
        .step(format!("mcp-bash call {name} name=Ada"), "call it")
        .step(format!("mcp-bash test {name}"), "run its test")
        .step("mcp-bash install", "add the server to your clients");
    steps.notes.extend(note);
    steps.notes.extend(project.functions_are_not_found());
    finish(common, project, "tool", &functions.file(&project.paths, name), draft, steps)
}

/// The script of a tool, its metadata and its test. Returns the name of the script.
pub(super) fn add_script(
    draft: &mut Draft,
    paths: &Paths,
    name: &str,
    language: Language,
    effect: Effect,
) -> &'static str {
    let (file, script, metadata, test) = match language {
        Language::Bash => (
            "tool.sh",
            template!("tool/bash/tool.sh"),
            template!("tool/bash/tool.meta.json"),
            template!("tool/bash/test.yaml"),
        ),
        Language::Python => (
            "tool.py",
            template!("tool/python/tool.py"),
            template!("tool/plain.meta.json"),
            template!("tool/plain-test.yaml"),
        ),
        Language::Node => (
            "tool.mjs",
            template!("tool/node/tool.mjs"),
            template!("tool/plain.meta.json"),
            template!("tool/plain-test.yaml"),
        ),
    };
    let folder = paths.tools.join(name);
    draft.file(folder.join(file), fill(script, &[("NAME", name)]));
    add_metadata_and_test(draft, paths, metadata, test, effect, &[("NAME", name)]);
    file
}

/// Metadata that runs a program, and its test.
fn add_program(draft: &mut Draft, paths: &Paths, name: &str, program: &str, effect: Effect) {
    let (metadata, test) = (template!("tool/program/tool.meta.json"), template!("tool/program/test.yaml"));
    let places = [("NAME", name), ("PROGRAM", program)];
    add_metadata_and_test(draft, paths, metadata, test, effect, &places);
    let readme = fill(template!("tool/program/README.md"), &[("NAME", name)]);
    draft.file(paths.tools.join(name).join("README.md"), readme);
}

fn add_metadata_and_test(
    draft: &mut Draft,
    paths: &Paths,
    metadata: Template,
    test: Template,
    effect: Effect,
    places: &Places<'_>,
) {
    let name = places.iter().find(|(place, _)| *place == "NAME").map_or("", |(_, name)| *name);
    let folder = paths.tools.join(name);
    let tests = folder.join("tests");
    let filled = |template, folder: &Path| {
        let schemas = path_to_schemas(&paths.root, folder);
        fill(template, &[&[("SCHEMAS", &*schemas)], places].concat())
    };
    draft.file(folder.join("tool.meta.json"), with_hints(&filled(metadata, &folder), effect));
    draft.file(tests.join(format!("{name}.yaml")), filled(test, &tests));
}

/// The smoke test that mcp-bash in bash puts beside a tool.
fn add_smoke_test(draft: &mut Draft, folder: &Path, name: &str, script: &str) {
    let places = [("NAME", name), ("SCRIPT", script)];
    draft.file(folder.join("README.md"), fill(template!("tool/README.md"), &places));
    draft.file(folder.join("smoke.sh"), fill(template!("tool/smoke.sh"), &places));
}

/// The program as metadata names it: by its name if it is on PATH, otherwise by its path, relative to the project if it is
/// inside.
fn find_program(program: &str, paths: &Paths) -> Result<String, ScaffoldError> {
    let missing = || ScaffoldError::NoProgram(program.to_owned());
    let is_executable = |file: &Path| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if !program.contains('/') {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = SearchPath { path, source: "environment" }.for_project(paths);
        let is_found = std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)));
        return if is_found && !program.is_empty() { Ok(program.to_owned()) } else { Err(missing()) };
    }
    let file = Path::new(program).canonicalize().map_err(|_| missing())?;
    if !is_executable(&file) {
        return Err(ScaffoldError::NotExecutable(file));
    }
    let root = paths.root.canonicalize().unwrap_or_default();
    let named = match file.strip_prefix(root) {
        Ok(below) => Path::new(".").join(below),
        Err(_) => file,
    };
    named.to_str().map(str::to_owned).ok_or_else(missing)
}
