//! Readiness while a helper of the server fails, and after it recovers.

use super::threads::NoThreads;
use super::write_version;
use crate::harness::{Project, wait_until};

/// The stack size of the thread that watches the project.
const STACK_OF_WATCHER: usize = 8 * 1024 * 1024;

#[test]
fn a_server_that_cannot_watch_its_project_is_not_ready_until_it_can() {
    let project = Project::new();
    write_version(&project, 0);
    let no_threads = NoThreads::new();
    no_threads.begin_with_stack(STACK_OF_WATCHER);
    let mut subject = no_threads.subject(&project);
    let (status, why) = subject.readiness();
    assert_eq!(status, 503, "{why}");
    assert!(why.contains("changes of the project are not noticed"), "{why}");
    // Entries read at the start are served meanwhile.
    wait_until("the tools", || subject.names("tools").contains(&"shell_0".to_owned()).then_some(()));
    no_threads.end();
    wait_until("readiness", || (subject.readiness() == (200, "ready\n".to_owned())).then_some(()));
    write_version(&project, 1);
    subject.expect_version(1);
    let log = subject.server.finish();
    assert!(log.contains("changes of the project are noticed"), "{log}");
}
