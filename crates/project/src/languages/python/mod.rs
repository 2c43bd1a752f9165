//! Python. Its packages are in a virtual environment, or `uv` installs them.

mod environments;
mod find;
mod inline_dependencies;
mod signs;

use super::language::{Compilation, Language, ProgramFolders, SdkVariable, folders};
use crate::Paths;
use environments::{has_environment, how_to_recreate, unusable_environment};
use std::path::{Path, PathBuf};

/// The largest `pyproject.toml` that is searched for dependencies, in bytes.
const LONGEST: u64 = 1024 * 1024;

pub(super) static PYTHON: Language = Language {
    name: "python",
    function_endings: &["py"],
    script_endings: &["py"],
    left_out_folders: &["__pycache__"],
    helper_endings: &[],
    interpreter: "python3",
    worker: "python/worker.py",
    compilation: Some(Compilation {
        options: &["-I", "-S"],
        program: "python/compile_modules.py",
        forbidden_by: "PYTHONDONTWRITEBYTECODE",
    }),
    sdk_variable: SdkVariable::SearchPath { variable: "PYTHONPATH", folder: "python" },
    program_folders: ProgramFolders {
        places: &[(".venv", "bin"), ("venv", "bin")],
        environment: Some(["VIRTUAL_ENV", "PYTHONHOME"]),
    },
    installer: Some("uv"),
    find: |file, paths, host| Box::pin(find::find(file, paths, host)),
    sdk_not_found: ["No module named 'mcp_bash'", ""],
    explain,
    missing_packages,
    has_functions: signs::has_functions,
    foreign: signs::foreign,
    unmarked: |_, text| signs::problem_without_functions(text),
    remedy_without_functions: "write `@tool` above each function that is to be a tool, outside of conditions, or let the \
                               name of the file begin with `_` if it helps others",
    remedy_without_description: Some(
        "write a docstring into the function that says what it does, and when to use it",
    ),
    place_of_option: |name| format!("`worker({}=…)` in its file", snake_case(name)),
    place_of_time: |name| {
        let name = snake_case(name);
        format!("`@tool({}=…)`", name.strip_suffix("_secs").unwrap_or(&name))
    },
};

fn snake_case(name: &str) -> String {
    let letter = |letter: char| {
        let underscore = letter.is_ascii_uppercase().then_some('_');
        underscore.into_iter().chain([letter.to_ascii_lowercase()])
    };
    name.chars().flat_map(letter).collect()
}

/// Another fix, if a package is missing because the virtual environment has no interpreter.
fn explain(message: String, file: &Path, paths: &Paths) -> String {
    let environment = unusable_environment(file, paths, false);
    let Some(environment) = environment.filter(|_| message.contains("ModuleNotFoundError")) else {
        return message;
    };
    let problem = message.rsplit_once("; ").map_or(&*message, |(problem, _)| problem);
    let shown = environment.strip_prefix(&paths.root).unwrap_or(&environment).display();
    format!("{problem}; {shown} has no working interpreter: {}", how_to_recreate(&environment, paths))
}

fn missing_packages(file: &Path, paths: &Paths, has_uv: bool) -> Option<(PathBuf, String)> {
    if let Some(environment) = unusable_environment(file, paths, has_uv) {
        let remedy = how_to_recreate(&environment, paths);
        let problem = format!("has no working interpreter, so that another Python is used; {remedy}");
        return Some((environment, problem));
    }
    if has_uv {
        return None;
    }
    if inline_dependencies::are_in(file) {
        let problem = "names its dependencies itself, and there is no `uv` to install them; install uv, or put them into a \
                       `.venv` of the project";
        return Some((file.to_owned(), problem.to_owned()));
    }
    let nearest = folders(file, paths)
        .find(|folder| has_environment(folder) || is_project_with_dependencies(folder))?;
    let problem = "names dependencies, and there is no `.venv` beside it; make one with `python3 -m venv .venv` and \
                   install them there, or install uv";
    (!has_environment(nearest)).then(|| (nearest.join("pyproject.toml"), problem.to_owned()))
}

fn is_project_with_dependencies(folder: &Path) -> bool {
    let text = mcp_bash_files::read_text(&folder.join("pyproject.toml"), LONGEST).unwrap_or_default();
    let mut lines = text.lines().skip_while(|line| line.trim() != "[project]").skip(1);
    let list = lines
        .find_map(|line| line.trim().strip_prefix("dependencies")?.trim().strip_prefix('=').map(str::trim));
    list.is_some_and(|list| list != "[]")
}
