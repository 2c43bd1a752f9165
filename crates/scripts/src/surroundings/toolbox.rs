//! Toolbox: what scripts find besides their own project: the SDK, this program, and a jq. The program embeds all of them, so
//! the files exist only while a server runs. A command that exits after one call uses those in the user's cache. The modules
//! for languages are always in that cache, if it is usable, so that they are not compiled again for each server.

use crate::surroundings::cached_home::{
    cached_home, cached_home_for_languages, cached_jq, is_intact, write_files,
};
use crate::surroundings::sdk_files::{HomeFile, VERSION, home_files, language_files};
use mcp_bash_project::{Language, SdkVariable};
use mcp_bash_runner::{StateDir, Variables, touch};
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The toolbox, on disk.
#[derive(Debug)]
pub(crate) struct Toolbox {
    /// The folder of the SDK, and of everything else that is the same for every server.
    home: PathBuf,
    /// The folder that holds a folder for each language.
    languages: PathBuf,
    /// Whether that is in the user's cache.
    languages_are_cached: bool,
    jq: PathBuf,
    /// The folder for the state of scripts, always in the private folder.
    state: PathBuf,
    program: PathBuf,
    /// The SDK folder when it was last checked.
    seen: Mutex<Option<Appearance>>,
    /// The last search path that was completed, and its result.
    completed: Mutex<Option<(OsString, OsString)>>,
}

/// Identity and modification time of a folder. They differ when an entry was added or removed.
type Appearance = (u64, u64, i64, i64);

impl Toolbox {
    /// Writes all of it to the private folder; or uses the files in the user's cache if they are `shared` and usable.
    pub(crate) fn lay_out(state_dir: &StateDir, shared: bool) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let state = state_dir.with_restored(|| {
            let state = state_dir.path()?.join("state");
            make_folder(&state).map(|()| state)
        })?;
        // The SDK is written elsewhere if the cache is not usable.
        let cached = cached_home().ok();
        let of_cache = || {
            let home = cached.clone()?;
            let jq = cached_jq(&home, &program).ok()?;
            Some((home, jq))
        };
        let (home, jq) = match shared.then(of_cache).flatten() {
            Some(files) => files,
            // If nothing can be written, existing files in the cache are used.
            None => private_files(state_dir, &program, cached.is_none())
                .or_else(|error| of_cache().ok_or(error))?,
        };
        let languages_are_cached = cached.is_some();
        let languages = cached.unwrap_or_else(|| home.clone()).join("sdk");
        let seen = Mutex::new(appearance(&home.join("sdk")));
        Ok(Self {
            home,
            languages,
            languages_are_cached,
            jq,
            state,
            program,
            seen,
            completed: Mutex::default(),
        })
    }

    /// Whether all of it still exists. One system call, as long as the SDK folder is unchanged.
    pub(crate) fn is_laid_out(&self) -> bool {
        let mut seen = self.seen.lock();
        let now = appearance(&self.home.join("sdk"));
        if now.is_some() && now == *seen {
            return true;
        }
        *seen = now;
        self.is_complete()
    }

    fn is_complete(&self) -> bool {
        let files = home_files().chain(self.private_language_files());
        self.state.is_dir() && self.jq.exists() && is_complete(&self.home, files)
    }

    fn private_language_files(&self) -> impl Iterator<Item = HomeFile> {
        language_files().filter(|_| !self.languages_are_cached)
    }

    /// Touches the files, so that no cleaner removes them. Fails if some are gone. Files in the user's cache are not touched.
    pub(crate) fn refresh(&self) -> io::Result<()> {
        if !self.is_complete() {
            return Err(ErrorKind::NotFound.into());
        }
        touch(&self.state)?;
        if self.home.parent() != self.state.parent() {
            return Ok(());
        }
        touch(&self.jq)?;
        for file in home_files().chain(self.private_language_files()) {
            let path = self.home.join(&*file.name);
            touch(&path)?;
            let folders = path.ancestors().skip(1);
            folders.take_while(|folder| folder.starts_with(&self.home)).try_for_each(touch)?;
        }
        *self.seen.lock() = appearance(&self.home.join("sdk"));
        Ok(())
    }

    /// A file of the SDK for a language. If the cache was emptied, all of its files are written again.
    pub(crate) fn of_language(&self, name: &str) -> PathBuf {
        if self.languages_are_cached {
            // If that fails, the worker reports what is missing.
            let _ = cached_home_for_languages();
        }
        self.languages.join(name)
    }

    /// The folder that holds a folder for each language, if it is in the user's cache.
    pub(crate) fn cached_languages(&self) -> Option<PathBuf> {
        self.languages_are_cached.then(|| self.languages.clone())
    }

    /// The variable that names the SDK of a language. In a search path, the SDK comes last.
    pub(crate) fn sdk_variable(
        &self,
        language: &Language,
        variables: &Variables,
    ) -> (&'static str, OsString) {
        match language.sdk_variable {
            SdkVariable::File { variable, file } => (variable, self.languages.join(file).into()),
            SdkVariable::SearchPath { variable, folder } => {
                let mut path = variables.get(variable).unwrap_or_default().to_owned();
                if !path.is_empty() {
                    path.push(":");
                }
                path.push(self.languages.join(folder));
                (variable, path)
            }
        }
    }

    /// The variables that name the parts of the toolbox.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 7] {
        [
            ("MCPBASH_FRAMEWORK_VERSION", VERSION.into()),
            ("MCPBASH_STATE_DIR", self.state.clone().into()),
            ("MCP_SDK", self.home.join("sdk").into()),
            ("MCPBASH_HOME", self.home.clone().into()),
            ("MCPBASH_BIN", self.program.clone().into()),
            ("MCPBASH_JSON_TOOL", "jq".into()),
            ("MCPBASH_JSON_TOOL_BIN", self.jq.clone().into()),
        ]
    }

    /// The file that bash sources first in a traced script.
    pub(crate) fn trace(&self) -> PathBuf {
        self.home.join("trace.sh")
    }

    /// The search path, with the folder of our jq at its end if it contains no jq.
    pub(crate) fn completed(&self, search_path: &OsStr) -> OsString {
        let mut last = self.completed.lock();
        if let Some((_, completed)) = last.as_ref().filter(|(path, _)| path == search_path) {
            return completed.clone();
        }
        let has_one = std::env::split_paths(search_path).any(|folder| is_executable(&folder.join("jq")));
        let ours = if has_one { None } else { self.jq.parent().map(Path::to_owned) };
        let folders = std::env::split_paths(search_path).chain(ours);
        let completed = std::env::join_paths(folders).unwrap_or_else(|_| search_path.to_owned());
        *last = Some((search_path.to_owned(), completed.clone()));
        completed
    }
}

