//! Attacks on files outside, and what may be read and written.

use super::attacks::{Row, allowed, expect, refused};

const OWN: &str = "it is the tool's own folder";
const PROJECT: &str = "a tool reads its project";
const NO_RIGHT: &str = "Landlock has no right for metadata";

#[test]
fn contents_and_names_of_files_outside_are_out_of_reach() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", PROJECT),
        allowed("list {project}", PROJECT),
        allowed("create %TMP/own", OWN),
        allowed("create-folder %TMP/own", OWN),
        allowed("read /usr/bin/env", "a tool reads the programs of the system"),
        allowed("run /usr/bin/env", "a tool runs the programs of the system"),
        refused("read {key}"),
        refused("read {notes}"),
        refused("list {home}"),
        refused("write {notes}"),
        refused("create {home}/new"),
        refused("create-folder {home}/new"),
        refused("truncate {notes}"),
        refused("remove {notes}"),
        refused("run {program}"),
        refused("write {project}/notes"),
        refused("create {project}/new"),
        refused("truncate {project}/out/notes"),
        refused("follow-link %TMP {key}"),
        refused("write-through-link %TMP {notes}"),
        refused("climb %TMP {key}"),
        refused("swap-link %TMP {key}"),
        refused("rename-over %TMP {notes}"),
        refused("rename-away %TMP {notes}"),
        refused("exchange %TMP {notes}"),
        refused("hard-link %TMP {notes}"),
        refused("hard-link %TMP {project}/notes"),
        refused("reopen {key}"),
        refused("read-through-proc {key}"),
        refused("open-by-handle {key}").by_root(),
        refused("read /etc/shadow").by_root(),
        refused("list {server-tmp}"),
        refused("create {server-tmp}/new"),
    ];
    expect(ROWS);
}

#[test]
fn disguises_do_not_help() {
    const ROWS: &[Row] = &[
        refused("by-program read {key}"),
        refused("by-shell read {key}"),
        refused("by-daemon read {key}"),
        refused("by-memory-file read {key}"),
        refused("by-copy %TMP read {key}"),
        refused("by-program by-daemon by-memory-file write {notes}"),
        allowed("by-memory-file read {project}/notes", PROJECT),
        allowed("by-copy %TMP read {project}/notes", PROJECT),
    ];
    expect(ROWS);
}

/// The rows say what is known, so that a kernel or a filter that stops one of them is noticed here and in the
/// pages for users.
#[test]
fn metadata_of_files_outside_is_in_reach_of_their_owner() {
    const ROWS: &[Row] = &[
        allowed("stat {notes}", NO_RIGHT),
        allowed("chmod {notes}", NO_RIGHT),
        allowed("utime {notes}", NO_RIGHT),
        allowed("setxattr {notes}", NO_RIGHT),
        refused("chown {notes} 1").by_root(),
    ];
    expect(ROWS);
}
