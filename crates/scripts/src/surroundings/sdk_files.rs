//! SDK files: what every script finds besides its project, embedded in this program.

use miniz_oxide::inflate::decompress_to_vec;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// The files of the SDK, as they are in the repository: names relative to its folder, and texts.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/sdk_files.rs"));
}

/// Distinguishes the contents that different versions of this program write.
pub(crate) use embedded::DIGEST;
use embedded::{BASH_FILES, LANGUAGE_FILES, LANGUAGES};

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
    text: Text,
    pub(crate) is_program: bool,
}

enum Text {
    Here(&'static str),
    /// The part of the compressed texts.
    Compressed(Range<usize>),
}

/// The texts of all files for Python and Node.js.
static LANGUAGE_TEXTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    decompress_to_vec(LANGUAGES).unwrap_or_else(|error| unreachable!("the files of the SDK: {error}"))
});

impl HomeFile {
    fn of_sdk((name, text): (&'static str, &'static str)) -> Self {
        Self { name: format!("sdk/{name}").into(), text: Text::Here(text), is_program: false }
    }

    pub(crate) fn text(&self) -> &'static [u8] {
        match &self.text {
            Text::Here(text) => text.as_bytes(),
            Text::Compressed(part) => &LANGUAGE_TEXTS[part.clone()],
        }
    }

    /// The length of the text, for which it need not be decompressed.
    pub(crate) fn length(&self) -> usize {
        match &self.text {
            Text::Here(text) => text.len(),
            Text::Compressed(part) => part.len(),
        }
    }
}

/// The files for bash and other shells.
pub(crate) fn home_files() -> impl Iterator<Item = HomeFile> {
    let others = [("VERSION", VERSION_LINE), ("trace.sh", TRACE)];
    let others =
        others.map(|(name, text)| HomeFile { name: name.into(), text: Text::Here(text), is_program: false });
    let provider = |name| HomeFile {
        name: format!("providers/{name}").into(),
        text: Text::Here(PROVIDER),
        is_program: true,
    };
    BASH_FILES.into_iter().map(HomeFile::of_sdk).chain(others).chain(PROVIDERS.into_iter().map(provider))
}

/// The files for languages.
pub(crate) fn language_files() -> impl Iterator<Item = HomeFile> {
    LANGUAGE_FILES.into_iter().map(|(name, part)| HomeFile {
        name: format!("sdk/{name}").into(),
        text: Text::Compressed(part),
        is_program: false,
    })
}
