//! Signs of a script that uses the folders of its client, in its text.

use memchr::memmem::{find, find_iter};
use std::io::Read;
use std::path::Path;

/// How much of a script is searched, in bytes.
const LOOKED_AT: u64 = 256 * 1024;

/// What the SDKs, the variables and the protocol call them.
const SIGNS: [&str; 7] =
    ["mcp_require_path", "mcp_roots_", "MCP_ROOTS", "inside_roots", "nsideRoots", "askRoots", "roots/list"];

/// A function of the SDK for Python, which is imported by this name.
const CALL: &str = "roots(";

/// Whether the script at that path names them.
pub(super) fn is_in(script: &Path) -> bool {
    let mut text = Vec::new();
    let read = mcp_bash_files::open(script).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut text));
    read.is_ok() && names_roots(&text)
}

fn names_roots(text: &[u8]) -> bool {
    let is_word = |start: usize| {
        start
            .checked_sub(1)
            .is_none_or(|before| !text[before].is_ascii_alphanumeric() && text[before] != b'_')
    };
    SIGNS.iter().any(|sign| find(text, sign.as_bytes()).is_some()) || find_iter(text, CALL).any(is_word)
}

#[cfg(test)]
mod tests {
    use super::names_roots;

    #[test]
    fn a_script_that_uses_the_folders_of_the_client_is_recognised() {
        for text in [
            "path=$(mcp_require_path .path)",
            "mcp_roots_list | sort",
            "import os; os.environ['MCP_ROOTS_PATHS']",
            "from mcp_bash import inside_roots",
            "for root in roots(): print(root)",
            "await aio.roots()",
            "const path = await askInsideRoots(file)",
            "insideRoots(file)",
            "await askRoots()",
            "\"$MCPBASH_BIN\" ask roots/list '{}'",
        ] {
            assert!(names_roots(text.as_bytes()), "{text}");
        }
        for text in ["", "echo hello", "def square_roots(x): ...", "Roots(1)", "# the roots of a tree"] {
            assert!(!names_roots(text.as_bytes()), "{text}");
        }
    }
}
