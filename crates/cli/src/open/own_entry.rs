//! Own entry: how a client starts this program for a project. It works with a bare `PATH` and in any folder.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup::{self, SettingProblems};
use mcp_bash_entries::{Entry, PackageRunner, plain_name};
use mcp_bash_project::{Identity, Location};
use rustix::fs::{Access, access};
use std::path::{Component, Path, PathBuf};

/// The user's choices for the entry.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EntryArguments {
    /// The name of the entry [default: the name of the server]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// An environment variable for the server; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum OwnEntryError {
    #[error("no file of a client can hold the path {}, which is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    #[error("`--env {0}` is not NAME=VALUE")]
    NotAVariable(String),
    #[error(
        "`--env {0}` names no variable that a script can read: letters, digits and `_` make its name, no digit first"
    )]
    NoNameOfVariable(String),
    #[error("failed to find out where this program is: {0}")]
    NoProgram(std::io::Error),
}

/// A project, as a client's configuration names it.
pub(crate) struct OwnEntry {
    pub(crate) root: PathBuf,
    /// The folder that clients work in: the current one if the user names a project elsewhere, otherwise the project.
    pub(crate) folder: PathBuf,
    pub(crate) entry: Entry,
}

impl OwnEntry {
    pub(crate) fn new(common: &Common, arguments: &EntryArguments) -> Result<Self, Error> {
        let (settings, _) = startup::settings();
        let Location::Folder(root) = startup::location(common, &settings)? else {
            return Err(Error::NoProject);
        };
        let is_named = common.project_root.is_some() || settings.project_root.is_some();
        let folder =
            if is_named { std::env::current_dir().unwrap_or_else(|_| root.clone()) } else { root.clone() };
        let settings = startup::settings_at(
            &Location::Folder(root.clone()),
            None,
            settings,
            &mut SettingProblems::default(),
        );
        let identity = Identity::read(&startup::paths(&root, &settings), &mut Vec::new());
        let entry = entry(&root, &identity.name, arguments);
        let entry = entry.map_err(|error| Error::of_command(Exit::Usage, error))?;
        Ok(Self { root, folder, entry })
    }
}

fn entry(root: &Path, name: &str, arguments: &EntryArguments) -> Result<Entry, OwnEntryError> {
    let text =
        |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| OwnEntryError::NotText(path.to_owned()));
    let variable = |pair: &String| {
        let parts = pair.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = parts.ok_or_else(|| OwnEntryError::NotAVariable(pair.clone()))?;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.chars().all(is_letter) || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(OwnEntryError::NoNameOfVariable(pair.clone()));
        }
        Ok((name.to_owned(), value.to_owned()))
    };
    let OwnCommand { program, words } = own_command().map_err(OwnEntryError::NoProgram)?;
    let own_words = ["--project-root".to_owned(), text(root)?];
    Ok(Entry {
        name: arguments.name.clone().unwrap_or_else(|| plain_name(name)),
        command: text(&program)?,
        args: words.into_iter().chain(own_words).collect(),
        env: arguments.env.iter().map(variable).collect::<Result<_, OwnEntryError>>()?,
        passed: Vec::new(),
    })
}

/// How a client starts this program.
pub(crate) struct OwnCommand {
    pub(crate) program: PathBuf,
    /// The words of a package runner, before our own.
    pub(crate) words: Vec<String>,
}

/// The path that the user called, or the package runner that started us from its cache.
pub(crate) fn own_command() -> std::io::Result<OwnCommand> {
    let program = called_path()?;
    let Some(runner) = PackageRunner::of_program(&program) else {
        return Ok(OwnCommand { program, words: Vec::new() });
    };
    let name = PathBuf::from(runner.command());
    let on_path = || {
        let is_program = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
        search_folders().map(|folder| folder.join(&name)).find(is_program)
    };
    let program = if runner.starts_by_path() { on_path() } else { None };
    let words = runner.words().iter().map(ToString::to_string).collect();
    Ok(OwnCommand { program: program.unwrap_or(name), words })
}

/// The package runner that started us.
pub(crate) fn own_runner() -> Option<PackageRunner> {
    PackageRunner::of_program(&called_path().ok()?)
}

/// This program, by the path that the user called. A symlink such as `/usr/local/bin/mcp-bash` stays: the next version will
/// be behind the same link, and not where it leads today.
fn called_path() -> std::io::Result<PathBuf> {
    let real = std::env::current_exe()?;
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let is_this =
        |path: &PathBuf| path.canonicalize().is_ok_and(|path| Some(path) == real.canonicalize().ok());
    let found = if called.components().count() > 1 || called.is_absolute() {
        std::path::absolute(&called).ok()
    } else {
        search_folders().map(|folder| folder.join(&called)).find(is_this)
    };
    let has_parent = |path: &PathBuf| path.components().any(|part| part == Component::ParentDir);
    Ok(found.filter(is_this).filter(|path| !has_parent(path)).unwrap_or(real))
}

/// The folders of `PATH`, without relative ones.
fn search_folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter()
}
