//! Case discovery: finds the case files of a project and reads them.

use crate::cases::case::Case;
use crate::cases::case_file::CaseFile;
use crate::cases::read_case::cases;
use crate::cases::subjects::Subjects;
use crate::snapshot;
use mcp_bash_project::Paths;
use mcp_bash_terminal::visible;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest case file, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;

/// As deep as entries are searched for.
const DEPTH: usize = 16;

/// The folder that holds cases, at any depth.
pub(crate) const FOLDER: &str = "tests";

/// A case file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseProblem {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
    pub(crate) problem: String,
}

impl fmt::Display for CaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.problem),
            None => write!(f, "{}: {}", self.file, self.problem),
        }
    }
}

/// All cases of a project, ordered by file, and the problems with the rest.
pub(crate) fn find(paths: &Paths, subjects: &Subjects) -> (Vec<Case>, Vec<CaseProblem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in case_files(paths) {
        let shown = visible(&path.strip_prefix(&paths.root).unwrap_or(&path).to_string_lossy());
        let problem = |line, problem| CaseProblem { file: shown.clone(), line, problem };
        let content = match mcp_bash_files::read_text(&path, LONGEST) {
            Ok(content) => content,
            Err(error) => {
                problems.push(problem(None, error.to_string()));
                continue;
            }
        };
        let file = CaseFile { path: &path, shown: &shown };
        match cases(&file, &content, &|| subjects.usual(&path)) {
            Ok(read) => {
                problems.extend(alike(&read));
                found.extend(read);
            }
            Err(wrong) => problems.push(problem(wrong.line, wrong.problem)),
        }
    }
    (found, problems)
}

/// The cases of a file whose names are so similar that they would share a snapshot file.
fn alike(cases: &[Case]) -> Vec<CaseProblem> {
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    let mut problems = Vec::new();
    for case in cases {
        if let Some(line) = known.insert(snapshot::path(case, 0), case.place.line) {
            let problem =
                format!("another case of this file is called `{}` or much like it (line {line})", case.name);
            problems.push(CaseProblem {
                file: case.place.shown.clone(),
                line: Some(case.place.line),
                problem,
            });
        }
    }
    problems
}

/// The files with cases: in `tests/` of the project, and in each `tests/` in a folder of tools, prompts or resources.
fn case_files(paths: &Paths) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in test_folders(paths) {
        let mut own: Vec<PathBuf> = entries(&folder)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"))
            // Anything else of that name is reported as a file that cannot be read.
            .filter(|path| !path.is_dir())
            .collect();
        own.sort();
        files.append(&mut own);
    }
    files
}

/// All folders that may hold cases.
pub(crate) fn test_folders(paths: &Paths) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [&paths.tools, &paths.prompts, &paths.resources] {
        walk(folder, DEPTH, &mut HashSet::new(), &mut found);
    }
    // Directly in these it is a folder like any other, with prompts and resources in it.
    found.retain(|folder| *folder != paths.prompts.join(FOLDER) && *folder != paths.resources.join(FOLDER));
    let own = paths.root.join(FOLDER);
    if own.is_dir() && !found.contains(&own) {
        found.push(own);
    }
    found
}

fn walk(folder: &Path, depth: usize, seen: &mut HashSet<(u64, u64)>, found: &mut Vec<PathBuf>) {
    let Ok(looks) = std::fs::metadata(folder) else { return };
    // Symlinks can lead back.
    if depth == 0 || !seen.insert((looks.dev(), looks.ino())) {
        return;
    }
    let mut folders: Vec<PathBuf> = entries(folder).into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    for path in folders {
        let name = path.file_name().unwrap_or(OsStr::new(""));
        if name == FOLDER {
            found.push(path);
        } else if !name.as_bytes().starts_with(b".") && name != "node_modules" && name != "__pycache__" {
            walk(&path, depth - 1, seen, found);
        }
    }
}

/// The content of a folder, without hidden files.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| !entry.file_name().as_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect()
}
