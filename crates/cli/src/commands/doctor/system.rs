//! System checks: whether file events work, and what we may do with processes.

use super::diagnosis::Diagnosis;
use super::trial;
use crate::report::Group;
use crate::report::finding::Finding;
use mcp_bash_settings::Settings;
use rustix::fs::{StatVfs, statvfs};
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};
use std::path::Path;

/// With fewer, a busy server refuses calls.
const GOOD_FILES: u64 = 256;

/// The longest kernel value that is read, in bytes.
const LONGEST_KERNEL_FILE: u64 = 4096;

/// Less free space than this is used up soon.
const LITTLE_ROOM: u64 = 50 * 1024 * 1024;

pub(super) fn look(report: &mut Diagnosis, settings: &Settings) {
    let mut facts = json!({ "os": std::env::consts::OS, "arch": std::env::consts::ARCH });
    let mut checks = vec![kernel(&mut facts)];
    let temporary = settings.logs.temporary.clone().unwrap_or_else(std::env::temp_dir);
    checks.extend(file_events(&temporary, &mut facts));
    checks.extend(processes(settings, &mut facts));
    checks.push(open_files(&mut facts));
    checks.extend(temporary_folder(&temporary));
    report.add(Group::new("This system", checks));
    report.fact("system", facts);
}

/// A kernel value, if it exists.
fn read_kernel_file(name: &str) -> Option<String> {
    mcp_bash_files::read_text(&Path::new("/proc/sys").join(name), LONGEST_KERNEL_FILE).ok()
}

fn kernel(facts: &mut Value) -> Finding {
    let release = read_kernel_file("kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    facts["kernel"] = json!(release);
    let words = format!("{} {release}", std::env::consts::OS);
    Finding::good("system.kernel", format!("{}, {}", words.trim(), std::env::consts::ARCH))
}

/// Whether changes are reported, tested in a temporary folder.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn file_events(temporary: &Path, facts: &mut Value) -> Vec<Finding> {
    let limit = |name: &str| {
        let text = read_kernel_file(&format!("fs/inotify/{name}"))?;
        text.trim().parse::<u64>().ok()
    };
    let (instances, watches) = (limit("max_user_instances"), limit("max_user_watches"));
    let worked = super::file_events::try_them(temporary);
    facts["fileEvents"] = json!(worked.as_ref().map(Result::is_ok));
    facts["inotify"] = json!({ "maxUserInstances": instances, "maxUserWatches": watches });
    let shown = |limit: Option<u64>| limit.map_or_else(|| "?".to_owned(), |limit| limit.to_string());
    let limits = format!("inotify: {} instances, {} watches", shown(instances), shown(watches));
    let Some(worked) = worked else { return Vec::new() };
    vec![match worked {
        Ok(()) => Finding::good("system.file_events", format!("file changes are reported at once ({limits})")),
        Err(why) => Finding::warning("system.file_events", format!("changed files are not told: {why} ({limits})"))
            .remedy("projects are looked at every few seconds instead; raise the limits to have changes noticed at once")
            .command("sudo sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"),
    }]
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn file_events(_temporary: &Path, _facts: &mut Value) -> Vec<Finding> {
    Vec::new()
}

/// What catches processes that a script leaves behind.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn processes(settings: &Settings, facts: &mut Value) -> Vec<Finding> {
    use rustix::process::{PidfdFlags, getpid, pidfd_open, set_child_subreaper};
    let groups = settings.control_groups && mcp_bash_runner::has_control_groups();
    let adopts = set_child_subreaper(Some(getpid())).is_ok();
    let _ = set_child_subreaper(None);
    let pidfd = pidfd_open(getpid(), PidfdFlags::empty()).is_ok();
    facts["controlGroups"] = json!(groups);
    facts["subreaper"] = json!(adopts);
    facts["pidfd"] = json!(pidfd);
    let mut checks = vec![match (groups, settings.control_groups) {
        (true, _) => Finding::good("system.control_groups", "each call runs in a control group of its own"),
        (false, false) => Finding::note(
            "system.control_groups",
            "control groups are switched off by MCPBASH_CONTROL_GROUPS",
        ),
        (false, true) => Finding::note(
            "system.control_groups",
            "calls have no control groups: this user may make none here; processes that scripts leave behind are \
             found by other means",
        ),
    }];
    checks.push(if adopts {
        Finding::good("system.subreaper", "processes that scripts leave behind become children of the server")
    } else {
        Finding::warning(
            "system.subreaper",
            "processes that scripts leave behind cannot be adopted (PR_SET_CHILD_SUBREAPER)",
        )
        .remedy("allow `prctl` where the server runs, which a container may forbid")
    });
    checks.push(if pidfd {
        Finding::good("system.pidfd", "the exit of a process is reported (pidfd)")
    } else {
        Finding::warning(
            "system.pidfd",
            "there is no pidfd_open: the kernel is older than 5.3, or a container forbids it",
        )
        .remedy("use a newer kernel, or allow it in the container")
    });
    checks
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn processes(_settings: &Settings, _facts: &mut Value) -> Vec<Finding> {
    Vec::new()
}

fn open_files(facts: &mut Value) -> Finding {
    let limit = getrlimit(Resource::Nofile).current;
    facts["openFiles"] = json!(limit);
    let words = limit.map_or_else(|| "any number of".to_owned(), |limit| limit.to_string());
    let message = format!("{words} files may be open at once");
    match limit {
        Some(limit) if limit < crate::base::error::LEAST_FILES => {
            Finding::error("system.open_files", message)
        }
        Some(limit) if limit < GOOD_FILES => Finding::warning("system.open_files", message),
        _ => return Finding::good("system.open_files", message),
    }
    .remedy("allow more before the server is started")
    .command("ulimit -n 1024")
}

fn temporary_folder(folder: &Path) -> Vec<Finding> {
    let shown = folder.display();
    if let Err(error) = trial::try_to_write(folder) {
        return vec![
            Finding::error(
                "runtime.tmp_root_not_writable",
                format!("temporary files cannot be made in {shown}: {error}"),
            )
            .remedy("set TMPDIR or MCPBASH_TMP_ROOT to a folder that you may write to"),
        ];
    }
    let mut checks = vec![Finding::good("runtime.tmp_root", format!("temporary files go to {shown}"))];
    let Ok(system) = statvfs(folder) else { return checks };
    if is_noexec(&system) {
        checks.push(
            Finding::warning("runtime.tmp_noexec", format!("nothing can be run from {shown} (noexec)"))
                .remedy("set MCPBASH_TMP_ROOT to another folder if a script runs what it writes there"),
        );
    }
    let room = system.f_bavail.saturating_mul(system.f_frsize);
    if room < LITTLE_ROOM {
        checks.push(
            Finding::warning(
                "runtime.tmp_full",
                format!("there is little room in {shown}: {} MB", room / 1_000_000),
            )
            .remedy("make room, or set MCPBASH_TMP_ROOT to another folder"),
        );
    }
    checks
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn is_noexec(system: &StatVfs) -> bool {
    system.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC)
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn is_noexec(_system: &StatVfs) -> bool {
    false
}
