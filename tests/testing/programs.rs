//! Programs in `test/`.

use super::{Ran, command, ran};
use crate::harness::Project;
use std::path::Path;

#[test]
fn programs_in_test_are_run_and_counted() {
    let project = Project::with_hi()
        .script("test/run.sh", "#!/bin/sh\n[ \"$MCPBASH_PROJECT_ROOT\" = \"$PWD\" ] && mcp-bash --version\n")
        .script("test/fails.sh", "#!/bin/sh\necho going wrong\n(sleep 3600 &)\nexit 7\n")
        .script("test/test_helper.bash", "#!/bin/sh\nexit 1\n")
        .script("test/notes.md", "no program")
        .file("test/not-executable.sh", "#!/bin/sh\nexit 1\n")
        .file("test/a.bats", "@test x { true; }\n");
    // A stand-in for bats.
    let bin = Project::new().script(
        "bats",
        "#!/bin/sh\n[ \"$1\" = --tap ] && printf '1..3\\nok 1 a\\nnot ok 2 b\\nok 3 c # skip\\n'\nexit 1\n",
    );
    let path = format!("{}:{}", bin.root().display(), std::env::var("PATH").unwrap());
    let mut with_bats = command(&project, &[]);
    with_bats.env("PATH", path);
    assert_eq!(
        ran(with_bats),
        Ran {
            code: Some(1),
            stdout: "\
FAIL  test/a.bats  3 tests, 1 failed, 1 skipped
FAIL  test/fails.sh  1 test, 1 failed
ok    test/run.sh  1 test

FAIL test/a.bats
  it printed:
    1..3
    ok 1 a
    not ok 2 b
    ok 3 c # skip
  again: mcp-bash test test/a.bats

FAIL test/fails.sh
  it ended with exit status: 7
  it printed:
    going wrong
  again: mcp-bash test test/fails.sh

Tools without a test: hi

2 passed, 2 failed, 1 skipped in N s
"
            .to_owned(),
            stderr: String::new(),
        }
    );
    let without_bats = |arguments: &[&str]| {
        let mut command = command(&project, arguments);
        command.env("PATH", path_without_bats());
        ran(command)
    };
    let missing = without_bats(&["a.bats", "-q"]);
    assert_eq!(
        (missing.code, missing.stdout.as_str()),
        (Some(1), "miss  test/a.bats: `bats` is not installed; install it, or pass `--allow-missing`\n")
    );
    assert_eq!(without_bats(&["a.bats", "--allow-missing"]).code, Some(0));
}

/// The folders of the search path without bats.
fn path_without_bats() -> String {
    let path = std::env::var("PATH").unwrap();
    path.split(':').filter(|folder| !Path::new(folder).join("bats").exists()).collect::<Vec<_>>().join(":")
}
