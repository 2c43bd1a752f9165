//! What a bundle contains: the project, and never what must stay on this machine.

use super::*;
use crate::harness::make_pipe;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

#[test]
fn a_bundle_contains_the_project_and_no_secret() {
    let project = described()
        .file("mcpb.conf", "MCPB_INCLUDE=\"data\"\n")
        .file("data/table.csv", "a,b\n")
        .file("data/tokens", "t0k3n-value")
        .file("lib/shared.sh", "x=1\n")
        .file("elsewhere/notes.txt", "not part of it")
        .file("tools/hi/.env", "KEY=env-value")
        .file("tools/hi/debug.log", "a log")
        .file("server.d/secrets.json", "{}")
        .file("server.d/server.key", "key-value")
        .file(".git/config", "[core]")
        .file(".registry/tools.json", "{}")
        .file(".mcp-bash/mcp-bash", "a program")
        .file("old-1.0.0.mcpb", "an older bundle");
    symlink("../../lib/shared.sh", project.path("tools/hi/shared.sh")).unwrap();
    symlink("../../server.d/server.key", project.path("tools/hi/innocent.txt")).unwrap();
    let output = TempDir::new().unwrap();
    let bundle = bundled(&project, &output);
    assert_eq!(
        names(&bundle),
        [
            "manifest.json",
            "bin/run-server.sh",
            "server/VERSION",
            "server/data/table.csv",
            "server/lib/shared.sh",
            "server/server.d/server.meta.json",
            "server/tools/hi/shared.sh",
            "server/tools/hi/tool.meta.json",
            "server/tools/hi/tool.sh",
        ]
    );
    let bytes = fs::read(&bundle).unwrap();
    let archive = Archive::new(&bytes).unwrap();
    assert_eq!(
        archive.read("server/tools/hi/shared.sh", LIMIT).unwrap(),
        b"x=1\n",
        "a link becomes what it leads to"
    );
    for name in archive.names() {
        let text = String::from_utf8_lossy(&archive.read(name, LIMIT).unwrap()).into_owned();
        assert!(
            !["env-value", "key-value", "t0k3n-value"].iter().any(|secret| text.contains(secret)),
            "{name}"
        );
    }
    let listed = run(&project, &["bundle", "--no-binary", "--dry-run"]);
    assert!(listed.err.contains("left out: tools/hi/innocent.txt (looks like a secret)"), "{listed:?}");
}

#[test]
fn a_program_that_metadata_names_by_its_path_is_packed() {
    let project = described().script("bin/jobs", "#!/bin/sh\necho jobs\n").file(
        "tools/jobs.meta.json",
        r#"{"name": "jobs", "description": "d", "command": ["bin/jobs", "list"]}"#,
    );
    let output = TempDir::new().unwrap();
    assert!(names(&bundled(&project, &output)).contains(&"server/bin/jobs".to_owned()));
}

#[test]
fn a_tool_may_be_called_like_a_secret() {
    let project = described().tool("tokens", "#!/bin/sh\necho 3\n");
    let output = TempDir::new().unwrap();
    assert!(names(&bundled(&project, &output)).contains(&"server/tools/tokens/tool.sh".to_owned()));
}

/// Each of these is refused with its name, and nothing is written.
#[test]
fn files_that_no_package_can_hold_are_refused() {
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "MIIEvQIBADANBgkq".repeat(4));
    let cases: [(&str, Change<'_>, i32, &str); 11] = [
        (
            "a link out",
            &|p| symlink("/etc/hostname", p.path("tools/hi/host")).unwrap(),
            3,
            "tools/hi/host is a link to /etc/hostname",
        ),
        ("a folder out", &|p| symlink("/etc", p.path("tools/hi/etc")).unwrap(), 3, "outside the project"),
        (
            "a broken link",
            &|p| symlink("nothing", p.path("tools/hi/x")).unwrap(),
            3,
            "tools/hi/x is a link to nothing",
        ),
        (
            "a circle",
            &|p| symlink("..", p.path("tools/hi/up")).unwrap(),
            3,
            "link to a folder that contains it",
        ),
        (
            "two folders with links to each other",
            &|p| {
                fs::create_dir_all(p.path("lib/a")).unwrap();
                fs::create_dir_all(p.path("lib/b")).unwrap();
                symlink("../b", p.path("lib/a/b")).unwrap();
                symlink("../a", p.path("lib/b/a")).unwrap();
            },
            3,
            "link to a folder that contains it",
        ),
        (
            "a line break",
            &|p| p.write("tools/hi/a\nb", ""),
            3,
            "tools/hi/a\\nb has a name that no archive can hold",
        ),
        (
            "not UTF-8",
            &|p| fs::write(p.path("tools/hi").join(OsStr::from_bytes(b"a\xff")), "").unwrap(),
            3,
            "has a name that no archive can hold",
        ),
        (
            "a pipe",
            &|p| make_pipe(&p.path("tools/hi/pipe"), 0o600),
            3,
            "tools/hi/pipe is neither a file nor a folder",
        ),
        (
            "a huge file",
            &|p| fs::File::create(p.path("tools/hi/huge")).unwrap().set_len(200 << 20).unwrap(),
            3,
            "tools/hi/huge has 209715200 bytes",
        ),
        (
            "a private key",
            &|p| p.write("tools/hi/data.txt", &key),
            3,
            "tools/hi/data.txt contains a private key",
        ),
        (
            "no such folder",
            &|p| p.write("mcpb.conf", "MCPB_INCLUDE=none"),
            2,
            "`none` is in MCPB_INCLUDE of mcpb.conf and does not exist",
        ),
    ];
    for (what, change, code, said) in cases {
        let (project, output) = (described(), TempDir::new().unwrap());
        change(&project);
        let refused = run(&project, &["bundle", "--no-binary", "--output", output.path().to_str().unwrap()]);
        assert!(refused.code == code && refused.err.contains(said), "{what}: {refused:?}");
        assert_eq!(fs::read_dir(output.path()).unwrap().count(), 0, "{what}");
    }
}

#[test]
fn an_include_stays_in_the_project() {
    for path in ["../x", "/etc", "data/../../x"] {
        let project = described().file("mcpb.conf", &format!("MCPB_INCLUDE='{path}'\n"));
        let refused = run(&project, &["bundle", "--no-binary", "--validate"]);
        assert!(refused.code == 2 && refused.err.contains("leads out of the project"), "{refused:?}");
    }
}
