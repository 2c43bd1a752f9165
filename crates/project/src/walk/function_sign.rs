//! Signs of a function file: how a file says that its functions are tools, resources or prompts. Nothing is run to find
//! out.

use crate::declarations::metadata::Metadata;
use crate::declarations::worker::WorkerProgram;
use std::ffi::OsStr;
use std::path::Path;

/// The largest file that is searched for signs, in bytes: nobody writes a longer one by hand.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The marks of its functions.
const MARKS: [&str; 3] = ["tool", "resource", "prompt"];

/// The worker program for the functions of a file with that name, if it may have any. Files that begin with `_` or `test_`
/// are helpers.
pub(crate) fn language(name: &OsStr) -> Option<WorkerProgram> {
    let name = name.to_str()?;
    if is_of_helper(name) { None } else { language_by_ending(name) }
}

/// Whether a file has the name of a helper that function files load and that has no functions itself.
pub(crate) fn helps_functions(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| is_of_helper(name) && language_by_ending(name).is_some())
}

fn is_of_helper(name: &str) -> bool {
    name.starts_with(['_', '.']) || name.starts_with("test_") || name.ends_with(".d.ts")
}

fn language_by_ending(name: &str) -> Option<WorkerProgram> {
    match Path::new(name).extension()?.to_str()? {
        "py" => Some(WorkerProgram::Python),
        "mjs" | "js" | "mts" | "ts" => Some(WorkerProgram::Node),
        _ => None,
    }
}

/// Whether a file may hold functions, by its name.
pub fn may_hold_functions(file: &Path) -> bool {
    file.file_name().and_then(language).is_some()
}

/// The worker program for the functions of a file without metadata beside it, if it has any.
pub(crate) fn functions_of(file: &Path) -> Option<WorkerProgram> {
    let program = language(file.file_name()?)?;
    let text = text_of(file)?;
    let has_signs = match program {
        WorkerProgram::Python => imports_in_python(&text) && text.lines().any(is_decorator),
        WorkerProgram::Node => imports_in_node(&text) && marks_in_node(&text),
        WorkerProgram::Itself => false,
    };
    // An author who describes a script in a comment means the script.
    (has_signs && matches!(Metadata::inline(file), Ok(None))).then_some(program)
}

/// The text of a file without its byte order mark. Signs are ASCII in every encoding that a file may declare, so the
/// encoding of the rest does not matter.
fn text_of(file: &Path) -> Option<String> {
    let opened = mcp_bash_files::open(file).ok()?;
    let bytes = mcp_bash_files::read_all(&opened, LONGEST).ok()?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Why a file that imports the SDK's marks is not a function file, and how to make it one.
pub(crate) fn unmarked(file: &Path) -> Option<(&'static str, &'static str)> {
    let name = file.file_name()?.to_str().filter(|name| !is_of_helper(name))?;
    let is_common_js = file.extension().is_some_and(|ending| ending == "cjs");
    let program = if is_common_js { WorkerProgram::Node } else { language_by_ending(name)? };
    let text = text_of(file)?;
    match program {
        WorkerProgram::Python if imports_marks_in_python(&text) => Some((
            "is not served: it imports marks of functions from mcp_bash, and no function has one",
            "write `@tool` above each function that is to be a tool, or let the name of the file begin with `_` if it \
             helps others",
        )),
        WorkerProgram::Node if is_common_js && imports_in_node(&text) => Some((
            "is not served: functions of a `.cjs` file are no tools",
            "write `import { tool } from 'mcp-bash'` and `export const …` in a `.mjs` file",
        )),
        _ => None,
    }
}

/// `from mcp_bash import tool`, `import mcp_bash`, `import os, mcp_bash as m`.
fn imports_in_python(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let module = line.strip_prefix("from ").is_some_and(is_our_module);
        let modules = line.strip_prefix("import ");
        module || modules.is_some_and(|modules| modules.split(',').any(is_our_module))
    })
}

fn is_our_module(words: &str) -> bool {
    let rest = words.trim_start().strip_prefix("mcp_bash");
    rest.is_some_and(|rest| !rest.starts_with(is_of_word))
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `from mcp_bash import log, tool`.
fn imports_marks_in_python(text: &str) -> bool {
    text.lines().any(|line| {
        let names = line.trim_start().strip_prefix("from ").filter(|line| is_our_module(line));
        let names = names.and_then(|line| line.split_once(" import ")).map(|(_, names)| names);
        names.is_some_and(|names| names.split(|letter| !is_of_word(letter)).any(|name| MARKS.contains(&name)))
    })
}

/// `@tool`, `@tool(…)`, `@mcp_bash.tool`.
fn is_decorator(line: &str) -> bool {
    let Some(decorator) = line.trim_start().strip_prefix('@') else { return false };
    let end = decorator.find(|next: char| !(is_of_word(next) || next == '.'));
    let name = &decorator[..end.unwrap_or(decorator.len())];
    MARKS.contains(&name.rsplit('.').next().unwrap_or(name))
}

fn imports_in_node(text: &str) -> bool {
    text.contains("'mcp-bash'") || text.contains("\"mcp-bash\"")
}

/// A call of one of the marks: `tool(`, `tool<Type>(`.
fn marks_in_node(text: &str) -> bool {
    MARKS.iter().any(|mark| {
        text.match_indices(mark).any(|(place, _)| {
            let before = text[..place].chars().next_back();
            let after = text[place + mark.len()..].trim_start().chars().next();
            before.is_none_or(|before| !(before.is_alphanumeric() || before == '_' || before == '$'))
                && matches!(after, Some('(' | '<'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program_of(name: &str, text: &str) -> Option<WorkerProgram> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        functions_of(&file)
    }

    #[test]
    fn an_import_and_a_mark_are_the_sign() {
        for text in [
            "from mcp_bash import tool\n@tool\ndef f(): ...\n",
            "import os\n  import mcp_bash\n\n@mcp_bash.tool(name='x')\ndef f(): ...\n",
            "import mcp_bash as m\n@m.resource('a://b')\nasync def f(): ...\n",
        ] {
            assert_eq!(program_of("a.py", text), Some(WorkerProgram::Python), "{text}");
        }
        for text in [
            "import { tool } from 'mcp-bash'\nexport const f = tool('x', {}, () => 1)\n",
            "import * as mcp from \"mcp-bash\"\nexport default [mcp.prompt ('x', {}, () => 1)]\n",
        ] {
            assert_eq!(program_of("a.mjs", text), Some(WorkerProgram::Node), "{text}");
            assert_eq!(program_of("a.ts", text), Some(WorkerProgram::Node), "{text}");
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
            assert_eq!(functions_of(&file), Some(WorkerProgram::Python), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_file_that_lacks_the_mark_alone_is_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, is_told) in [
            ("a.py", "from mcp_bash import log, tool\ndef f(): ...\n", true),
            ("a.py", "from mcp_bash import (tool,\n log)\ndef f(): ...\n", true),
            ("a.py", "from mcp_bash import arguments, tools\n", false),
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
            assert_eq!(program_of(name, text), None, "{name}: {text}");
        }
    }
}
