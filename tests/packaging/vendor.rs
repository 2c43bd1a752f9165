//! `vendor`: the program beside the project, its lock, and the script that starts it.

use super::*;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

fn vendor(project: &Project, program: &Path, more: &[&str]) -> Said {
    run(project, &[&["vendor", "--binary", program.to_str().unwrap()], more].concat())
}

#[test]
fn a_vendored_project_starts_from_any_folder_and_through_a_link() {
    let parent = TempDir::new().unwrap();
    let root = parent.path().join("a project with blanks");
    fs::rename(described().into_folder(), &root).unwrap();
    let vendored = said(Server::command().args(["vendor", "--project-root"]).arg(&root).current_dir("/"));
    assert_eq!(vendored.code, 0, "{vendored:?}");
    let lock: Value =
        serde_json::from_str(&fs::read_to_string(root.join(".mcp-bash/vendor.json")).unwrap()).unwrap();
    assert_eq!(
        (&lock["version"], &lock["program"]),
        (&json!(env!("CARGO_PKG_VERSION")), &json!(".mcp-bash/mcp-bash"))
    );
    let verified = said(Server::command().args(["vendor", "--verify", "--project-root"]).arg(&root));
    assert!(verified.code == 0 && verified.out.contains(lock["target"].as_str().unwrap()), "{verified:?}");

    let link = parent.path().join("link");
    fs::create_dir(parent.path().join("deeper")).unwrap();
    symlink("../link", parent.path().join("deeper/start")).unwrap();
    symlink("a project with blanks/run-server.sh", &link).unwrap();
    for start in [root.join("run-server.sh"), link, parent.path().join("deeper/start")] {
        let mut command = Server::command_of(start.to_str().unwrap());
        command.current_dir("/");
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        let answer = server.ask_past_news("call", "tools/call", &json!({ "name": "hi", "arguments": {} }));
        assert_eq!(answer["result"]["content"][0]["text"].as_str().unwrap().trim(), "hi", "{answer}");
    }
    // Commands work through it too, and nothing chokes on the folder.
    let listed = said(
        Server::command_of(root.join("run-server.sh").to_str().unwrap()).args(["list", "tools", "--json"]),
    );
    assert_eq!(serde_json::from_str::<Vec<Value>>(&listed.out).unwrap().len(), 1, "{listed:?}");
    let validated = said(Server::command().args(["validate", "--strict"]).arg(&root));
    assert!(!validated.out.contains(".mcp-bash"), "{validated:?}");
    let bundle =
        said(Server::command().args(["bundle", "--no-binary", "--dry-run", "--project-root"]).arg(&root));
    assert!(bundle.code == 0 && !bundle.out.contains(".mcp-bash/"), "{bundle:?}");
}

#[test]
fn a_program_is_replaced_by_a_newer_one_and_by_an_older_one_only_on_request() {
    let (project, folder) = (described(), TempDir::new().unwrap());
    let [old, new] = ["1.0.0", "1.1.0-rc.1"].map(|version| program(folder.path(), version));
    assert_eq!(vendor(&project, &old, &[]).code, 0);
    assert_eq!(vendor(&project, &old, &[]).code, 0, "the same program again");
    let exists = vendor(&project, &new, &[]);
    assert!(
        exists.code == 3 && exists.err.contains("contains mcp-bash 1.0.0 already; `--upgrade`"),
        "{exists:?}"
    );
    let tried = vendor(&project, &new, &["--upgrade", "--dry-run"]);
    assert!(
        tried.code == 0 && tried.out.contains("Would write") && tried.out.contains("1.1.0-rc.1"),
        "{tried:?}"
    );
    assert!(project.read(".mcp-bash/vendor.json").contains("1.0.0"));
    assert_eq!(vendor(&project, &new, &["--upgrade"]).code, 0);
    assert_eq!(run(&project, &["vendor", "--verify"]).code, 0);
    let refused = vendor(&project, &old, &["--upgrade"]);
    assert!(refused.code == 3 && refused.err.contains("is newer than 1.0.0"), "{refused:?}");
    assert_eq!(vendor(&project, &old, &["--upgrade", "--allow-downgrade"]).code, 0);
    assert_eq!(fs::read_dir(project.path(".mcp-bash")).unwrap().count(), 2, "no draft is left");
}

