//! Script check: whether a script can be started, and whether its bytes are what its interpreter expects.

use super::surroundings::{ScriptUse, Surroundings};
use super::{keys, shebang};
use crate::ground::interpreters::{SHELLS, interpreter_name, is_executable};
use crate::languages::interpreter_by_ending;
use crate::{Diagnostic, Repair};
use mcp_bash_harmless::shell_path;
use std::io::Read;
use std::path::Path;

/// How much of a script is read, in bytes.
const BEGINNING: u64 = 64 * 1024;

/// Checks one script.
pub(super) fn check(script: &Path, kind: ScriptUse, surroundings: Surroundings<'_>) -> Vec<Diagnostic> {
    let mut bytes = Vec::new();
    let read = mcp_bash_files::open(script).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    // A script that cannot be opened is reported by discovery, or has been removed.
    if read.is_err() || is_program(&bytes) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let text = String::from_utf8_lossy(&bytes);
    match kind {
        ScriptUse::Started => found.extend(check_start(script, &text, surroundings)),
        ScriptUse::Sourced => {
            found.extend(check_mark(script, &text).or_else(|| check_line_ends(script, &text)));
        }
    }
    keys::check_inline(script, &text, &mut found);
    found
}

/// The first thing that prevents a script from being started, or its interpreter from understanding it.
fn check_start(script: &Path, text: &str, surroundings: Surroundings<'_>) -> Option<Diagnostic> {
    if let Some(mark) = check_mark(script, text) {
        return Some(mark);
    }
    let line = text.lines().next().unwrap_or_default();
    if !line.starts_with("#!") {
        return Some(no_shebang(script, surroundings));
    }
    if text.split('\n').next().is_some_and(|line| line.ends_with('\r')) {
        let interpreter = line.trim_start_matches("#!").trim();
        let problem = format!(
            "ends its lines with CRLF, so that the system looks for an interpreter called `{interpreter}\\r`"
        );
        let found = Diagnostic::error(script, problem, &line_feeds(script)).at_line(1);
        return Some(found.repaired_by(Repair::line_ends(script)));
    }
    shebang::check(script, line, surroundings).or_else(|| {
        let is_shell = interpreter_name(line).is_some_and(|name| SHELLS.contains(&name));
        if is_shell { check_line_ends(script, text) } else { None }
    })
}

/// A byte order mark, which editors write before a text and which the system takes for part of it.
fn check_mark(script: &Path, text: &str) -> Option<Diagnostic> {
    if !text.starts_with('\u{feff}') {
        // UTF-16: a mark that is not valid UTF-8, and a text in which every other byte is NUL.
        let is_wide = text.starts_with("\u{fffd}\u{fffd}") && text.contains('\0');
        return is_wide.then(|| {
            let remedy = format!(
                "save it as UTF-8: `iconv -f UTF-16 -t UTF-8 {0} >new && cat new >{0}`",
                shell_path(script)
            );
            Diagnostic::error(script, "is saved as UTF-16, which no interpreter reads", &remedy).at_line(1)
        });
    }
    let remedy =
        format!("save it as UTF-8 without one: `sed -i '1s/^\\xEF\\xBB\\xBF//' {}`", shell_path(script));
    let problem = "starts with a byte-order mark, so that the system does not see its `#!`";
    Some(Diagnostic::error(script, problem, &remedy).at_line(1).repaired_by(Repair::without_mark(script)))
}

fn check_line_ends(script: &Path, text: &str) -> Option<Diagnostic> {
    let line = text.split('\n').position(|line| line.ends_with('\r'))? as u64 + 1;
    let problem = "ends lines with CRLF, of which a shell takes the CR for a part of the command";
    let found = Diagnostic::error(script, problem, &line_feeds(script)).at_line(line);
    Some(found.repaired_by(Repair::line_ends(script)))
}

fn line_feeds(script: &Path) -> String {
    format!("run `sed -i 's/\\r$//' {}`", shell_path(script))
}

/// The finding for a script that names no interpreter, by its file name.
fn no_shebang(script: &Path, surroundings: Surroundings<'_>) -> Diagnostic {
    let runs = is_executable(script);
    let problem = if runs {
        "is executable, but does not start with `#!`, so that the system does not know what runs it"
    } else {
        "is neither executable nor starts with `#!`"
    };
    let chmod = if runs { String::new() } else { format!(" and run `chmod +x {}`", shell_path(script)) };
    let Some(interpreter) = interpreter_by_ending(script) else {
        let remedy = format!("add a first line such as `#!/usr/bin/env bash`{chmod}");
        return Diagnostic::error(script, problem, &remedy).at_line(1);
    };
    let missing = if surroundings.has(interpreter) {
        String::new()
    } else {
        format!(", and install {interpreter}, which is not on the PATH of scripts")
    };
    let remedy = format!("add the first line `#!/usr/bin/env {interpreter}`{chmod}{missing}");
    Diagnostic::error(script, problem, &remedy).at_line(1)
}

/// Whether a file is a compiled program, which starts without a `#!`.
fn is_program(bytes: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [
        b"\x7FELF",
        b"\xFE\xED\xFA\xCE",
        b"\xFE\xED\xFA\xCF",
        b"\xCE\xFA\xED\xFE",
        b"\xCF\xFA\xED\xFE",
        b"\xCA\xFE\xBA\xBE",
    ];
    STARTS.iter().any(|start| bytes.starts_with(start))
}
