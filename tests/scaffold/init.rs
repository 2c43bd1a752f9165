//! `mcp-bash init`.

use super::{done, health, refused, run, tree};
use crate::harness::Project;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn init_adds_missing_files_and_touches_nothing_else() {
    let project = Project::new()
        .file("it's \"mine\"/.gitignore", "# mine\nnode_modules/\n.registry/")
        .script("it's \"mine\"/tools/hi.sh", "#!/bin/sh\necho hi\n");
    let root = project.path("it's \"mine\"");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(root.join("tools"), fs::Permissions::from_mode(0o755)).unwrap();
    let steps = "\nNext steps:\n  \
        mcp-bash call hello name=Ada   # call its tool\n  \
        mcp-bash scaffold tool NAME    # make a tool of your own\n  \
        mcp-bash install               # add the server to your clients\n";
    let said = done(&root, &["init"]);
    let made = "  Created server.d/server.meta.json\n  Updated .gitignore\n  Created .schemas\n  Created tools/hello\n";
    assert_eq!(said, format!("Initialized an MCP server project\n\n{made}{steps}"));
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap();
    let added = "# mcp-bash\n.venv/\nvenv/\n__pycache__/\n.pytest_cache/\n*.log\n.DS_Store\nThumbs.db\n";
    assert_eq!(ignored, format!("# mine\nnode_modules/\n.registry/\n\n{added}"));
    let metadata = fs::read_to_string(root.join("server.d/server.meta.json")).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    assert_eq!((&metadata["name"], &metadata["title"]), (&json!("it-s-mine"), &json!("It's \"mine\"")));
    let report = health(&root);
    assert_eq!((&report["problems"], &report["counts"]["tools"]), (&json!([]), &json!(2)), "{report}");

    let before = tree(&root);
    let said = done(&root, &["init", "--name", "another"]);
    let kept = ["server.d/server.meta.json", ".gitignore", ".schemas", "tools/hello"];
    let kept = kept.map(|path| format!("  Skipped existing {path}\n")).concat();
    assert_eq!(said, format!("Initialized an MCP server project\n\n{kept}{steps}"));
    assert_eq!(tree(&root), before);
}

#[test]
fn init_makes_no_second_hello() {
    let project = Project::new().script("tools/hello.py", "#!/usr/bin/env python3\nprint('hi')\n");
    fs::set_permissions(project.path("tools"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = done(project.root(), &["init"]);
    assert!(said.contains("  Skipped existing tools/hello.py\n"), "{said}");
    assert!(!project.path("tools/hello").exists());
    assert_eq!(health(project.root())["problems"], json!([]));
}

#[test]
fn init_makes_hello_a_function_of_a_language() {
    let project = Project::new();
    let said = done(project.root(), &["init", "--lang", "python"]);
    assert!(said.contains("  Created tools/hello.py\n"), "{said}");
    assert_eq!(done(project.root(), &["call", "hello", "name=Ada"]), "Hello, Ada!\n");
    let before = tree(project.root());
    assert!(
        done(project.root(), &["init", "--lang", "node"]).contains("  Skipped existing tools/hello.py\n")
    );
    assert_eq!(tree(project.root()), before);
    let both = run(project.root(), &["init", "--lang", "node", "--no-hello"]);
    assert_eq!(both.code, Some(2));
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn init_takes_a_name_and_a_folder_and_says_who_may_write() {
    let project = Project::new();
    let root = project.path("shared");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o775)).unwrap();
    let said =
        done(project.root(), &["init", "--name", "my server", "--no-hello", "--project-root", "shared"]);
    let whole = root.canonicalize().unwrap();
    assert_eq!(
        said,
        format!(
            "Initialized an MCP server project\n\n  \
               Created server.d/server.meta.json\n  Created .gitignore\n  Created .schemas\n  Created tools\n\n\
             Note: scripts here will not be run yet: {} is writable by its group or by everyone (mode 0775); run `chmod go-w` on it (`mcp-bash validate --fix` does it in a whole project)\n\n\
             Next steps:\n  \
               mcp-bash scaffold tool NAME --project-root shared   # make a tool of your own\n  \
               mcp-bash install --project-root shared              # add the server to your clients\n",
            whole.display()
        )
    );
    assert!(
        fs::read_to_string(root.join("server.d/server.meta.json"))
            .unwrap()
            .contains("\"name\": \"my server\"")
    );
    assert!(!root.join("tools/hello").exists());
    assert_eq!(done(project.root(), &["init", "-q", "--project-root", "shared"]), "");
    assert_eq!(
        refused(project.root(), &["init", "--name", " "]),
        "a server needs a name; give it one with --name"
    );
    let wrong = run(project.root(), &["new", "x", "--project-root", "shared"]);
    assert_eq!(
        (wrong.code, wrong.stderr.trim_end()),
        (
            Some(2),
            "mcp-bash: `mcp-bash new` makes a folder here, and takes no --project-root; `mcp-bash init` takes one"
        )
    );
}

#[test]
fn a_folder_that_is_no_project_is_named_with_the_commands_that_make_it_one() {
    let project = Project::new().script("my box/bin/greet.sh", "#!/bin/sh\n# Greets.\necho hello\n");
    let folder = project.path("my box").canonicalize().unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let (root, scripts) = (folder.to_str().unwrap(), folder.join("bin"));
    let scripts = scripts.to_str().unwrap();
    let advised = [vec!["init", root], vec!["import", scripts, "--project-root", root]];
    let quoted = |words: &[&str]| {
        let words: Vec<String> = words
            .iter()
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() })
            .collect();
        format!("`mcp-bash {}`", words.join(" "))
    };
    let hint = format!("{} and then {}", quoted(&advised[0]), quoted(&advised[1]));
    for words in [["list", "--project-root", root], ["validate", "--project-root", root]] {
        let said = run(project.root(), &words);
        let said = said.stdout + &said.stderr;
        assert!(said.contains(&hint), "{words:?}: {said}");
    }
    let both = run(project.root(), &["init", root, "--project-root", root]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    done(project.root(), &advised[0]);
    done(project.root(), &[&advised[1][..], &["--yes"]].concat());
    assert_eq!(done(project.root(), &["call", "greet", "--project-root", root]), "hello\n");
    // The commands that it advises lead to this folder.
    let other = project.script("other/bin/greet.sh", "#!/bin/sh\n# Greets.\necho hello\n");
    let said = done(other.root(), &["init", "other"]);
    let scripts = other.path("other/bin").canonicalize().unwrap();
    assert!(said.contains(&format!("mcp-bash import {} --project-root other", scripts.display())), "{said}");
}
