//! A server that can start no thread. The system's process limit affects ordinary users only, so a preloaded
//! library simulates it for every user, root included: while a file exists it refuses all threads, or those
//! with the stack size that the file names.

use super::{Subject, write_version};
use crate::harness::{Project, Server, wait_until};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const REFUSES_THREADS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *value) {
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	const char *sign = getenv("REFUSE_THREADS");
	int file = sign ? open(sign, O_RDONLY) : -1;
	if (file >= 0) {
		char text[32] = "";
		ssize_t count = read(file, text, sizeof text - 1);
		size_t stack = 0;
		close(file);
		if (count <= 0 || (attributes && pthread_attr_getstacksize(attributes, &stack) == 0 && stack == strtoul(text, 0, 10))) {
			char name[4096];
			snprintf(name, sizeof name, "%s.done", sign);
			close(open(name, O_WRONLY | O_CREAT, 0600));
			return EAGAIN;
		}
	}
	if (!real) {
		real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
	}
	return real(thread, attributes, run, value);
}
"#;

/// The stack size of the thread that writes to standard output.
const STACK_OF_WRITER: usize = 64 * 1024;

/// The library, and the file that makes it refuse threads.
pub(super) struct NoThreads {
    folder: TempDir,
}

impl NoThreads {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let source = folder.path().join("threads.c");
        fs::write(&source, REFUSES_THREADS).expect("a file");
        let library = folder.path().join("threads.so");
        let mut compiler = Command::new("c++");
        compiler.args(["-x", "c", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
        assert!(compiler.status().expect("a compiler").success());
        Self { folder }
    }

    pub(super) fn settings(&self) -> [(String, String); 2] {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        [("LD_PRELOAD".to_owned(), path("threads.so")), ("REFUSE_THREADS".to_owned(), path("refuse"))]
    }

    fn sign(&self) -> PathBuf {
        self.folder.path().join("refuse")
    }

    fn begin(&self) {
        self.refuse("");
    }

    fn refuse(&self, which: &str) {
        let _ = fs::remove_file(self.folder.path().join("refuse.done"));
        fs::write(self.sign(), which).expect("a file");
    }

    /// Refuses only threads with this stack size, in bytes.
    pub(super) fn begin_with_stack(&self, bytes: usize) {
        self.refuse(&bytes.to_string());
    }

    /// Waits until a thread was refused.
    fn wait_for_refusal(&self) {
        let refused = self.folder.path().join("refuse.done");
        wait_until("a refusal", || refused.exists().then_some(()));
    }

    pub(super) fn end(&self) {
        fs::remove_file(self.sign()).expect("a file");
    }

    pub(super) fn subject(&self, project: &Project) -> Subject {
        let settings = self.settings();
        let mut settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (&**name, &**value)).collect();
        // Lists do not wait for files that cannot be read.
        settings.push(("MCPBASH_LIST_WAIT_SECS", "0"));
        Subject::start(project, &settings)
    }
}

#[test]
fn saves_while_no_thread_can_be_started_are_loaded() {
    let project = Project::new();
    write_version(&project, 0);
    let no_threads = NoThreads::new();
    let mut subject = no_threads.subject(&project);
    subject.expect_version(0);
    for version in 1..=3 {
        no_threads.begin();
        write_version(&project, version);
        // The existing thread reads the metadata.
        let tool = format!("shell_{version}");
        wait_until("the tool of a script", || subject.names("tools").contains(&tool).then_some(()));
        no_threads.end();
        subject.expect_version(version);
    }
    let log = subject.server.finish();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn a_large_change_while_no_thread_can_be_started_is_loaded() {
    let project = Project::new();
    write_version(&project, 0);
    let no_threads = NoThreads::new();
    let mut subject = no_threads.subject(&project);
    subject.expect_version(0);
    no_threads.begin();
    // Enough files for several threads to share the work.
    for number in 0..600 {
        project.write(&format!("prompts/many/p{number}.txt"), "Many");
    }
    wait_until("many prompts", || (subject.count("prompts") >= 100).then_some(()));
    no_threads.end();
    fs::remove_dir_all(project.path("prompts/many")).expect("a folder");
    subject.expect_version(0);
    let log = subject.server.finish();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn requests_that_want_a_thread_are_served_without_one() {
    let project = Project::new()
        .tool("long", "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x\n")
        .file("resources/note.txt", "Note")
        .file("resources/note.meta.json", "{\"name\": \"note\", \"uri\": \"file://./resources/note.txt\"}");
    let no_threads = NoThreads::new();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).envs(no_threads.settings());
    command.env("MCPBASH_MAX_RESULT_TEXT_BYTES", "0");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let call = |server: &mut Server| {
        server.ask_past_news("call", "tools/call", &json!({ "name": "long", "arguments": {} }))
    };
    let uri = json!({ "uri": "file://./resources/note.txt" });
    no_threads.begin();
    let read = server.ask_past_news("read", "resources/read", &uri);
    assert_eq!(read["result"]["contents"][0]["text"], "Note", "{read}");
    no_threads.begin_with_stack(STACK_OF_WRITER);
    // More than a pipe holds, so that a thread has to write the rest.
    server.request("call", "tools/call", &json!({ "name": "long", "arguments": {} }));
    no_threads.wait_for_refusal();
    no_threads.end();
    let mut answer = server.receive();
    while answer.get("id").is_none() {
        answer = server.receive();
    }
    assert!(answer["result"]["isError"] == json!(false), "{}", &answer.to_string()[..200]);
    assert!(call(&mut server)["result"].is_object());
    let log = server.finish();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn a_server_that_can_start_no_thread_says_so() {
    let project = Project::with_hi();
    let no_threads = NoThreads::new();
    no_threads.begin();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).envs(no_threads.settings());
    let mut server = Server::spawn(command);
    assert_eq!(server.wait().code(), Some(1));
    let said = server.stderr();
    assert!(said.contains("Resource temporarily unavailable"), "{said}");
}
