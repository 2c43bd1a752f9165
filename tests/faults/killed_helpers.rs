//! A process that reads definitions is killed once, as by the kernel's OOM killer.

use super::Subject;
use crate::harness::{Project, wait_until};
use rustix::process::{Pid, Signal, kill_process};

/// The text of a file that waits at the gate the first time it is loaded after `version` was written.
fn waits_once(version: usize) -> String {
    format!(
        "import os
from mcp_bash import tool
if not os.path.exists('loaded_{version}'):
    open('loaded_{version}', 'w').write(f'{{os.getpid()}}\\n')
    open('gate').read()
@tool
def python_{version}() -> str: return '{version}'
"
    )
}

fn provides_once(version: usize) -> String {
    format!(
        "#!/bin/sh
# mcp: {{\"provider\": true}}
case $1 in
list)
	if [ ! -e loaded_{version} ]; then echo $$ >loaded_{version}; read _ <gate; fi
	echo '{{\"name\":\"provided_{version}\"}}' ;;
provided_*) echo '{{\"content\":[{{\"type\":\"text\",\"text\":\"{version}\"}}]}}' ;;
esac
"
    )
}

/// Kills the process that loads a version, as soon as it does.
fn kill_loader(project: &Project, version: usize) {
    let pid = wait_until("the process that loads the file", || {
        let text = project.read(&format!("loaded_{version}"));
        text.ends_with('\n').then(|| text.trim().parse::<i32>().expect("a number"))
    });
    kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL).expect("a signal");
}

#[test]
fn a_file_whose_loader_is_killed_is_served_as_before_and_loaded_again() {
    let project = Project::new().gate().file("tools/python.py", &waits_once(0)).file("loaded_0", "0\n");
    let mut subject = Subject::start(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    let listed = |subject: &mut Subject, tool: &str| {
        wait_until(tool, || (subject.names("tools") == [tool]).then_some(()));
    };
    listed(&mut subject, "python_0");
    for version in 1..=2 {
        project.write("tools/python.py", &waits_once(version));
        kill_loader(&project, version);
        listed(&mut subject, &format!("python_{version}"));
        assert_eq!(subject.call(&format!("python_{version}")), version.to_string());
    }
    let log = subject.server.finish();
    assert_eq!(
        log.matches("is served as it was before: its worker was ended by SIGKILL (9)").count(),
        2,
        "{log}"
    );
}

#[test]
fn a_file_whose_loader_is_killed_at_the_start_is_loaded_again() {
    let project = Project::new()
        .gate()
        .file("tools/python.py", &waits_once(1))
        .script("tools/provider", &provides_once(2));
    let mut subject = Subject::start(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    kill_loader(&project, 1);
    kill_loader(&project, 2);
    wait_until("both files", || (subject.names("tools") == ["provided_2", "python_1"]).then_some(()));
    assert_eq!((subject.call("python_1"), subject.call("provided_2")), ("1".to_owned(), "2".to_owned()));
    let log = subject.server.finish();
    assert!(log.contains("is skipped: its worker was ended by SIGKILL (9)"), "{log}");
    assert!(log.contains("was ended by SIGKILL (9) and printed"), "{log}");
}

#[test]
fn a_file_with_an_error_is_not_loaded_again() {
    let fails = "import os\nfrom mcp_bash import tool\nopen('loads', 'a').write('x')\nraise ValueError('no')\n@tool\ndef f(): ...\n";
    let project = Project::new().file("tools/fails.py", fails).file("tools/python.py", &waits_once(1));
    let project = project.gate();
    let mut subject = Subject::start(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    subject.expect_log("ValueError: no", 1);
    kill_loader(&project, 1);
    wait_until("the other file", || (subject.names("tools") == ["python_1"]).then_some(()));
    // The other file was loaded again meanwhile. Only a change of the project may load this one again, not
    // time.
    assert!(project.read("loads").len() <= 4, "{}", project.read("loads"));
    subject.server.finish();
}
