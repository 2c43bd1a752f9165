//! Files that are read while half written: an editor truncates a file and writes it again.

use super::{Subject, tools_of, write_version};
use crate::harness::{Project, wait_until};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The files of a version, which are saved while they are served.
const FILES: [&str; 6] = [
    "tools/shell/tool.meta.json",
    "tools/python.py",
    "tools/node.mjs",
    "tools/provider",
    "tools/inline.sh",
    "prompts/greet.meta.json",
];

/// The length of a script's `#!` line, which does not tell what the script is.
const FIRST_LINE: usize = "#!/bin/sh\n".len();

/// Makes the server read the project again. Returns when it has.
fn have_it_read(project: &Project, subject: &mut Subject, number: usize) {
    project.write(&format!("prompts/marker_{number}.txt"), "Marker");
    let marker = format!("marker_{number}");
    wait_until(&marker, || subject.names("prompts").contains(&marker).then_some(()));
    project.remove(&format!("prompts/marker_{number}.txt"));
    wait_until("the marker to be gone", || (!subject.names("prompts").contains(&marker)).then_some(()));
}

#[test]
fn an_entry_is_served_as_it_was_while_its_file_is_being_written() {
    let project = Project::new();
    write_version(&project, 0);
    let inline = "#!/bin/sh\n# mcp: {\"name\": \"described\", \"description\": \"Says so itself\"}\necho 0\n";
    project.write_script("tools/inline.sh", inline);
    let tools = [vec!["described".to_owned()], tools_of(0)].concat();
    // Lists do not wait for a file that is being loaded, so they show the entries served meanwhile.
    let mut subject = Subject::start(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    wait_until("the tools", || (subject.names("tools") == tools).then_some(()));
    let mut number = 0;
    for file in FILES {
        let whole = project.read(file);
        for part in ["", &whole[..FIRST_LINE], &whole[..whole.len() / 2]] {
            let (is_over, path) = (AtomicBool::new(false), project.path(file));
            thread::scope(|scope| {
                // It is written again and again, so that it never settles, however slow the machine is. A
                // running executable cannot be written.
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let _ = fs::write(&path, part);
                        thread::yield_now();
                    }
                });
                number += 1;
                have_it_read(&project, &mut subject, number);
                assert_eq!(subject.readiness().0, 200);
                let served = (subject.names("tools"), subject.names("prompts"));
                is_over.store(true, Ordering::Relaxed);
                assert_eq!(served, (tools.clone(), vec!["greet_0".to_owned()]), "{file} with {part:?}");
            });
            wait_until("the file to be written", || fs::write(&path, &whole).ok());
        }
    }
    project.remove("tools/inline.sh");
    subject.expect_version(0);
    let log = subject.server.finish();
    assert!(!log.contains("is skipped"), "{log}");
}

#[test]
fn a_file_that_stays_wrong_is_skipped_and_its_next_save_is_served() {
    let project = Project::new();
    write_version(&project, 0);
    let mut subject = Subject::start(&project, &[]);
    subject.expect_version(0);
    fs::write(project.path("tools/shell/tool.meta.json"), "{\"name\": ").expect("a file");
    fs::write(project.path("tools/python.py"), "").expect("a file");
    wait_until("both to be gone", || (subject.names("tools") == ["node_0", "provided_0"]).then_some(()));
    subject.expect_log("tool.meta.json:1", 1);
    write_version(&project, 1);
    subject.expect_version(1);
    subject.server.finish();
}
