//! Python of a function file: the environment of its inline dependencies (PEP 723, by `uv`), otherwise the nearest virtual
//! environment, which `uv` creates for its own projects, otherwise the one on the PATH.

use super::{first_found, inline_dependencies};
use crate::running::error::{Bounds, Failed};
use crate::running::process::{Limits, Process};
use crate::surroundings::Surroundings;
use mcp_bash_harmless::shell_path;
use mcp_bash_project::trust::{self, Distrust, Start};
use mcp_bash_project::{Paths, excerpt};
use mcp_bash_runner::{Input, Patience, Variables};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long `uv` may take to exit after it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// The usual folders of virtual environments.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

pub(crate) async fn find(surroundings: &Surroundings, file: &Path, paths: &Paths) -> Result<PathBuf, String> {
    let uv = first_found(surroundings, &["uv"], paths).await;
    if let (Some(uv), true) = (&uv, inline_dependencies::are_in(file)) {
        return of_its_own(surroundings, uv, file, paths).await;
    }
    for folder in folders(file, paths) {
        if let Some(python) = environment_in(folder, paths)? {
            return Ok(python);
        }
        // A project of `uv` whose environment does not exist yet.
        if let Some(uv) = uv.as_ref().filter(|_| folder.join("uv.lock").is_file()) {
            let words = ["sync", "--quiet", "--project"].map(OsStr::new);
            run(surroundings, uv, &[&words[..], &[folder.as_os_str()]].concat(), paths).await?;
            if let Some(python) = environment_in(folder, paths)? {
                return Ok(python);
            }
        }
    }
    let found = first_found(surroundings, &["python3", "python"], paths).await;
    found.ok_or_else(|| {
        "there is no `python3` on the PATH of scripts; install Python 3.8 or newer, or make a `.venv` in the project"
            .to_owned()
    })
}

/// Whether a folder contains a virtual environment.
pub(crate) fn has_environment(folder: &Path) -> bool {
    ENVIRONMENTS.iter().any(|name| folder.join(name).join("bin/python").exists())
}

/// The virtual environment of a folder that has no interpreter: it is empty, or its Python was upgraded or removed, so that
/// the symlink is broken.
fn broken_environment(folder: &Path) -> Option<PathBuf> {
    let mut named = ENVIRONMENTS.iter().map(|name| folder.join(name));
    // A folder named `venv` may be anything.
    named.find(|at| at.is_dir() && (at.ends_with(".venv") || at.join("pyvenv.cfg").exists()))
}

/// The virtual environment that a file would use if it had an interpreter. `uv` recreates those of its own projects.
pub(crate) fn unusable_environment(file: &Path, paths: &Paths, has_uv: bool) -> Option<PathBuf> {
    if has_uv && inline_dependencies::are_in(file) {
        return None;
    }
    let mut nearest = folders(file, paths).take_while(|folder| !has_environment(folder));
    nearest.find_map(|folder| {
        let is_of_uv = has_uv && folder.join("uv.lock").is_file();
        broken_environment(folder).filter(|_| !is_of_uv)
    })
}

/// How to recreate a virtual environment that has no interpreter.
pub(crate) fn made_anew(environment: &Path, paths: &Paths) -> String {
    let shown = environment.strip_prefix(&paths.root).unwrap_or(environment);
    let shown = shell_path(shown);
    format!(
        "make it anew with `python3 -m venv --clear {shown}` and install there what the file needs \
         (`{shown}/bin/pip install …`)"
    )
}

/// The folders from that of the file up to the project.
pub(crate) fn folders<'a>(file: &'a Path, paths: &'a Paths) -> impl Iterator<Item = &'a Path> {
    let inside = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&paths.root));
    let is_outside = !file.starts_with(&paths.root);
    inside.chain(is_outside.then_some(&*paths.root))
}

