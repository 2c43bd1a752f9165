//! The store of tasks where it is broken, hostile or full.

use super::{Stores, ask, call, declaring, metadata, text, wait_for, waiting};
use crate::harness::{Project, code};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn quick() -> Project {
    let project = Project::new().tool("quick", "#!/bin/sh\necho $$ >>started\necho done\n");
    project.write("tools/quick/tool.meta.json", &metadata("quick", "optional", &json!({})));
    project
}

fn refusal(answer: &Value) -> String {
    assert_eq!(code(answer), -32603, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_that_cannot_be_kept_is_refused_and_nothing_runs() {
    let (project, stores) = (quick(), Stores::new());
    fs::create_dir(stores.path()).unwrap();
    fs::set_permissions(stores.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut server = stores.start(&project);
    let refused = refusal(&ask(&mut server, "tools/call", json!({ "name": "quick", "arguments": {} })));
    assert!(refused.contains("MCPBASH_STORE") && refused.contains("other users"), "{refused}");
    assert!(!refused.contains(stores.path().to_str().unwrap()), "paths are for the operator: {refused}");
    // Others are served as ever.
    let plain = json!({ "name": "quick", "arguments": {}, "_meta": crate::harness::stateless_meta() });
    assert_eq!(server.ask(1, "tools/call", &plain)["result"]["content"][0]["text"], "done");
    assert_eq!(project.wait_for_started(1).len(), 1, "only the one that was no task");
    let log = server.finish();
    assert!(log.contains(stores.path().to_str().unwrap()), "{log}");
}

#[test]
fn a_file_in_the_place_of_the_store_is_refused() {
    let (project, stores) = (quick(), Stores::new());
    fs::write(stores.path(), "").unwrap();
    let mut server = stores.start(&project);
    let refused = refusal(&ask(&mut server, "tools/call", json!({ "name": "quick", "arguments": {} })));
    assert!(refused.contains("MCPBASH_STORE"), "{refused}");
    assert_eq!(project.read("started"), "");
}

#[test]
fn broken_records_and_foreign_files_harm_no_other_task() {
    let (project, stores) = (quick(), Stores::new());
    let mut server = stores.start(&project);
    let [broken, fine] = [call(&mut server, "quick"), call(&mut server, "quick")];
    for id in [&broken, &fine] {
        wait_for(&mut server, id, "completed");
    }
    fs::write(stores.path().join(format!("{broken}.json")), "{").unwrap();
    fs::write(stores.path().join("notes.txt"), "foreign").unwrap();
    let answer = ask(&mut server, "tasks/get", json!({ "taskId": broken }));
    assert_eq!(code(&answer), -32602, "{answer}");
    assert_eq!(text(&wait_for(&mut server, &fine, "completed")), "done");
    let next = call(&mut server, "quick");
    wait_for(&mut server, &next, "completed");
    let log = server.finish();
    assert!(log.contains(&format!("{broken}.json")), "{log}");
    assert!(stores.path().join("notes.txt").exists());
}

#[test]
fn a_store_that_is_removed_meanwhile_loses_no_later_task() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    call(&mut server, "waits");
    project.wait_for_started(1);
    fs::rename(stores.path(), stores.path().with_extension("moved")).unwrap();
    let id = call(&mut server, "waits");
    project.wait_for_started(2);
    project.open_gate();
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), "went");
}

#[test]
fn a_secret_that_a_script_says_is_not_kept() {
    const SECRET: &str = "planted-S3cret-42";
    let script = "#!/bin/bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_progress 50 \"using $TOKEN\"\necho \"it is $TOKEN\"\n";
    let project = Project::new().tool("says", script);
    let more = json!({ "secrets": { "TOKEN": "planted" }, "replay": true });
    project.write("tools/says/tool.meta.json", &metadata("says", "optional", &more));
    let stores = Stores::new();
    let none = stores.path().with_file_name("secrets.json");
    let environment = [("TOKEN", SECRET), ("MCPBASH_SECRETS_FILE", none.to_str().unwrap())];
    let mut server = stores.start_with(&project, &environment);
    let id = call(&mut server, "says");
    let task = wait_for(&mut server, &id, "completed");
    assert!(text(&task).starts_with("it is ") && !task.to_string().contains(SECRET), "{task}");
    let mut files = 0;
    for entry in stores.path().read_dir().unwrap() {
        let kept = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&kept).contains(SECRET));
        files += 1;
    }
    assert!(files >= 2, "the record and its lock");
}

/// Needs `strace`.
#[cfg(target_os = "linux")]
#[test]
fn a_server_without_such_a_call_never_looks_for_the_store() {
    use crate::harness::Server;
    for (support, is_looked_for) in [("forbidden", false), ("optional", true)] {
        let (project, stores) = (quick(), Stores::new());
        project.write("tools/quick/tool.meta.json", &metadata("quick", support, &json!({})));
        let trace = project.path("trace");
        let mut command = Server::command_of("strace");
        command.args(["-f", "-qq", "-s", "300", "-e", "trace=%file", "-o"]).arg(&trace);
        command.arg(env!("CARGO_BIN_EXE_mcp-bash")).arg("--project-root").arg(project.root());
        let mut server = Server::spawn({
            command.env("MCPBASH_STORE", stores.path());
            command
        });
        ask(&mut server, "tools/call", json!({ "name": "quick", "arguments": {} }));
        server.finish();
        let trace = fs::read_to_string(trace).expect("what strace wrote");
        assert!(trace.contains("tool.sh"), "{trace}");
        let store = stores.path();
        assert_eq!(trace.contains(store.to_str().unwrap()), is_looked_for, "{support}");
    }
}

/// Needs the right to mount; the tests run as root.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_the_call_and_keeps_what_it_has() {
    use std::process::Command;
    let (project, stores) = (quick(), Stores::new());
    let disk = stores.path();
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tasks"])
        .arg(&disk)
        .status()
        .expect("mount can be started");
    assert!(mounted.success(), "this test needs the right to mount a file system");
    let _unmount = Unmount(&disk);
    let mut server = stores.start(&project);
    let kept = call(&mut server, "quick");
    wait_for(&mut server, &kept, "completed");
    let ballast = disk.join("ballast");
    let mut size = 64 * 1024;
    while size > 0 && fs::write(&ballast, vec![0; size]).is_err() {
        size -= 1024;
    }
    fs::write(disk.join("rest"), vec![0; 4096]).unwrap_or_default();
    let refused = refusal(&ask(&mut server, "tools/call", json!({ "name": "quick", "arguments": {} })));
    assert!(refused.contains("No space left"), "{refused}");
    assert_eq!(project.wait_for_started(1).len(), 1, "nothing was run");
    assert_eq!(text(&wait_for(&mut server, &kept, "completed")), "done");
    fs::remove_file(&ballast).unwrap();
    let _ = fs::remove_file(disk.join("rest"));
    let next = call(&mut server, "quick");
    wait_for(&mut server, &next, "completed");
    let meta = declaring(&json!({}));
    assert!(server.ask(5, "server/discover", &json!({ "_meta": meta })).get("result").is_some());
    server.finish();
}

#[cfg(target_os = "linux")]
struct Unmount<'a>(&'a std::path::Path);

#[cfg(target_os = "linux")]
impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0).status();
    }
}
