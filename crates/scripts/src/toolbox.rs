//! What scripts find beside their own project: the SDK, this program, and a jq. One binary is a whole installation, so
//! these are files only while a server runs. A command that ends after one call shares those in the cache of the user.

use crate::cached_home::{cached_home, cached_jq, write_home};
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The files of the SDK, as they are in the repository: names relative to its folder, and texts.
pub(crate) const SDK_FILES: [(&str, &str); 11] = [
    ("tool-sdk.sh", include_str!("../../../sdk/tool-sdk.sh")),
    ("parts/args.sh", include_str!("../../../sdk/parts/args.sh")),
    ("parts/ask.sh", include_str!("../../../sdk/parts/ask.sh")),
    ("parts/config.sh", include_str!("../../../sdk/parts/config.sh")),
    ("parts/download.sh", include_str!("../../../sdk/parts/download.sh")),
    ("parts/errors.sh", include_str!("../../../sdk/parts/errors.sh")),
    ("parts/json.sh", include_str!("../../../sdk/parts/json.sh")),
    ("parts/notify.sh", include_str!("../../../sdk/parts/notify.sh")),
    ("parts/output.sh", include_str!("../../../sdk/parts/output.sh")),
    ("parts/roots.sh", include_str!("../../../sdk/parts/roots.sh")),
    ("parts/run.sh", include_str!("../../../sdk/parts/run.sh")),
];

/// What a bash that is traced reads before its script. It needs a bash that can trace to another place than standard
/// error; programs that the script starts are not traced.
const TRACE: &str = r#"unset BASH_ENV
if [ -n "${MCPBASH_TRACE_FILE:-}" ] && [ "${BASH_VERSINFO[0]}" -gt 3 ]; then
	PS4=$MCPBASH_TRACE_PS4
	exec 199>>"$MCPBASH_TRACE_FILE"
	BASH_XTRACEFD=199
	set -x
fi
"#;

/// Our own providers of resources, as scripts that projects call: each prints what a URI names.
const PROVIDERS: [&str; 4] = ["file.sh", "https.sh", "git.sh", "echo.sh"];

const PROVIDER: &str = "#!/bin/sh\nexec \"${MCPBASH_BIN:-mcp-bash}\" provider read \"$1\"\n";

/// The version, as scripts are told it.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const VERSION_LINE: &str = concat!(env!("CARGO_PKG_VERSION"), "\n");

/// A file that every script finds, whichever project it belongs to.
pub(crate) struct HomeFile {
    /// Relative to `MCPBASH_HOME`.
    pub(crate) name: Cow<'static, str>,
    pub(crate) text: &'static str,
    pub(crate) is_program: bool,
}

pub(crate) fn home_files() -> impl Iterator<Item = HomeFile> {
    let file = |name, text| HomeFile { name, text, is_program: false };
    let sdk = SDK_FILES.into_iter().map(move |(name, text)| file(format!("sdk/{name}").into(), text));
    let others = [("VERSION", VERSION_LINE), ("trace.sh", TRACE)];
    let others = others.into_iter().map(move |(name, text)| file(name.into(), text));
    let provider =
        |name| HomeFile { name: format!("providers/{name}").into(), text: PROVIDER, is_program: true };
    sdk.chain(others).chain(PROVIDERS.into_iter().map(provider))
}

/// The toolbox, laid out.
#[derive(Debug)]
pub(crate) struct Toolbox {
    /// The SDK, and what else is the same for every server.
    home: PathBuf,
    jq: PathBuf,
    /// The folder for the state of scripts, always in the private folder.
    state: PathBuf,
    program: PathBuf,
    /// The last search path that was completed, and what it became.
    completed: Mutex<Option<(OsString, OsString)>>,
}

impl Toolbox {
    /// All of it in the private folder; or the files in the cache of the user where they are `shared` and can be.
    pub(crate) fn lay_out(state_dir: &StateDir, shared: bool) -> io::Result<Self> {
        let private = state_dir.path()?;
        let program = std::env::current_exe()?;
        let state = private.join("state");
        fs::create_dir(&state)?;
        let (home, jq) = match shared.then(|| shared_files(&program)).flatten() {
            Some(files) => files,
            // A cache that cannot be used is no reason to do without the SDK.
            None => private_files(&private.join("home"), &program)?,
        };
        Ok(Self { home, jq, state, program, completed: Mutex::default() })
    }

    /// The folder of the SDK, with a folder for each language besides bash.
    pub(crate) fn sdk(&self) -> PathBuf {
        self.home.join("sdk")
    }

    /// Where Python looks for modules: where it does anyway, and then in the SDK.
    pub(crate) fn python_path(&self, before: Option<&OsStr>) -> OsString {
        let ours = self.sdk().join("python");
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
            ("MCP_SDK", self.sdk().into()),
            ("MCP_SDK_NODE", self.sdk().join("node/index.mjs").into()),
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

/// The home and the jq in the cache of the user, if they can be used.
fn shared_files(program: &Path) -> Option<(PathBuf, PathBuf)> {
    let home = cached_home().ok()?;
    let jq = cached_jq(&home, program).ok()?;
    Some((home, jq))
}

/// The same files in a folder that is made for them.
fn private_files(home: &Path, program: &Path) -> io::Result<(PathBuf, PathBuf)> {
    fs::create_dir_all(home.join("bin"))?;
    let jq = home.join("bin/jq");
    // Called by that name, this program is one.
    symlink(program, &jq)?;
    write_home(home)?;
    Ok((home.to_owned(), jq))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
