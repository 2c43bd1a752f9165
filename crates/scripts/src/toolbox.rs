//! What scripts find beside their own project: the SDK, this program, and a jq. One binary is a whole installation, so
//! these are files only while a server runs.

use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The files of the SDK, as they are in the repository: names relative to its folder, and texts.
pub const SDK_FILES: [(&str, &str); 11] = [
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

/// The toolbox, laid out in the private folder.
#[derive(Debug)]
pub(crate) struct Toolbox {
    home: PathBuf,
    program: PathBuf,
    /// The last search path that was completed, and what it became.
    completed: Mutex<Option<(OsString, OsString)>>,
}

impl Toolbox {
    pub(crate) fn lay_out(state_dir: &StateDir) -> io::Result<Self> {
        let home = state_dir.path()?.join("home");
        let program = std::env::current_exe()?;
        fs::create_dir_all(home.join("sdk/parts"))?;
        fs::create_dir(home.join("bin"))?;
        for (name, text) in SDK_FILES {
            fs::write(home.join("sdk").join(name), text)?;
        }
        fs::write(home.join("VERSION"), format!("{VERSION}\n"))?;
        fs::write(home.join("trace.sh"), TRACE)?;
        fs::create_dir(home.join("providers"))?;
        for name in PROVIDERS {
            let path = home.join("providers").join(name);
            fs::write(&path, PROVIDER)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        fs::create_dir(home.join("state"))?;
        // Called by that name, this program is one.
        symlink(&program, home.join("bin/jq"))?;
        Ok(Self { home, program, completed: Mutex::default() })
    }

    /// Where a script finds all this.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 7] {
        [
            ("MCPBASH_FRAMEWORK_VERSION", VERSION.into()),
            ("MCPBASH_STATE_DIR", self.home.join("state").into()),
            ("MCP_SDK", self.home.join("sdk").into()),
            ("MCPBASH_HOME", self.home.clone().into()),
            ("MCPBASH_BIN", self.program.clone().into()),
            ("MCPBASH_JSON_TOOL", "jq".into()),
            ("MCPBASH_JSON_TOOL_BIN", self.home.join("bin/jq").into()),
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
        let ours = (!has_one).then(|| self.home.join("bin"));
        let folders = std::env::split_paths(search_path).chain(ours);
        let completed = std::env::join_paths(folders).unwrap_or_else(|_| search_path.to_owned());
        *last = Some((search_path.to_owned(), completed.clone()));
        completed
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
