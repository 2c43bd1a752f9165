//! Signs of a function file: how a file says that its functions are tools, resources or prompts. Nothing is run to find
//! out.

use crate::declarations::metadata::Metadata;
use crate::languages::{Language, language_of_functions, language_of_script, languages};
use std::ffi::OsStr;
use std::path::Path;

/// The largest file that is searched for signs, in bytes: nobody writes a longer one by hand.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The language of the functions of a file, if it may have any, by its name. Files that begin with `_` or `test_` are
/// helpers.
pub fn language_of_file(file: &Path) -> Option<&'static Language> {
    let name = file.file_name()?.to_str()?;
    if is_of_helper(name) { None } else { language_of_functions(file) }
}

/// Whether a file has the name of a helper that function files load and that has no functions itself.
pub(crate) fn helps_functions(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str);
    name.is_some_and(is_of_helper) && language_of_functions(file).is_some()
}

fn is_of_helper(name: &str) -> bool {
    let mut endings = languages().flat_map(|language| language.helper_endings);
    name.starts_with(['_', '.']) || name.starts_with("test_") || endings.any(|ending| name.ends_with(ending))
}

/// The language of the functions of a file without metadata beside it, if it has any.
pub(crate) fn functions_of(file: &Path) -> Option<&'static Language> {
    let language = language_of_file(file)?;
    let text = text_of(file)?;
    // An author who describes a script in a comment means the script.
    ((language.has_functions)(&text) && matches!(Metadata::inline(file), Ok(None))).then_some(language)
}

/// Why a file without metadata beside it, whose functions are marked for another framework, is not served.
pub(crate) fn foreign(file: &Path) -> Option<&'static str> {
    let why = (language_of_file(file)?.foreign)(&text_of(file)?)?;
    matches!(Metadata::inline(file), Ok(None)).then_some(why)
}

/// The text of a file without its byte order mark. Signs are ASCII in every encoding that a file may declare, so the
/// encoding of the rest does not matter.
fn text_of(file: &Path) -> Option<String> {
    let opened = mcp_bash_files::open(file).ok()?;
    let bytes = mcp_bash_files::read_all(&opened, LONGEST).ok()?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Why a file that seems meant to be a function file is none, and how to make it one.
pub(crate) fn unmarked(file: &Path) -> Option<(&'static str, &'static str)> {
    file.file_name()?.to_str().filter(|name| !is_of_helper(name))?;
    let language = language_of_functions(file).or_else(|| language_of_script(file))?;
    (language.unmarked)(file.extension()?.to_str()?, &text_of(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language_in(name: &str, text: &str) -> Option<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        functions_of(&file).map(|language| language.name)
    }

    #[test]
    fn an_import_and_a_mark_are_the_sign() {
        for text in [
            "from mcp_bash import tool\n@tool\ndef f(): ...\n",
            "import os\n  import mcp_bash\n\n@mcp_bash.tool(name='x')\ndef f(): ...\n",
            "import mcp_bash as m\n@m.resource('a://b')\nasync def f(): ...\n",
        ] {
            assert_eq!(language_in("a.py", text), Some("python"), "{text}");
        }
        for text in [
            "import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => 1)\n",
            "import * as mcp from \"mcp-bash\"\nexport default [mcp.prompt ('x', {}, () => 1)]\n",
        ] {
            assert_eq!(language_in("a.mjs", text), Some("node"), "{text}");
            assert_eq!(language_in("a.ts", text), Some("node"), "{text}");
        }
    }

    #[test]
    fn other_ways_to_write_them_are_known() {
        let folder = tempfile::tempdir().unwrap();
        for text in [
            "\u{feff}from mcp_bash import tool\r\n@tool\r\ndef f(): ...\r\n".as_bytes(),
            b"import os, mcp_bash\n@mcp_bash.tool\ndef f(): ...\n",
            b"import os,mcp_bash as m, sys\n@m.tool\ndef f(): ...\n",
            b"# coding: latin-1\nfrom mcp_bash import tool\n@tool\ndef f(): return 'caf\xe9'\n",
        ] {
            let file = folder.path().join("a.py");
            std::fs::write(&file, text).unwrap();
            let language = functions_of(&file).map(|language| language.name);
            assert_eq!(language, Some("python"), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_file_that_lacks_the_mark_alone_is_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, is_told) in [
            ("a.py", "from mcp_bash import log, tool\ndef f(): ...\n", true),
            ("a.py", "from mcp_bash import (tool,\n log)\ndef f(): ...\n", true),
            ("a.py", "from mcp_bash import arguments, tools\n", false),
            ("a.py", "def add(a, b):\n    return a + b\n", true),
            ("a.py", "import os\nprint(1)\n\nclass A:\n    def f(self): ...\n", false),
            ("a.py", "def _helper(): ...\n", false),
            ("_a.py", "from mcp_bash import tool\n", false),
            ("a.cjs", "const { tool } = require('mcp-bash')\n", true),
            ("a.cjs", "const fs = require('fs')\n", false),
            ("a.mjs", "import { args } from 'mcp-bash'\n", false),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            assert_eq!(unmarked(&file).is_some(), is_told, "{name}: {text}");
        }
    }

    #[test]
    fn a_server_of_another_framework_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, is_told) in [
            ("a.py", "from fastmcp import FastMCP\n@mcp.tool\ndef f(): ...\n", true),
            ("a.py", "from mcp.server.fastmcp import FastMCP, Context\n@mcp.tool()\ndef f(): ...\n", true),
            ("a.py", "from mcp.server import MCPServer\n@mcp.resource('a://b')\ndef f(): ...\n", true),
            ("a.py", "import os\n\nimport fastmcp\n@mcp.prompt\n", true),
            ("a.py", "from fastmcp import Client\n", false),
            ("a.py", "from mcp_bash.fastmcp import FastMCP\n@mcp.tool\n", false),
            ("a.py", "# mcp: {\"name\": \"x\"}\nimport fastmcp\n@mcp.tool\n", false),
            ("_a.py", "import fastmcp\n@mcp.tool\n", false),
            ("a.mjs", "import fastmcp\n@mcp.tool\n", false),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            assert_eq!(foreign(&file).is_some(), is_told, "{name}: {text}");
        }
    }

    #[test]
    fn whatever_lacks_one_of_them_is_left_alone() {
        for (name, text) in [
            ("a.py", "from mcp_bash import arguments\nprint(arguments())\n"),
            ("a.py", "import mcp_bash_other\n@tool\ndef f(): ...\n"),
            ("a.py", "import os, mcp_bash_other\n@tool\ndef f(): ...\n"),
            ("a.py", "from os import mcp_bash\n@tool\ndef f(): ...\n"),
            ("a.py", "from fastmcp import tool\n@tool\ndef f(): ...\n"),
            ("a.py", "#!/usr/bin/env python3\n# mcp: {\"name\": \"x\"}\nimport mcp_bash\n@mcp_bash.tool\n"),
            ("_a.py", "from mcp_bash import tool\n@tool\ndef f(): ...\n"),
            ("test_a.py", "from mcp_bash import tool\n@tool\ndef f(): ...\n"),
            ("a.txt", "from mcp_bash import tool\n@tool\ndef f(): ...\n"),
            ("a.mjs", "import { args } from 'mcp-bash'\nconst mytool = (x) => x\n"),
            ("a.mjs", "import { tool } from 'other'\ntool()\n"),
            ("a.d.ts", "import { tool } from 'mcp-bash'\ntool()\n"),
        ] {
            assert_eq!(language_in(name, text), None, "{name}: {text}");
        }
    }
}
