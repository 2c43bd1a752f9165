//! Names, files and folders that are refused; nothing is written.

use super::{done, names, new_project, refused, run, tree};
use crate::harness::Project;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn invalid_names_are_refused_and_nothing_is_written() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    let before = tree(&root);
    let letters = "use 1 to 64 letters, digits, `_` and `-`; some clients refuse others";
    for kind in ["tool", "prompt", "resource", "completion", "provider"] {
        for name in ["", "..", "a/b", "../up", "a b", "a.b", "ä", &"x".repeat(65)] {
            let said = refused(&root, &["scaffold", kind, name]);
            assert_eq!(said, format!("`{name}` cannot be the name of a {kind}: {letters}"));
        }
        let said = refused(&root, &["scaffold", kind, "node_modules"]);
        assert!(said.ends_with("folders of that name are never searched"), "{said}");
        if ["tool", "provider"].contains(&kind) {
            let said = refused(&root, &["scaffold", kind, "7zip"]);
            assert!(said.ends_with(
                "it begins with a digit, and Gemini refuses every request with such a tool in it"
            ));
        }
        let said = refused(&root, &["scaffold", kind, "--", "-x"]);
        assert!(said.ends_with("it begins with `-`, so that commands take it for an option"), "{said}");
    }
    let said = refused(&root, &["scaffold", "provider", "list"]);
    assert!(
        said.ends_with("executables that provide tools are run with that word to be asked which"),
        "{said}"
    );
    let said = refused(&root, &["scaffold", "prompt", "ui"]);
    assert!(said.ends_with("is where other servers describe the interface of a tool"), "{said}");
    let said = refused(root.parent().unwrap(), &["new", "a/b"]);
    assert_eq!(said, format!("`a/b` cannot be the name of a server: {letters}"));
    for ui in [&["scaffold", "ui", "x", "--tool", "hello"][..], &["scaffold", "tool", "x", "--ui"]] {
        let said = refused(&root, ui);
        assert_eq!(
            said,
            "pages for tools (MCP Apps) are not there yet; without --ui and `scaffold ui` everything else is"
        );
    }
    assert_eq!(run(&root, &["scaffold", "tool", "x", "--lang", "perl"]).code, Some(2));
    assert_eq!(run(&root, &["scaffold", "thing", "x"]).code, Some(2));
    assert_eq!(tree(&root), before);
}

#[test]
fn existing_files_are_refused_and_stay_unchanged() {
    let project = Project::new();
    let root = new_project(&project, &[]);
    for arguments in [
        &["tool", "a"][..],
        &["tool", "b", "--from", "ls"],
        &["provider", "c"],
        &["prompt", "d"],
        &["resource", "e"],
        &["completion", "d"],
        &["test"],
    ] {
        done(&root, &[&["scaffold"], arguments].concat());
    }
    // A name that another file already uses for its tool.
    fs::write(root.join("tools/other.sh"), "#!/bin/sh\n# mcp: {\"name\": \"taken\"}\n").unwrap();
    symlink("nowhere", root.join("tools/link")).unwrap();
    symlink("nowhere", root.parent().unwrap().join("link")).unwrap();
    let before = tree(&root);
    let whole = root.canonicalize().unwrap();
    let exists = |path: &str| {
        format!("{} already exists; remove it or choose another name", whole.join(path).display())
    };
    let called = |kind: &str, name: &str, path: &str| {
        let file = whole.join(path);
        format!("there is already a {kind} called {name}, in {}; choose another name", file.display())
    };
    for (arguments, expected) in [
        (&["tool", "a"][..], exists("tools/a")),
        (&["tool", "a", "--from", "ls"], exists("tools/a")),
        (&["tool", "link"], exists("tools/link")),
        (&["tool", "c"], called("tool", "c", "tools/c.sh")),
        (&["tool", "taken"], called("tool", "taken", "tools/other.sh")),
        (&["provider", "a"], called("tool", "a", "tools/a/tool.sh")),
        (&["provider", "c"], exists("tools/c.sh")),
        (&["prompt", "d"], exists("prompts/d")),
        (&["resource", "e"], exists("resources/e")),
        (&["completion", "d"], exists("completions/d")),
        (&["test"], exists("test/run.sh")),
    ] {
        assert_eq!(refused(&root, &[&["scaffold"], arguments].concat()), expected);
    }
    let above = root.parent().unwrap();
    assert!(
        refused(above, &["new", "demo"]).ends_with("demo already exists; remove it or choose another name")
    );
    assert!(
        refused(above, &["new", "link"]).ends_with("link already exists; remove it or choose another name")
    );
    assert_eq!(tree(&root), before);
    fs::remove_file(root.join("test/run.sh")).unwrap();
    assert_eq!(refused(&root, &["scaffold", "test"]), exists("test/README.md"));
    assert!(!root.join("test/run.sh").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_left_clean() {
    // Not even root can create something there.
    let said = refused(Path::new("/proc"), &["new", "demo"]);
    assert!(said.starts_with("failed to write /proc/demo/"), "{said}");

    let project = Project::new();
    let root = new_project(&project, &["--no-hello"]);
    fs::write(root.join("completions"), "a file").unwrap();
    fs::write(root.join("server.d/register.json"), "{\"version\": 1}\n").unwrap();
    let before = tree(&root);
    let said = refused(&root, &["scaffold", "completion", "x"]);
    assert!(said.starts_with("failed to write ") && said.contains("completions/x/"), "{said}");
    assert_eq!(tree(&root), before);
}

#[test]
fn outside_a_project_the_message_says_how_to_create_one() {
    let project = Project::new();
    assert_eq!(
        refused(project.root(), &["scaffold", "tool", "x"]),
        "no MCP project found here; `mcp-bash init` makes this folder one, `mcp-bash new NAME` makes a new one, \
         and --project-root names one elsewhere"
    );
    assert_eq!(names(project.root()), [""; 0]);
}
