//! Unread arguments: scripts that read a command line which stays empty. They use `$1` or `sys.argv`, but their metadata
//! maps no arguments to words.

use std::io::Read;
use std::path::Path;

/// How much of a script is searched, in bytes.
const LOOKED_AT: u64 = 64 * 1024;

/// How scripts in several languages read their command line.
const READS: [&str; 6] = ["sys.argv", "argparse", "process.argv", "ARGV", "os.Args", "getopts "];

/// How a shell script does.
const SHELL_READS: [&str; 5] = ["$1", "${1", "\"$@\"", "$*", "$#"];

/// Signs of a script that knows how arguments arrive here.
const KNOWS: [&str; 3] = ["MCP_TOOL_ARGS", "mcp_args_", "stdin"];

/// The problem with a script whose tool declares no arguments.
pub(crate) fn problem(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    mcp_bash_files::open(script).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
    let read = reads(&String::from_utf8_lossy(&start))?;
    Some(format!(
        "reads its command line (`{read}`), which is empty, since its metadata maps no arguments to it; \
         add `argv`, such as \"argv\": [\"{{path}}\"] (docs/arguments.md)"
    ))
}

/// The sign that a script reads its command line, unless it seems to know how arguments arrive.
fn reads(text: &str) -> Option<&'static str> {
    if !text.starts_with("#!") || KNOWS.iter().any(|known| text.contains(known)) {
        return None;
    }
    let is_shell = text.lines().next().is_some_and(|line| line.trim_end().ends_with("sh"));
    // `$1` in a function is a different one. Most functions are indented or on one line with their `()`.
    let own = |line: &&str| {
        !line.starts_with([' ', '\t', '#']) && !line.contains("()") && !line.contains("set -- ")
    };
    let shell = || {
        let lines = text.lines().filter(own).filter(|_| is_shell);
        lines.flat_map(|line| SHELL_READS.into_iter().filter(move |sign| line.contains(sign))).next()
    };
    let code = || text.lines().filter(|line| !line.trim_start().starts_with(['#', '/']));
    let any = || READS.into_iter().find(|sign| code().any(|line| line.contains(sign)));
    shell().or_else(any)
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn scripts_that_read_an_empty_command_line_are_recognized() {
        for (script, expected) in [
            ("#!/bin/sh\ndu -sh \"$1\"\n", Some("$1")),
            ("#!/usr/bin/env bash\nfor x in \"$@\"; do echo $x; done\n", Some("\"$@\"")),
            ("#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1])\n", Some("sys.argv")),
            ("#!/usr/bin/env node\nconst [a] = process.argv.slice(2)\n", Some("process.argv")),
            ("#!/bin/sh\necho hi\n", None),
            ("#!/bin/sh\n# $1 is nothing\necho hi\n", None),
            ("#!/bin/sh\nsay() { echo $1; }\nsay hi\n", None),
            ("#!/bin/sh\nsay() {\n  echo $1\n}\nsay hi\n", None),
            ("#!/bin/sh\necho $MCP_TOOL_ARGS_JSON $1\n", None),
            ("#!/usr/bin/env python3\nimport sys, json\njson.load(sys.stdin)\nprint(sys.argv)\n", None),
            ("#!/usr/bin/env perl\nprint \"costs $10\"\n", None),
            ("\u{0}ELF sys.argv", None),
        ] {
            assert_eq!(reads(script), expected, "{script}");
        }
    }
}
