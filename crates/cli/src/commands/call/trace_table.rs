//! Table of accesses: what a traced tool read, wrote, ran and connected to.

use mcp_bash_sandbox::{Attempt, Attempts, Deed, Place, Target, TracedCall};
use mcp_bash_terminal::harmless_line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many lines a group has at most.
const MOST_LINES: usize = 200;

const NAME_SERVER: u16 = 53;

/// The groups, in the order in which they are shown.
const GROUPS: [(&str, &[Deed]); 5] = [
    ("read", &[Deed::Read]),
    ("write", &[Deed::Write, Deed::Create, Deed::Remove]),
    ("run", &[Deed::Run]),
    ("connect", &[Deed::Connect]),
    ("listen", &[Deed::Listen]),
];

pub(super) fn of(call: &TracedCall, attempts: &Attempts) -> String {
    let mut text = String::new();
    let mut unlisted = 0_usize;
    let mut looked_up = false;
    for (title, deeds) in GROUPS {
        let mut lines = BTreeSet::new();
        for attempt in attempts.iter().filter(|attempt| deeds.contains(&attempt.deed)) {
            let is_allowed = call.allows(attempt, attempts);
            // Programs are worth a line, libraries are not.
            if attempt.deed != Deed::Run && call.is_always_allowed(attempt) {
                unlisted += 1;
                continue;
            }
            looked_up |= !is_allowed && asks_name_server(attempt);
            lines.insert((!is_allowed, name(call, attempt)));
        }
        if deeds.contains(&Deed::Connect) {
            lines.extend(call.refused_hosts.iter().map(|host| (true, harmless_line(host))));
        }
        push_group(&mut text, title, &lines);
    }
    if text.is_empty() {
        text.push_str("  nothing but what every sandbox may read\n");
    } else if unlisted > 0 {
        let _ = writeln!(text, "  ({unlisted} files that every sandbox may use are not listed)");
    }
    if looked_up {
        text.push_str(
            "  It asked for the address of a host. Which one is not known: add it to `network`, such as \
             [\"api.example.org:443\"].\n",
        );
    }
    if attempts.dropped > 0 {
        let _ = writeln!(text, "  {} further accesses were not kept", attempts.dropped);
    }
    if attempts.unread > 0 {
        let _ = writeln!(text, "  {} accesses could not be read from their process", attempts.unread);
    }
    text.trim_end().to_owned()
}

/// Denied ones last, where a reader looks first.
fn push_group(text: &mut String, title: &str, lines: &BTreeSet<(bool, String)>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}");
    let dropped = lines.len().saturating_sub(MOST_LINES);
    if dropped > 0 {
        let _ = writeln!(text, "    … {dropped} more");
    }
    for (is_denied, name) in lines.iter().skip(dropped) {
        let _ = writeln!(text, "    {}{name}", if *is_denied { "denied: " } else { "" });
    }
}

fn asks_name_server(attempt: &Attempt) -> bool {
    matches!(attempt.target, Target::Address(address) if address.port() == NAME_SERVER)
}

/// What was touched, as an author would write it.
fn name(call: &TracedCall, attempt: &Attempt) -> String {
    match &attempt.target {
        Target::Path(path) => match call.place(path) {
            Place::Tmp => "tmp (the temporary folder and the home of the call)".to_owned(),
            place => harmless_line(&place.to_string()),
        },
        Target::Address(address) => address.to_string(),
        Target::Abstract(name) => format!("@{}", harmless_line(&String::from_utf8_lossy(name))),
    }
}
