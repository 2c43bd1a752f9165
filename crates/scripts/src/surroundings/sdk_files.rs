//! SDK files: what every script finds besides its project, embedded in this program.

use std::borrow::Cow;

/// The files of the SDK, as they are in the repository: names relative to its folder, and texts.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/sdk_files.rs"));
}

/// Distinguishes the contents that different versions of this program write.
pub(crate) use embedded::DIGEST;
use embedded::{BASH_FILES, LANGUAGE_FILES};

/// The file that a traced bash reads before its script. It needs a bash that can trace to a descriptor other than standard
/// error; programs that the script starts are not traced.
const TRACE: &str = r#"unset BASH_ENV
if [ -n "${MCPBASH_TRACE_FILE:-}" ] && [ "${BASH_VERSINFO[0]}" -gt 3 ]; then
	PS4=$MCPBASH_TRACE_PS4
	exec 199>>"$MCPBASH_TRACE_FILE"
	BASH_XTRACEFD=199
	set -x
fi
"#;

/// Our own providers of resources, as scripts that projects call: each prints the content of a URI.
const PROVIDERS: [&str; 4] = ["file.sh", "https.sh", "git.sh", "echo.sh"];

const PROVIDER: &str = "#!/bin/sh\nexec \"${MCPBASH_BIN:-mcp-bash}\" provider read \"$1\"\n";

/// The version, as scripts receive it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
const VERSION_LINE: &str = concat!(env!("CARGO_PKG_VERSION"), "\n");

/// A file that every script finds, whatever its project.
pub(crate) struct HomeFile {
    /// Relative to `MCPBASH_HOME`.
    pub(crate) name: Cow<'static, str>,
    pub(crate) text: &'static str,
    pub(crate) is_program: bool,
}

impl HomeFile {
    fn of_sdk((name, text): (&'static str, &'static str)) -> Self {
        Self { name: format!("sdk/{name}").into(), text, is_program: false }
    }
}

/// The files for bash and other shells.
pub(crate) fn home_files() -> impl Iterator<Item = HomeFile> {
    let others = [("VERSION", VERSION_LINE), ("trace.sh", TRACE)];
    let others =
        others.into_iter().map(|(name, text)| HomeFile { name: name.into(), text, is_program: false });
    let provider =
        |name| HomeFile { name: format!("providers/{name}").into(), text: PROVIDER, is_program: true };
    BASH_FILES.into_iter().map(HomeFile::of_sdk).chain(others).chain(PROVIDERS.into_iter().map(provider))
}

/// The files for languages.
pub(crate) fn language_files() -> impl Iterator<Item = HomeFile> {
    LANGUAGE_FILES.into_iter().map(HomeFile::of_sdk)
}
