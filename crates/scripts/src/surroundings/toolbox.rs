//! What scripts find beside their own project: the SDK, this program, and a jq. One binary is a whole installation, so
//! these are files only while a server runs. A command that ends after one call shares those in the cache of the user; and
//! what Python and Node.js import is always there, so that it is compiled once and not for each server.

use crate::surroundings::cached_home::{
    cached_home, cached_home_for_languages, cached_jq, is_intact, write_files,
};
use crate::surroundings::sdk_files::{HomeFile, VERSION, home_files, language_files};
use mcp_bash_runner::{StateDir, touch};
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The toolbox, laid out.
#[derive(Debug)]
pub(crate) struct Toolbox {
    /// The SDK, and what else is the same for every server.
    home: PathBuf,
    /// The folder that holds `python` and `node`.
    languages: PathBuf,
    /// Whether that is in the cache of the user.
    languages_are_cached: bool,
    jq: PathBuf,
    /// The folder for the state of scripts, always in the private folder.
    state: PathBuf,
    program: PathBuf,
    /// What the folder of the SDK looked like when all of it was there.
    seen: Mutex<Option<Appearance>>,
    /// The last search path that was completed, and what it became.
    completed: Mutex<Option<(OsString, OsString)>>,
}

/// Identity and time of last change of a folder: differs when an entry was added or removed.
type Appearance = (u64, u64, i64, i64);

impl Toolbox {
    /// All of it in the private folder; or the files in the cache of the user where they are `shared` and can be.
    pub(crate) fn lay_out(state_dir: &StateDir, shared: bool) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let state = state_dir.with_restored(|| {
            let state = state_dir.path()?.join("state");
            make_folder(&state).map(|()| state)
        })?;
        // A cache that cannot be used is no reason to do without the SDK.
        let cached = cached_home().ok();
        let of_cache = || {
            let home = cached.clone()?;
            let jq = cached_jq(&home, &program).ok()?;
            Some((home, jq))
        };
        let (home, jq) = match shared.then(of_cache).flatten() {
            Some(files) => files,
            // Where nothing can be written, what was written before does as well.
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

    /// Whether all of it is still there. One system call, as long as nobody has touched the folder of the SDK.
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

    /// Makes the files look used, for those who remove what was not used for long; or says that some are gone. Those in the cache
    /// of the user are left as they are.
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

    /// A file of the SDK of Python or of Node.js, all of which is put back where somebody has emptied the cache meanwhile.
    pub(crate) fn of_language(&self, name: &str) -> PathBuf {
        if self.languages_are_cached {
            // Where that cannot be done, the worker says what it misses.
            let _ = cached_home_for_languages();
        }
        self.languages.join(name)
    }

    /// Where Python looks for modules: where it does anyway, and then in the SDK.
    pub(crate) fn python_path(&self, before: Option<&OsStr>) -> OsString {
        let ours = self.languages.join("python");
        let mut path = before.unwrap_or_default().to_owned();
        if !path.is_empty() {
            path.push(":");
        }
        path.push(ours);
        path
    }

    /// Where a script finds all this.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 8] {
        [
            ("MCPBASH_FRAMEWORK_VERSION", VERSION.into()),
            ("MCPBASH_STATE_DIR", self.state.clone().into()),
            ("MCP_SDK", self.home.join("sdk").into()),
            ("MCP_SDK_NODE", self.languages.join("node/index.mjs").into()),
            ("MCPBASH_HOME", self.home.clone().into()),
            ("MCPBASH_BIN", self.program.clone().into()),
            ("MCPBASH_JSON_TOOL", "jq".into()),
            ("MCPBASH_JSON_TOOL_BIN", self.jq.clone().into()),
        ]
    }

    /// What a bash reads first whose commands are recorded.
    pub(crate) fn trace(&self) -> PathBuf {
        self.home.join("trace.sh")
    }

    /// The search path, with our jq at its end where it has none.
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

/// The home and the jq in the private folder. What is there of an earlier home, and is not all of it, is replaced in one step:
/// scripts that run now never find half of a file.
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
        // Called by that name, this program is one.
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
