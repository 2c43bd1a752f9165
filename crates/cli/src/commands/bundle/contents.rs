//! Contents of a package: the files of a project that are served, what they need, and what the author adds.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_packaging::{Reason, reason};
use mcp_bash_project::{Catalog, Execution, Paths};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// The most bytes of one file and of all files, and the most files.
pub(crate) const MOST_FILE_BYTES: u64 = 100 * 1024 * 1024;
const MOST_BYTES: u64 = 500 * 1024 * 1024;
const MOST_FILES: usize = 20_000;

/// Files at the root of a project that scripts or their interpreters read.
const ROOT_FILES: [&str; 10] = [
    "VERSION",
    "LICENSE",
    "README.md",
    "config",
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "package.json",
    "node_modules",
    "mcpb-resources",
];

#[derive(Debug)]
pub(crate) struct ProjectFile {
    /// Where it is; behind a link, its target.
    pub(crate) source: PathBuf,
    pub(crate) is_program: bool,
    pub(crate) bytes: u64,
}

/// What goes into a package, by path below the project, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) files: BTreeMap<String, ProjectFile>,
    pub(crate) left_out: Vec<(String, Reason)>,
}

/// The messages complete "mcp-bash: ...".
#[derive(Debug, ThisError)]
pub(crate) enum ContentsError {
    #[error("{} is outside the project, so no package can contain it; move it below {}", part.display(), root.display())]
    PartOutside { part: PathBuf, root: PathBuf },
    #[error("`{0}` is in MCPB_INCLUDE of mcpb.conf and does not exist; correct the path or remove it")]
    NoInclude(String),
    #[error(
        "`{0}` is in MCPB_INCLUDE of mcpb.conf and leads out of the project; name a path below it, without `..`"
    )]
    IncludeOutside(String),
    #[error("{path} is a link to {}, outside the project; copy the file into the project", target.display())]
    LinkOutside { path: String, target: PathBuf },
    #[error("{0} is a link to nothing; remove it or correct its target")]
    BrokenLink(String),
    #[error("{0} is a link to a folder that contains it; remove it")]
    Loop(String),
    #[error(
        "{0} has a name that no archive can hold: not UTF-8, or with a line break, a control character or `\\`; rename it"
    )]
    Name(String),
    #[error("{0} is neither a file nor a folder (a named pipe, a socket or a device); remove it")]
    Special(String),
    #[error("{path} has {bytes} bytes, and a file of a package at most {MOST_FILE_BYTES}; keep it elsewhere")]
    LargeFile { path: String, bytes: u64 },
    #[error("the package would have more than {MOST_BYTES} bytes; {path} is the largest file, with {bytes}")]
    Large { path: String, bytes: u64 },
    #[error(
        "the package would have more than {MOST_FILES} files; leave out folders that scripts do not need"
    )]
    ManyFiles,
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl From<ContentsError> for Error {
    fn from(error: ContentsError) -> Self {
        let exit = match error {
            ContentsError::Read { .. } => Exit::Failed,
            ContentsError::NoInclude(_) | ContentsError::IncludeOutside(_) => Exit::Usage,
            _ => Exit::Refused,
        };
        Self::of_command(exit, error)
    }
}

impl Contents {
    /// Everything that the entries of a project need, as far as it is known: its parts, the programs that metadata names by a
    /// path, and what the author adds.
    pub(crate) fn of(catalog: &Catalog, include: &[String]) -> Result<Self, ContentsError> {
        let mut all = include.to_vec();
        for tool in catalog.tools.items() {
            if let Execution::Command { program, .. } = &tool.execution
                && program.contains('/')
                && !program.starts_with('/')
                && catalog.paths.root.join(program).is_file()
            {
                all.push(program.clone());
            }
        }
        Self::walked(&catalog.paths, &all)
    }

