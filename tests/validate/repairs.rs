//! `mcp-bash validate --fix`.

use super::{mode, report, rich, set_mode, validate, with_hi};
use crate::harness::{Project, Server};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A project with one of each problem that can be fixed.
fn broken() -> Project {
    let project = with_hi()
        .file("tools/plain/tool.sh", "echo hi\n")
        .file(
            "tools/plain/tool.meta.json",
            r#"{"name": "plain", "description": "P", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/dos/tool.sh", "#!/bin/sh\r\necho hi\r\n")
        .file(
            "tools/dos/tool.meta.json",
            r#"{"name": "dos", "description": "D", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/mark/tool.sh", "\u{feff}#!/bin/sh\r\necho hi\r\n")
        .file(
            "tools/mark/tool.meta.json",
            r#"{"name": "mark", "description": "M", "annotations": {"readOnlyHint": true}}"#,
        )
        .script("tools/mixed/tool.sh", "#!/bin/sh\necho '\r\n'\n")
        .file(
            "tools/mixed/tool.meta.json",
            r#"{"name": "mixed", "description": "M", "annotations": {"readOnlyHint": true}}"#,
        );
    set_mode(&project, "tools/hi/tool.sh", 0o777);
    set_mode(&project, "tools/hi", 0o775);
    project
}

const PLAN: &str = "  tools/dos/tool.sh - end its lines with LF instead of CRLF\n  \
    tools/hi - let only its owner write it (chmod go-w)\n  \
    tools/hi/tool.sh - let only its owner write it (chmod go-w)\n  \
    tools/mark/tool.sh - remove the byte-order mark before its `#!`\n  \
    tools/mixed/tool.sh - is left as it is: only some of its lines end with CRLF, and some of those may be meant; fix it \
    by hand\n  \
    tools/plain/tool.sh - make it executable (chmod +x)\n\n";

#[test]
fn a_dry_run_shows_the_repairs_and_makes_none() {
    let project = broken();
    let (code, text) = validate(&project, &["--fix", "--dry-run"]);
    assert_eq!(code, 1);
    assert!(text.starts_with(&format!("Would repair:\n{PLAN}Validating project")), "{text}");
    let end = "Run 'mcp-bash validate --fix' to repair what can be repaired safely, and validate again.\n";
    assert!(text.ends_with(end), "{text}");
    assert_eq!((mode(&project, "tools/hi"), mode(&project, "tools/hi/tool.sh")), (0o775, 0o777));
    assert_eq!(mode(&project, "tools/plain/tool.sh"), 0o644);
    assert_eq!(project.read("tools/dos/tool.sh"), "#!/bin/sh\r\necho hi\r\n");
}

#[test]
fn safe_repairs_are_made_and_the_rest_is_left() {
    let project = broken();
    let (code, text) = validate(&project, &["--fix"]);
    let expected = format!(
        "Repairs:\n{PLAN}\
         ✓ tools/dos/tool.sh - fixed: ended its lines with LF\n\
         ✓ tools/hi - fixed: only its owner may write it\n\
         ✓ tools/hi/tool.sh - fixed: only its owner may write it\n\
         ✓ tools/mark/tool.sh - fixed: removed the byte-order mark\n\
         ✓ tools/plain/tool.sh - fixed: made executable\n\n\
         Repairs:\n  tools/mark/tool.sh - end its lines with LF instead of CRLF\n\n\
         ✓ tools/mark/tool.sh - fixed: ended its lines with LF\n\n\
         Validating project at …...\n\n\
         ✓ tools/dos/tool.sh - valid (tool dos)\n\
         ✓ tools/hi/tool.sh - valid (tool hi)\n\
         ✓ tools/mark/tool.sh - valid (tool mark)\n\
         ✗ tools/mixed/tool.sh:2 - ends lines with CRLF, of which a shell takes the CR for a part of the command\n    \
             → run `sed -i 's/\\r$//' …/tools/mixed/tool.sh`\n\
         ✗ tools/plain/tool.sh:1 - is executable, but does not start with `#!`, so that the system does not know what runs \
         it\n    → add the first line `#!/usr/bin/env bash`\n\n\
         6 fix(es) made.\n\
         2 error(s) found. Follow the advice after each arrow, and validate again.\n"
    );
    assert_eq!((code, text), (1, expected));
    assert_eq!((mode(&project, "tools/hi"), mode(&project, "tools/hi/tool.sh")), (0o755, 0o755));
    assert_eq!(mode(&project, "tools/plain/tool.sh"), 0o755);
    for script in ["dos", "mark"] {
        let path = format!("tools/{script}/tool.sh");
        assert_eq!((project.read(&path), mode(&project, &path)), ("#!/bin/sh\necho hi\n".to_owned(), 0o755));
    }
    assert_eq!(project.read("tools/mixed/tool.sh"), "#!/bin/sh\necho '\r\n'\n");
    let nothing_left = validate(&rich(), &["--fix"]).1;
    assert!(nothing_left.starts_with("There is nothing that could be repaired safely.\n"), "{nothing_left}");
}

#[test]
fn repairs_with_json_output_stay_json() {
    let project = with_hi();
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, told) = report(&project, &["--fix", "--dry-run"]);
    let fix = "let only its owner write it (chmod go-w)";
    let fixes = |applied: bool| json!([{ "file": "…/tools/hi/tool.sh", "fix": fix, "applied": applied, "problem": null }]);
    assert_eq!((code, &told["fixesApplied"], &told["fixes"]), (1, &json!(0), &fixes(false)));
    let (code, told) = report(&project, &["--fix"]);
    assert_eq!((code, &told["fixesApplied"], &told["fixes"]), (0, &json!(1), &fixes(true)));
    assert_eq!((&told["errors"], mode(&project, "tools/hi/tool.sh")), (&json!(0), 0o755));
}

#[test]
fn repairs_follow_no_links_and_leave_the_project_alone() {
    let elsewhere = Project::new().file("theirs.sh", "echo hi\n").file("dos.sh", "#!/bin/sh\r\necho\r\n");
    set_mode(&elsewhere, "dos.sh", 0o755);
    let project = with_hi()
        .file("tools/x/tool.meta.json", r#"{"name": "x", "description": "X"}"#)
        .file("tools/y/tool.meta.json", r#"{"name": "y", "description": "Y"}"#);
    symlink(elsewhere.path("theirs.sh"), project.path("tools/x/tool.sh")).unwrap();
    symlink(elsewhere.path("dos.sh"), project.path("tools/y/tool.sh")).unwrap();
    symlink(elsewhere.root(), project.path("tools/z")).unwrap();
    let (code, text) = validate(&project, &["--fix"]);
    let link = "is left as it is: it is a link; fix the file that it points to";
    assert_eq!(code, 1);
    assert!(text.contains(&format!("tools/x/tool.sh - {link}\n  tools/y/tool.sh - {link}\n")), "{text}");
    assert_eq!(mode(&elsewhere, "theirs.sh"), 0o644);
    assert_eq!(elsewhere.read("dos.sh"), "#!/bin/sh\r\necho\r\n");
}

/// The output on a terminal for a user who answers the first question.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Path, arguments: &[&str], answer: &str) -> (i32, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read, Write};
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut command = Server::command();
    command.arg("validate").args(arguments).env_remove("NO_COLOR").env("TERM", "xterm").current_dir(folder);
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut controller = fs::File::from(controller);
    controller.write_all(answer.as_bytes()).unwrap();
    let mut shown = Vec::new();
    // Reading a terminal whose other side is closed is an error.
    let _ = controller.read_to_end(&mut shown);
    let code = child.wait().unwrap().code().unwrap();
    (code, String::from_utf8(shown).unwrap().replace('\r', ""))
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_is_asked_before_anything_is_repaired() {
    let project = with_hi();
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, shown) = on_a_terminal(project.root(), &["--fix"], "n\n");
    assert!(shown.contains("Repair these? [y/N] "), "{shown}");
    assert!(shown.contains("\u{1b}[31m✗\u{1b}[0m tools/hi/tool.sh - is writable"), "{shown}");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (1, 0o775));
    let (code, _) = on_a_terminal(project.root(), &["--fix"], "y\n");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (0, 0o755));
    set_mode(&project, "tools/hi/tool.sh", 0o775);
    let (code, shown) = on_a_terminal(project.root(), &["--fix", "--yes"], "");
    assert!(!shown.contains("Repair these?"), "{shown}");
    assert_eq!((code, mode(&project, "tools/hi/tool.sh")), (0, 0o755));
}