/// The home and the jq in the private folder. An incomplete home is replaced by renaming, so that running scripts never find a
/// partial file.
fn private_files(
    state_dir: &StateDir,
    program: &Path,
    with_languages: bool,
) -> io::Result<(PathBuf, PathBuf)> {
    let home = state_dir.path()?.join("home");
    let (fresh, old) = (state_dir.fresh("new")?, state_dir.fresh("old")?);
    let files = || home_files().chain(language_files().filter(|_| with_languages));
    let jq = home.join("bin/jq");
    if jq.exists() && is_complete(&home, files()) {
        return Ok((home, jq));
    }
    let written = fs::create_dir_all(fresh.join("bin")).and_then(|()| {
        // Under this name, this program acts as jq.
        symlink(program, fresh.join("bin/jq"))?;
        write_files(&fresh, files())?;
        if home.symlink_metadata().is_ok() {
            fs::rename(&home, &old)?;
        }
        fs::rename(&fresh, &home)
    });
    let _ = fs::remove_dir_all(&old);
    if written.is_err() {
        let _ = fs::remove_dir_all(&fresh);
    }
    written.map(|()| (home, jq))
}

fn is_complete(home: &Path, mut files: impl Iterator<Item = HomeFile>) -> bool {
    files.all(|file| is_intact(home, &file))
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

fn appearance(folder: &Path) -> Option<Appearance> {
    let seen = folder.metadata().ok()?;
    Some((seen.dev(), seen.ino(), seen.mtime(), seen.mtime_nsec()))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