    fn walked(paths: &Paths, include: &[String]) -> Result<Self, ContentsError> {
        let root = paths.root.canonicalize();
        let root = root.map_err(|source| ContentsError::Read { path: paths.root.clone(), source })?;
        let mut walk = Walk { root: &root, contents: Self::default() };
        let parts = [
            &paths.tools,
            &paths.resources,
            &paths.prompts,
            &paths.completions,
            &paths.providers,
            &paths.lib,
            &paths.server,
        ];
        for part in parts.into_iter().filter(|part| part.symlink_metadata().is_ok()) {
            let outside = || ContentsError::PartOutside { part: part.clone(), root: paths.root.clone() };
            let path = part.strip_prefix(&paths.root).map_err(|_| outside())?;
            walk.add(path.to_str().ok_or_else(|| ContentsError::Name(shown(path)))?)?;
        }
        for file in ROOT_FILES {
            walk.add(file)?;
        }
        for path in include {
            let is_below = Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
            if !is_below {
                return Err(ContentsError::IncludeOutside(path.clone()));
            }
            let path = path.trim_start_matches("./").trim_end_matches('/');
            if root.join(path).symlink_metadata().is_err() {
                return Err(ContentsError::NoInclude(path.to_owned()));
            }
            walk.add(path)?;
        }
        walk.contents.check()
    }

    fn check(mut self) -> Result<Self, ContentsError> {
        self.left_out.sort();
        self.left_out.dedup();
        let total: u64 = self.files.values().map(|file| file.bytes).sum();
        let largest = self.files.iter().max_by_key(|(_, file)| file.bytes);
        match largest {
            Some((path, file)) if total > MOST_BYTES => {
                Err(ContentsError::Large { path: path.clone(), bytes: file.bytes })
            }
            _ => Ok(self),
        }
    }
}

struct Walk<'r> {
    root: &'r Path,
    contents: Contents,
}

impl Walk<'_> {
    /// Adds a path below the project, if it exists, and everything in it.
    fn add(&mut self, path: &str) -> Result<(), ContentsError> {
        let mut left = vec![(path.to_owned(), self.root.join(path))];
        while let Some((path, place)) = left.pop() {
            let Ok(found) = place.symlink_metadata() else { continue };
            if let Some(reason) = reason(&path, found.is_dir()) {
                self.contents.left_out.push((path, reason));
                continue;
            }
            let place = if found.is_symlink() {
                match self.followed(&path, &place)? {
                    Some(target) => target,
                    None => continue,
                }
            } else {
                place
            };
            let read = |source| ContentsError::Read { path: place.clone(), source };
            let found = place.metadata().map_err(read)?;
            if found.is_dir() {
                for entry in fs::read_dir(&place).map_err(read)? {
                    let name = entry.map_err(read)?.file_name();
                    let is_wrong = |name: &str| name.contains(|sign: char| sign.is_control() || sign == '\\');
                    let plain = name.to_str().filter(|name| !is_wrong(name));
                    let Some(plain) = plain else {
                        return Err(ContentsError::Name(shown(&Path::new(&path).join(&name))));
                    };
                    left.push((format!("{path}/{plain}"), place.join(&name)));
                }
            } else if found.is_file() {
                self.add_file(path, place, &found)?;
            } else {
                return Err(ContentsError::Special(path));
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: String, source: PathBuf, found: &fs::Metadata) -> Result<(), ContentsError> {
        let bytes = found.len();
        if bytes > MOST_FILE_BYTES {
            return Err(ContentsError::LargeFile { path, bytes });
        }
        let is_program = found.permissions().mode() & 0o100 != 0;
        self.contents.files.insert(path, ProjectFile { source, is_program, bytes });
        if self.contents.files.len() > MOST_FILES { Err(ContentsError::ManyFiles) } else { Ok(()) }
    }

    /// The target of a link, which must be in the project; `None` if it is left out.
    fn followed(&mut self, path: &str, place: &Path) -> Result<Option<PathBuf>, ContentsError> {
        let target = place.canonicalize().map_err(|_| ContentsError::BrokenLink(path.to_owned()))?;
        let Ok(below) = target.strip_prefix(self.root) else {
            return Err(ContentsError::LinkOutside { path: path.to_owned(), target });
        };
        // Two folders with links to each other contain themselves only on the way through the links.
        let way = self.root.join(path);
        let mut folders = way.ancestors().skip(1).chain(place.parent());
        if folders.any(|folder| folder.canonicalize().is_ok_and(|folder| folder.starts_with(&target))) {
            return Err(ContentsError::Loop(path.to_owned()));
        }
        // A link does not make a secret harmless.
        let below = below.to_str().ok_or_else(|| ContentsError::Name(shown(below)))?;
        if let Some(reason) = reason(below, target.is_dir()) {
            self.contents.left_out.push((path.to_owned(), reason));
            return Ok(None);
        }
        Ok(Some(target))
    }
}

fn shown(path: &Path) -> String {
    mcp_bash_harmless::line(&path.to_string_lossy()).into_owned()
}
