//! Tools that the kernel kills when memory runs out, in a control group for the server with a low limit.

use crate::harness::{Project, Server, wait_until};
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Enough for the server, but too little for a tool that allocates without end.
const BYTES: &str = "67108864";

/// A control group with a memory limit, below the group of this process.
struct SmallGroup(PathBuf);

impl SmallGroup {
    /// `None` if this user may not create one: under cgroup v2 only groups without processes may divide their
    /// memory.
    fn new() -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let group_of =
            |names: &str| groups.lines().find_map(|line| line.split_once(names).map(|(_, path)| path));
        let older = group_of(":memory:")
            .map(|group| (format!("/sys/fs/cgroup/memory{group}"), "memory.limit_in_bytes"));
        let unified = group_of("0::").map(|group| (format!("/sys/fs/cgroup{group}"), "memory.max"));
        [older, unified].into_iter().flatten().find_map(|(parent, limit)| {
            let group = Path::new(&parent).join(format!("mcp-bash-test.{}", std::process::id()));
            fs::create_dir(&group).ok()?;
            let made = Self(group);
            write(&made.0.join(limit), BYTES).ok()?;
            Some(made)
        })
    }
}

impl Drop for SmallGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Writes to a kernel file, which must exist.
fn write(file: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

#[test]
fn an_out_of_memory_kill_is_reported_and_another_kill_is_not() {
    let Some(group) = SmallGroup::new() else {
        // The parsing of the counters is tested beside the code that reads them.
        return eprintln!("no control group with a limit of memory can be made here");
    };
    let project = Project::new()
        .tool("greedy", "#!/bin/sh\nexec tail /dev/zero\n")
        .tool("parent", "#!/bin/sh\ntail /dev/zero\nexit $?\n")
        .tool("killed", "#!/bin/sh\nkill -KILL $$\n");
    let mut command = Server::command_of("sh");
    command.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group.0);
    command.arg(env!("CARGO_BIN_EXE_mcp-bash")).arg("--project-root").arg(project.root());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let mut said = |tool: &str| {
        server.ask_past_news("call", "tools/call", &json!({ "name": tool }))["result"]["content"].to_string()
    };
    assert!(!said("killed").contains("memory"), "{}", said("killed"));
    let guess = "was ended by SIGKILL (9); it probably ran out of memory";
    // The counters are first read shortly after the start.
    let greedy = wait_until("a guess", || Some(said("greedy")).filter(|said| said.contains("memory")));
    assert!(greedy.contains(guess), "{greedy}");
    let parent = said("parent");
    assert!(parent.contains("failed (exit 137); it probably ran out of memory"), "{parent}");
    wait_until("a kill of another kind", || {
        let killed = said("killed");
        assert!(killed.contains("SIGKILL (9)"), "{killed}");
        (!killed.contains("memory")).then_some(())
    });
    server.finish();
}