#[test]
fn every_change_of_a_vendored_program_is_found() {
    let (folder, mode) = (TempDir::new().unwrap(), |p: &Project, mode| {
        fs::set_permissions(p.path(".mcp-bash/mcp-bash"), fs::Permissions::from_mode(mode)).unwrap();
    });
    let program = program(folder.path(), "1.0.0");
    let append = |p: &Project, file: &str| {
        let path = p.path(file);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, [&bytes[..], b" "].concat()).unwrap();
    };
    let cases: [(Change<'_>, &str); 8] = [
        (&|p| append(p, ".mcp-bash/mcp-bash"), "its SHA-256 is not that of its lock"),
        (&|p| fs::remove_file(p.path(".mcp-bash/mcp-bash")).unwrap(), "failed to read"),
        (&|p| fs::remove_file(p.path(".mcp-bash/vendor.json")).unwrap(), "there is no"),
        (&|p| p.write(".mcp-bash/vendor.json", "{"), "vendor.json cannot be used"),
        (&|p| mode(p, 0o644), "must be executable"),
        (&|p| mode(p, 0o777), "writable by its owner only"),
        (&|p| append(p, "run-server.sh"), "run-server.sh is missing or was changed"),
        (
            &|p| {
                p.write(".mcp-bash/vendor.json", &p.read(".mcp-bash/vendor.json").replace("x86_64", "arm64"));
            },
            "does not describe",
        ),
    ];
    for (change, said) in cases {
        let project = described();
        assert_eq!(vendor(&project, &program, &[]).code, 0);
        change(&project);
        let found = run(&project, &["vendor", "--verify"]);
        assert!(found.code == 1 && found.err.contains(said), "{said}: {found:?}");
    }
    let none = run(&described(), &["vendor", "--verify"]);
    assert!(none.code == 1 && none.err.contains("run `mcp-bash vendor`"), "{none:?}");
}

#[test]
fn what_was_not_made_by_vendor_stays() {
    let folder = TempDir::new().unwrap();
    let program = program(folder.path(), "1.0.0");
    let of_scripts = r#"{"version": "1.3.0", "sha256": "x", "vendored_from": "/x", "vendored_at": "2026-01-01T00:00:00Z"}"#;
    for (file, text, said) in [
        (".mcp-bash/vendor.json", of_scripts, "the runtime of mcp-bash in bash"),
        (".mcp-bash/bin/mcp-bash", "#!/bin/bash\n", "the runtime of mcp-bash in bash"),
        (".mcp-bash/notes", "mine", "was not made by `mcp-bash vendor`"),
        ("run-server.sh", "#!/bin/sh\necho mine\n", "was not made by `mcp-bash vendor`"),
    ] {
        let project = described().file(file, text);
        for more in [&[][..], &["--upgrade"], &["--upgrade", "--allow-downgrade"]] {
            let refused = vendor(&project, &program, more);
            assert!(refused.code == 3 && refused.err.contains(said), "{file}: {refused:?}");
        }
        assert_eq!(project.read(file), text);
        assert!(!project.path(".mcp-bash/mcp-bash").exists());
    }
    let project = described().file(".mcp-bash/vendor.json", of_scripts);
    let verified = run(&project, &["vendor", "--verify"]);
    assert!(verified.code == 1 && verified.err.contains("lock of mcp-bash in bash"), "{verified:?}");
}

#[test]
fn a_folder_of_choice_and_mistakes() {
    let (project, folder) = (described(), TempDir::new().unwrap());
    let program = program(folder.path(), "1.0.0");
    let words =
        ["vendor", "--binary", program.to_str().unwrap(), "--output", folder.path().to_str().unwrap()];
    let written = said(Server::command().args(words).current_dir(project.root()));
    assert_eq!(written.code, 0, "{written:?}");
    assert!(folder.path().join("run-server.sh").exists() && !project.path("run-server.sh").exists());
    let script = project.path("tools/hi/tool.sh");
    for (words, said_words) in [
        (&["vendor", "--output", "/nonexistent"][..], "there is no folder /nonexistent"),
        (&["vendor", "--binary", script.to_str().unwrap()], "is no program"),
        (&["vendor", "--allow-downgrade"], "--upgrade"),
    ] {
        let refused = said(Server::command().args(words).current_dir(project.root()));
        assert!(refused.code == 2 && refused.err.contains(said_words), "{refused:?}");
    }
}