/// The Python of the virtual environment in a folder, if there is one that no other user can write.
fn environment_in(folder: &Path, paths: &Paths) -> Result<Option<PathBuf>, String> {
    for name in ENVIRONMENTS {
        let environment = folder.join(name);
        let python = environment.join("bin/python");
        if python.exists() {
            judge_environment(&environment, paths)
                .map_err(|distrust| format!("its virtual environment is not used: {distrust}"))?;
            return Ok(Some(python));
        }
    }
    Ok(None)
}

/// Judges the files that Python reads of its virtual environment before the script: its configuration, and in each package
/// folder the files that it runs at every start.
fn judge_environment(environment: &Path, paths: &Paths) -> Result<(), Distrust> {
    let root = &paths.root;
    trust::judge_folder(&environment.join("bin"), root)?;
    let mut files = Vec::from([environment.join("pyvenv.cfg")]);
    for version in environment.join("lib").read_dir().into_iter().flatten().flatten() {
        let packages = version.path().join("site-packages");
        trust::judge_folder_if_any(&packages, root)?;
        let installed = packages.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        files.extend(installed.filter(|file| {
            file.extension().is_some_and(|ending| ending == "pth")
                || file.file_stem().is_some_and(|name| name == "sitecustomize" || name == "usercustomize")
        }));
    }
    trust::judge_loaded(files.iter().map(PathBuf::as_path), root)
}

/// The environment that `uv` keeps for the dependencies of one file.
async fn of_its_own(
    surroundings: &Surroundings,
    uv: &Path,
    file: &Path,
    paths: &Paths,
) -> Result<PathBuf, String> {
    let of_file = |first: &'static str, second: &'static str| {
        [OsStr::new(first), OsStr::new(second), OsStr::new("--script"), file.as_os_str()]
    };
    run(surroundings, uv, &of_file("sync", "--quiet"), paths).await?;
    let found = run(surroundings, uv, &of_file("python", "find"), paths).await?;
    Ok(PathBuf::from(found.trim_end()))
}

/// The environment of `uv`: that of scripts, and what it needs to fetch packages for them.
async fn environment(surroundings: &Surroundings, paths: &Paths) -> Result<Variables, String> {
    let mut all = surroundings.common_environment(paths).await.map_err(|why| why.to_string())?;
    for (name, value) in std::env::vars_os().filter(|(name, _)| is_for_fetching(name)) {
        if all.get(&name).is_none() {
            all.set(name, value);
        }
    }
    Ok(all)
}

/// Whether a variable configures network access, or `uv` itself.
fn is_for_fetching(name: &OsStr) -> bool {
    const NETWORK: [&str; 6] =
        ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE"];
    let name = name.as_bytes();
    name.starts_with(b"UV_") || NETWORK.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// Runs `uv`: its output, or why it failed.
async fn run(
    surroundings: &Surroundings,
    uv: &Path,
    words: &[&OsStr],
    paths: &Paths,
) -> Result<String, String> {
    let settings = surroundings.settings();
    let bounds = Bounds {
        time: settings.workers.start,
        time_setting: "MCPBASH_WORKER_START_SECS",
        output: settings.output_limit,
        output_setting: "MCPBASH_MAX_TOOL_OUTPUT_SIZE",
    };
    let process = Process {
        start: Start { program: uv.to_owned(), arguments: Vec::new() },
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        directory: &paths.root,
        environment: environment(surroundings, paths).await?,
        input: Input::Bytes(&[]),
        limits: Limits {
            patience: Patience::fixed(bounds.time),
            output: bounds.output,
            error_tail: settings.stderr_tail,
            budget: surroundings.budget(),
        },
        grace: GRACE,
        talk: None,
    };
    let told = |why: String| format!("`uv` {why}");
    let outcome = surroundings.processes.run_without_talk(process, std::future::pending()).await;
    let outcome = outcome.map_err(|error| told(format!("could not be started: {error}")))?;
    let said = || excerpt(&outcome.errors());
    Failed::from_ending(outcome.ending, &bounds, said).map_err(|how| told(how.to_string()))?;
    Ok(outcome.into_text())
}
