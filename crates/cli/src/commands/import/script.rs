//! Scripts of an import: which files are scripts, how each is run, and what its text says. None of them is run.

use super::error::ImportError;
use super::source::{LONGEST, text};
use mcp_bash_importing::{
    Imported, LeftOut, ScriptCommand, ScriptLanguage, interpreter, read_script, tool_name,
};
use rustix::fs::{Access, access};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// How much of a file is read to tell whether it is a script.
const START: usize = 256;

/// Whether a file is a script of a known language.
pub(super) fn is_script(file: &Path) -> bool {
    start(file).is_some_and(|start| language(&start, file).is_some())
}

fn language(start: &[u8], file: &Path) -> Option<ScriptLanguage> {
    ScriptLanguage::of(start, file.file_name()?.to_str()?)
}

/// The beginning of a regular file. Anything else is not opened, because it could block.
fn start(file: &Path) -> Option<Vec<u8>> {
    let opened = mcp_bash_files::open(file).ok()?;
    mcp_bash_files::require_regular(&opened).ok()?;
    let mut start = Vec::new();
    opened.take(START as u64).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Reads scripts, for commands that run in the folder of a project.
pub(super) struct Scripts<'a> {
    /// The folder of the project.
    pub(super) root: &'a Path,
    /// The folder that was named, which no link may leave.
    pub(super) folder: Option<&'a Path>,
    /// How a tool names a script that was found on the PATH.
    pub(super) word: Option<&'a str>,
    /// Whether all options become arguments, not only the first ones.
    pub(super) all_options: bool,
}

impl Scripts<'_> {
    /// The drafts of all scripts among some files, and why others are left out.
    pub(super) fn read(&self, files: &[std::path::PathBuf]) -> Imported {
        let mut imported = Imported::default();
        for file in files {
            let shown = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match self.one(file) {
                Ok(Some(one)) => {
                    imported.tools.extend(one.tools);
                    imported.left_out.extend(one.left_out);
                }
                Ok(None) => {}
                Err(why) => imported.left_out.push(LeftOut { what: shown, why }),
            }
        }
        tell_apart(&mut imported);
        imported
    }

    /// One script; `None` for a file that is none and that no one would expect to be one.
    fn one(&self, file: &Path) -> Result<Option<Imported>, String> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if self.folder.is_some() && (name.starts_with('.') || file.is_dir()) {
            return Ok(None);
        }
        if let Some(folder) = self.folder
            && file.symlink_metadata().is_ok_and(|about| about.is_symlink())
        {
            let target =
                file.canonicalize().map_err(|error| format!("it is a link that leads nowhere: {error}"))?;
            let is_inside = folder.canonicalize().is_ok_and(|folder| target.starts_with(folder));
            let target = target.display();
            return Err(if is_inside {
                format!("it is a link to {target}, which is read by itself")
            } else {
                format!("it is a link to {target}, outside the folder; import that file by its path")
            });
        }
        let Some(start) = start(file) else {
            return Err("it is no regular file that can be read".to_owned());
        };
        let can_run = access(file, Access::EXEC_OK).is_ok();
        let Some(language) = language(&start, file) else {
            return if can_run {
                Err("it is no script; `mcp-bash import` with its path and `--run-help` reads its help"
                    .to_owned())
            } else {
                Ok(None)
            };
        };
        let utf8 = |error: ImportError| error.to_string();
        let bytes = mcp_bash_files::read(file, LONGEST as u64).map_err(|error| error.to_string())?;
        let is_itself = can_run && start.starts_with(b"#!");
        let path = self.path(file).map_err(utf8)?;
        let mut words = Vec::new();
        if !is_itself {
            let program = interpreter(&start).or(language.default_interpreter().map(str::to_owned));
            words.push(program.ok_or("it is not executable, and its interpreter is not known")?);
        }
        words.push(path);
        let is_own = !is_itself || words[0].starts_with("./");
        let command = ScriptCommand { name: &name, words: &words, is_own, all_options: self.all_options };
        let code = String::from_utf8_lossy(&bytes);
        read_script(&code, language, command).map(Some).map_err(|why| format!("it {why}"))
    }

    /// Its path as a word of a command.
    fn path(&self, file: &Path) -> Result<String, ImportError> {
        if let Some(word) = self.word {
            return Ok(word.to_owned());
        }
        let absolute = std::path::absolute(file)
            .map_err(|source| ImportError::Read { file: file.to_owned(), source })?;
        let file = absolute.canonicalize().unwrap_or(absolute);
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.to_owned());
        match file.strip_prefix(&root) {
            Ok(below) => Ok(format!("./{}", text(below)?)),
            Err(_) => text(&file),
        }
    }
}

/// Scripts that differ in their ending only (`deploy.sh`, `deploy.py`) are named with it.
fn tell_apart(imported: &mut Imported) {
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<String> = imported
        .tools
        .iter()
        .filter(|tool| !seen.insert(tool.name.clone()))
        .map(|tool| tool.name.clone())
        .collect();
    for tool in imported.tools.iter_mut().filter(|tool| twice.contains(&tool.name)) {
        if let Some(name) = tool_name(&tool.origin) {
            tool.name = name;
        }
    }
}
