//! Server scripts in `server.d` that run while a project is read or checked: the registration hook and the health checks;
//! and executables that list their tools.

use crate::project::{Project, said};
use mcp_bash_scripts::{Outcome, ProcessEnding, ScriptError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

fn hooked(hook: &str) -> Project {
    let files = [("tools/quiet.sh", "#!/bin/sh\n"), ("server.d/register.sh", hook)];
    Project::with_settings(&files, &[("MCPBASH_ALLOW_PROJECT_HOOKS", "true")])
}

fn failure(hook: &str) -> String {
    hooked(hook).catalog.failure.unwrap_or_else(|| panic!("{hook} should have failed"))
}

#[test]
fn a_hook_registers_knows_where_it_is_and_may_talk() {
    let project = hooked(
        "echo chatter; echo trouble >&2\n\
         mcp_register_tool '{\"name\": \"one\", \"path\": \"quiet.sh\"}'\n\
         printf '%s ' \"$PWD\" \"$MCPBASH_PROJECT_ROOT\" \"$MCPBASH_TOOLS_DIR\" \"$MCPBASH_SERVER_DIR\" >seen\n",
    );
    assert_eq!(project.catalog.failure, None);
    project.tool("one");
    let at = |name: &str| project.path(name).display().to_string();
    let root = project.paths.root.display().to_string();
    let seen = fs::read_to_string(project.path("seen")).unwrap();
    assert_eq!(seen, format!("{root} {root} {} {} ", at("tools"), at("server.d")));
}

#[test]
fn a_hook_that_fails_says_why() {
    assert_eq!(failure("echo first; echo last >&2; exit 3"), "server.d/register.sh failed: last");
    assert_eq!(failure("exit 3"), "server.d/register.sh failed: exit status: 3");
    assert_eq!(failure("kill -9 $$"), "server.d/register.sh failed: signal: 9 (SIGKILL)");
}

#[test]
fn a_hook_that_prints_or_registers_too_much_is_told_the_setting() {
    let too_much = "server.d/register.sh printed more than 1048576 bytes; MCPBASH_MAX_MANUAL_REGISTRY_BYTES sets the limit";
    let before = Instant::now();
    assert_eq!(failure("yes"), too_much);
    assert!(before.elapsed() < Duration::from_secs(20), "it is ended at once, not at the end of its time");
    let entries = "mcp_register_tool \"{\\\"name\\\": \\\"$(head -c 2000000 /dev/zero | tr '\\0' x)\\\"}\"";
    assert_eq!(failure(entries), too_much);
}

/// Whether a process is alive whose id a script wrote to a file.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn lives(project: &Project, file: &str) -> bool {
    let pid = fs::read_to_string(project.path(file)).unwrap();
    fs::exists(format!("/proc/{}", pid.trim())).unwrap()
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
#[test]
fn leftover_processes_of_hooks_and_checks_are_killed() {
    let leave = "setsid sh -c 'echo $$ >left; exec sleep 600' >/dev/null 2>&1 </dev/null & while ! test -s left; do sleep 0.01; done";
    let project = hooked(leave);
    assert!(!lives(&project, "left"));
    let project = Project::new(&[("server.d/health-checks.sh", leave)]);
    project.scripts.check_health(&project.paths, Duration::from_secs(60)).unwrap().unwrap();
    assert!(!lives(&project, "left"));
}

fn checked(checks: &str, timeout: Duration) -> Result<Option<Outcome>, ScriptError> {
    let project = Project::new(&[("server.d/health-checks.sh", checks)]);
    project.scripts.check_health(&project.paths, timeout)
}

const AMPLE: Duration = Duration::from_secs(60);

#[test]
fn checks_tell_people_what_they_found_and_end_as_they_mean_to() {
    let outcome = checked("mcp_health_check_command sh 'A shell'; echo note\n", AMPLE).unwrap().unwrap();
    assert_eq!((outcome.ending, &*outcome.errors()), (ProcessEnding::Exited(0), "  ✓ A shell\nnote\n"));
    let outcome = checked("mcp_health_check_env NO_SUCH_THING || exit 4\n", AMPLE).unwrap().unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Exited(4));
    assert_eq!(outcome.errors(), "  ✗ Required env var: NO_SUCH_THING (not set)\n");
    let project = Project::new(&[]);
    assert!(project.scripts.check_health(&project.paths, AMPLE).unwrap().is_none());
}

#[test]
fn checks_that_hang_or_chatter_are_bounded() {
    let outcome = checked("echo before; exec sleep 600", Duration::from_millis(300)).unwrap().unwrap();
    assert!(matches!(outcome.ending, ProcessEnding::TimedOut(_)));
    assert_eq!((&*outcome.errors(), outcome.exit_status()), ("before\n", None));
    let outcome = checked("head -c 1000000 /dev/zero; echo last", AMPLE).unwrap().unwrap();
    assert_eq!((outcome.ending, outcome.stderr.len()), (ProcessEnding::Exited(0), 64 * 1024));
    assert!(outcome.errors().ends_with("last\n"));
}

#[test]
fn checks_that_others_could_have_written_are_not_run() {
    let project = Project::new(&[("server.d/health-checks.sh", "touch ran")]);
    let file = project.path("server.d/health-checks.sh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let problem = said(project.scripts.check_health(&project.paths, AMPLE));
    assert!(problem.starts_with("server.d/health-checks.sh is not trusted: "), "{problem}");
    assert!(problem.contains("chmod go-w") && !project.path("ran").exists(), "{problem}");
}

#[test]
fn an_executable_that_does_not_say_which_tools_it_has_is_told_why() {
    let problem = |script: &str, set: &[(&str, &str)]| {
        let script = format!("#!/bin/sh\n# inputSchema\n{script}\n");
        let project = Project::with_settings(&[("tools/provider", &script)], set);
        project.catalog.diagnostics.iter().map(ToString::to_string).collect::<String>()
    };
    for (script, set, told) in [
        ("echo out; echo err >&2; exit 3", None, "it failed (exit 3) and printed: out err"),
        ("kill -9 $$", None, "it was ended by SIGKILL (9) and printed: nothing"),
        (
            "exec sleep 600",
            Some(("MCPBASH_PROVIDER_TIMEOUT", "1")),
            "it timed out after 1 s (MCPBASH_PROVIDER_TIMEOUT sets the limit) and printed: nothing",
        ),
        (
            "yes",
            Some(("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "5000")),
            "it printed more than 5000 bytes; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit",
        ),
    ] {
        let problem = problem(script, set.as_slice());
        assert!(problem.contains(&format!("asked `list`, {told}")), "{script}: {problem}");
    }
}
