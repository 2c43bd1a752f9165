//! Import source: a file of a known kind, or a program.

use super::error::ImportError;
use super::script;
use mcp_bash_importing::{FileLocation, Imported, Unreadable};
use mcp_bash_spelling::nearest;
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// More files than anyone keeps scripts in one folder.
const MOST_FILES: usize = 2000;

/// The largest file or help text that is read, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FileKind {
    Justfile,
    Makefile,
    PackageJson,
    Taskfile,
    /// A script, or a folder of scripts
    Scripts,
}

/// File names that identify a kind, in lower case.
const NAMES: [(&str, FileKind); 11] = [
    ("justfile", FileKind::Justfile),
    (".justfile", FileKind::Justfile),
    ("gnumakefile", FileKind::Makefile),
    ("makefile", FileKind::Makefile),
    ("package.json", FileKind::PackageJson),
    ("taskfile.yml", FileKind::Taskfile),
    ("taskfile.yaml", FileKind::Taskfile),
    ("taskfile.dist.yml", FileKind::Taskfile),
    ("taskfile.dist.yaml", FileKind::Taskfile),
    ("makefile.am", FileKind::Makefile),
    ("bsdmakefile", FileKind::Makefile),
];

impl FileKind {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let by_name = NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        by_name.or_else(|| match path.extension()?.to_str()? {
            "just" => Some(Self::Justfile),
            "mk" | "mak" => Some(Self::Makefile),
            _ => None,
        })
    }

    pub(super) fn read(self, text: &str, place: FileLocation<'_>) -> Result<Imported, Unreadable> {
        match self {
            // Scripts are read with their file, not as a text alone.
            Self::Scripts => Err(Unreadable::NoText),
            Self::Justfile => Ok(mcp_bash_importing::read_justfile(text, place)),
            Self::Makefile => Ok(mcp_bash_importing::read_makefile(text, place)),
            Self::PackageJson => mcp_bash_importing::read_package_json(text, place),
            Self::Taskfile => mcp_bash_importing::read_taskfile(text, place),
        }
    }
}

pub(super) enum ImportSource {
    File {
        path: PathBuf,
        kind: FileKind,
    },
    /// Scripts, and the folder they were found in if that was named.
    Scripts {
        files: Vec<PathBuf>,
        folder: Option<PathBuf>,
        /// How a tool names a script that was found on the PATH.
        word: Option<String>,
    },
    /// A program: its path, if it is to be run, and how a tool names it.
    Program {
        file: Option<PathBuf>,
        word: String,
    },
}

impl ImportSource {
    /// Finds out what `from` is. A program given by its path is named by that path, others by their name.
    pub(super) fn find(from: &Path, kind: Option<FileKind>, root: &Path) -> Result<Self, ImportError> {
        if from.is_dir() {
            return in_folder(from, kind);
        }
        let one = |file: &Path| Self::Scripts { files: vec![file.to_owned()], folder: None, word: None };
        if kind == Some(FileKind::Scripts) {
            return if from.exists() { Ok(one(from)) } else { Err(no_such(from)) };
        }
        if let Some(kind) = kind.or_else(|| FileKind::of(from)) {
            if !from.exists() {
                return Err(no_such(from));
            }
            return Ok(Self::File { path: from.to_owned(), kind });
        }
        if !from.as_os_str().as_encoded_bytes().contains(&b'/') {
            return match on_path(from) {
                Some(file) if script::is_script(&file) => {
                    Ok(Self::Scripts { files: vec![file], folder: None, word: Some(text(from)?) })
                }
                Some(file) => Ok(Self::Program { file: Some(file), word: text(from)? }),
                None if script::is_script(from) => Ok(one(from)),
                None if from.exists() => Err(ImportError::UnknownFile(from.to_owned())),
                None => Err(no_such(from)),
            };
        }
        if !from.exists() {
            return Err(no_such(from));
        }
        if script::is_script(from) {
            return Ok(one(from));
        }
        if !is_program(from) {
            return Err(ImportError::UnknownFile(from.to_owned()));
        }
        Self::program(from, root)
    }

    /// A program by its path, which is run for its help.
    pub(super) fn program(from: &Path, root: &Path) -> Result<Self, ImportError> {
        let file =
            from.canonicalize().map_err(|source| ImportError::Read { file: from.to_owned(), source })?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let word = match file.strip_prefix(&root) {
            Ok(below) => format!("./{}", text(below)?),
            Err(_) => text(&file)?,
        };
        Ok(Self::Program { file: Some(file), word })
    }
}

/// A program, or a script that the user lets run for its help.
pub(super) fn to_run(from: &Path, root: &Path) -> Result<ImportSource, ImportError> {
    if !from.as_os_str().as_encoded_bytes().contains(&b'/') {
        return match on_path(from) {
            Some(file) => Ok(ImportSource::Program { file: Some(file), word: text(from)? }),
            None => Err(no_such(from)),
        };
    }
    match from {
        from if !from.exists() => Err(no_such(from)),
        from if !is_program(from) => Err(ImportError::NoProgram(from.to_owned())),
        from => ImportSource::program(from, root),
    }
}

/// Nothing has that name; suggests a file with a similar one.
fn no_such(from: &Path) -> ImportError {
    let folder = from.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let files = files.filter(|path| FileKind::of(path).is_some() && path.is_file());
    let names: Vec<String> = files.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
    let wanted = from.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let meant = nearest(wanted, names.iter().map(String::as_str));
    let meant = meant.map(|name| from.with_file_name(name).display().to_string());
    ImportError::NoSuch { from: from.to_owned(), meant }
}

/// The one file in a folder that can be imported, or else its scripts.
fn in_folder(folder: &Path, kind: Option<FileKind>) -> Result<ImportSource, ImportError> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|source| ImportError::Read { file: folder.to_owned(), source })?;
    let is_wanted = |found: FileKind| kind.is_none_or(|kind| kind == found);
    let mut files: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).take(MOST_FILES).collect();
    files.sort();
    let known: Vec<(&PathBuf, FileKind)> = files
        .iter()
        .filter(|path| path.is_file())
        .filter_map(|path| FileKind::of(path).map(|kind| (path, kind)))
        .filter(|(_, kind)| is_wanted(*kind))
        .collect();
    match &*known {
        [] if matches!(kind, None | Some(FileKind::Scripts))
            && files.iter().any(|file| script::is_script(file)) =>
        {
            Ok(ImportSource::Scripts { files, folder: Some(folder.to_owned()), word: None })
        }
        [] => Err(ImportError::NothingInFolder(folder.to_owned())),
        [(path, kind)] => Ok(ImportSource::File { path: (*path).clone(), kind: *kind }),
        several => {
            let files = several.iter().map(|(path, _)| path.display().to_string()).collect();
            Err(ImportError::Several { folder: folder.to_owned(), files })
        }
    }
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

pub(super) fn read(file: &Path) -> Result<String, ImportError> {
    let failed = |source| ImportError::Read { file: file.to_owned(), source };
    mcp_bash_files::read(file, LONGEST as u64)
        .map_err(failed)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn text(path: &Path) -> Result<String, ImportError> {
    path.to_str().map(str::to_owned).ok_or_else(|| ImportError::NotUtf8(path.to_owned()))
}
