//! `mcp-bash test --watch`, and runs that are interrupted.

use super::{command, hello, tool, tree, without_times};
use crate::harness::{Project, exists, wait_until, wait_until_gone};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// A test run that continues until it is stopped, and its output so far.
struct Running {
    child: Child,
    output: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Self { child: command.spawn().unwrap(), output, _folder: folder }
    }

    fn wait_for(&self, text: &str, times: usize) {
        let read = || std::fs::read_to_string(&self.output).unwrap_or_default();
        wait_until(&format!("`{text}`, {times} times"), || {
            (read().matches(text).count() >= times).then_some(())
        });
    }

    fn interrupt(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut text = String::new();
        std::fs::File::open(&self.output).unwrap().read_to_string(&mut text).unwrap();
        (code, without_times(&text))
    }
}

#[test]
fn a_change_runs_the_affected_cases_again() {
    let project = hello("{ arguments: { name: x }, expect: { text: 'Hello, x!' } }")
        .tool("hi", "#!/bin/sh\necho hi\n")
        .file("tools/hi/tests/hi.yaml", "expect: { text: hi }");
    let running = Running::start(command(&project, &["--watch", "-v"]));
    running.wait_for("Waiting for changes", 1);
    project.write("tools/hi/tool.sh", "#!/bin/sh\necho ho\n");
    running.wait_for("Waiting for changes", 2);
    project.write("tools/hi/tests/hi.yaml", "expect: { text: ho }");
    running.wait_for("Waiting for changes", 3);
    project.write("tools/hi/tests/hi.yaml", "expect: { tex: ho }");
    running.wait_for("Waiting for changes", 4);
    let (code, text) = running.interrupt();
    assert_eq!(code, Some(130));
    assert_eq!(
        text,
        "\
ok    hello/hello (N ms)
ok    hi/hi (N ms)

2 passed, 0 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tool.sh changed.
FAIL  hi/hi (N ms)

FAIL hi/hi
  tools/hi/tests/hi.yaml:1
  the text is another
    @@ -1,1 +1,1 @@
    -hi
    +ho
  again: mcp-bash test hi/hi

0 passed, 1 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tests/hi.yaml changed.
ok    hi/hi (N ms)

1 passed, 0 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tests/hi.yaml changed.
mcp-bash: tools/hi/tests/hi.yaml:1: `expect` has no key `tex`; did you mean `text`?

Waiting for changes; Ctrl-C ends.
"
    );
}

#[test]
fn tests_that_change_the_project_do_not_run_for_ever() {
    let project = tool("#!/bin/sh\ndate +%N >>tools/it/log\n", "{}");
    let running = Running::start(command(&project, &["--watch"]));
    running.wait_for("Waiting for changes", 1);
    let (code, text) = running.interrupt();
    assert_eq!((code, text.matches("1 passed").count()), (Some(130), 2), "{text}");
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let project = Project::new()
        .waiting_tool("slow")
        .file("tools/slow/tests/slow.yaml", "- { name: a }\n- { name: b }\n- { name: c }\n");
    let mut slow = command(&project, &["-j", "2"]);
    slow.env("TMPDIR", temporary.path());
    let running = Running::start(slow);
    let pids = project.wait_for_started(2);
    assert_eq!(running.interrupt(), (Some(130), "mcp-bash: interrupted\n".to_owned()));
    assert!(pids.iter().all(|pid| !exists(*pid)));
    assert_eq!(tree(temporary.path()), BTreeSet::new());
}

#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let project = Project::new().waiting_tool("slow").file("tools/slow/tests/slow.yaml", "- { name: a }\n");
    let mut slow = command(&project, &[]);
    slow.env("TMPDIR", temporary.path());
    let mut running = Running::start(slow);
    let pids = project.wait_for_started(1);
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
    wait_until("an empty folder", || tree(temporary.path()).is_empty().then_some(()));
}
