//! Language: the row of one language, and what it needs to find its interpreter.

use crate::Paths;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;

/// The marks of functions, whatever the language.
pub(super) const MARKS: [&str; 3] = ["tool", "resource", "prompt"];

/// Everything that depends on the language of a function file.
pub struct Language {
    /// Its name in the registry of a project.
    pub name: &'static str,
    /// The extensions of files that may hold functions.
    pub(crate) function_endings: &'static [&'static str],
    /// The extensions of scripts that `interpreter` runs.
    pub(crate) script_endings: &'static [&'static str],
    /// The folders in which it keeps libraries and caches, where nothing is discovered.
    pub(crate) left_out_folders: &'static [&'static str],
    /// The ends of the names of files that help others and hold no functions.
    pub(crate) helper_endings: &'static [&'static str],
    /// The interpreter, as a `#!` line names it.
    pub interpreter: &'static str,
    /// The program of its workers, below the SDK.
    pub worker: &'static str,
    /// How its interpreter compiles the SDK, if it can keep what it has compiled.
    pub compilation: Option<Compilation>,
    /// Tells scripts where its SDK is.
    pub sdk_variable: SdkVariable,
    /// Where a project keeps programs of its packages.
    pub program_folders: ProgramFolders,
    /// The program that installs the packages of a file or project when they are needed, if there is one.
    pub installer: Option<&'static str>,
    /// The interpreter for a file, or why there is none.
    pub find: FindInterpreter,
    /// Both are in the message of an interpreter that could not look for a file of the SDK.
    pub sdk_not_found: [&'static str; 2],
    /// Completes a worker's message about why it cannot serve a file.
    pub explain: fn(String, &Path, &Paths) -> String,
    /// What prevents a file from finding the packages it imports, and the file to blame. The flag says whether the
    /// installer exists.
    pub missing_packages: fn(&Path, &Paths, bool) -> Option<(PathBuf, String)>,
    /// Whether a text imports the SDK and marks functions.
    pub(crate) has_functions: fn(&str) -> bool,
    /// Why a text that marks functions for another framework is not served, and the fix.
    pub(crate) foreign: fn(&str) -> Option<&'static str>,
    /// Why a script with that extension and text, which imports the SDK, has no functions, and the fix.
    pub(crate) unmarked: fn(&str, &str) -> Option<(&'static str, &'static str)>,
    /// The fix for a file that was loaded and has no functions.
    pub(crate) remedy_without_functions: &'static str,
    /// How to describe a function, if not by `description`.
    pub(crate) remedy_without_description: Option<&'static str>,
    /// Where an author sets an option of the worker.
    pub(crate) place_of_option: fn(&str) -> String,
    /// Where an author sets a timeout of a tool, by its name in metadata.
    pub(crate) place_of_time: fn(&str) -> String,
}

impl SdkVariable {
    /// The name of the variable.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SearchPath { variable, .. } | Self::File { variable, .. } => variable,
        }
    }
}

/// The variable that tells scripts where the SDK of a language is, below the folder of all SDKs.
#[derive(Debug, Clone, Copy)]
pub enum SdkVariable {
    /// A folder, at the end of a search path.
    SearchPath {
        variable: &'static str,
        folder: &'static str,
    },
    File {
        variable: &'static str,
        file: &'static str,
    },
}

/// The command that compiles the SDK of a language and keeps the outcome beside the modules.
#[derive(Debug, Clone, Copy)]
pub struct Compilation {
    /// Options with which the interpreter loads nothing of a project or of an environment.
    pub options: &'static [&'static str],
    /// The program, below the folder of all SDKs.
    pub program: &'static str,
    /// The variable with which the interpreter keeps nothing that it has compiled.
    pub forbidden_by: &'static str,
}

/// The folders of a project whose programs scripts find before all others.
#[derive(Debug, Clone, Copy)]
pub struct ProgramFolders {
    /// Each by its place in the project, and the folder of programs below it.
    pub places: &'static [(&'static str, &'static str)],
    /// If a place is a whole environment, of which one counts: the variable that names the place, and the one that would
    /// lead out of it.
    pub environment: Option<[&'static str; 2]>,
}

type FindInterpreter =
    for<'a> fn(&'a Path, &'a Paths, &'a dyn LanguageHost) -> Waiting<'a, Result<PathBuf, String>>;

/// A value that takes time. Finding an interpreter is rare, so a box costs nothing that counts.
pub type Waiting<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a language uses to find its interpreter. Nothing here starts a process.
pub trait LanguageHost: Sync {
    /// The first of these programs that scripts find. An error says why no script can be run at all.
    fn first_found<'a>(&'a self, names: &'a [&'a str]) -> Waiting<'a, Result<Option<PathBuf>, String>>;

    /// Runs a program in the folder of the project: its output, or why it failed. Besides the environment of
    /// scripts, it receives the server's variables that `inherits` selects.
    fn run<'a>(
        &'a self,
        program: &'a Path,
        words: &'a [&'a OsStr],
        inherits: fn(&OsStr) -> bool,
    ) -> Waiting<'a, Result<String, String>>;
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// The folders from that of the file up to the project.
pub(super) fn folders<'a>(file: &'a Path, paths: &'a Paths) -> impl Iterator<Item = &'a Path> {
    let inside = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&paths.root));
    let is_outside = !file.starts_with(&paths.root);
    inside.chain(is_outside.then_some(&*paths.root))
}
