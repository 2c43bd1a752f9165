//! Seatbelt: the same policy as a sandbox profile of macOS, for `/usr/bin/sandbox-exec`.
//!
//! Written from the published forms of such profiles and unit-tested as text; no Mac has run it yet.

use crate::declaration::Network;
use crate::policy::Policy;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The program that starts another one under a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What every program of macOS needs to start: the system's libraries and services, and nothing of a user.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.logd"))
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/private") (literal "/private/var") (literal "/private/etc"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/tty"))
"#;

/// Folders of programs and libraries, beside those that the policy names.
const SYSTEM: [&str; 7] = [
    "/System",
    "/Library/Developer/CommandLineTools",
    "/Library/Preferences",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/etc/ssl",
    "/opt/homebrew",
];

/// The profile of a process that may also write to `own` folders. It reaches the ports of this machine that are given.
pub fn profile<'a>(policy: &Policy, own: impl IntoIterator<Item = &'a Path>, ports: &[u16]) -> String {
    let mut text = BASE.to_owned();
    let own: Vec<&Path> = own.into_iter().collect();
    let writes = || policy.write.iter().map(PathBuf::as_path).chain(own.iter().copied());
    let reads = SYSTEM.iter().map(Path::new).chain(policy.read.iter().map(PathBuf::as_path)).chain(writes());
    allow(&mut text, "file-read*", reads);
    allow(&mut text, "file-map-executable", policy.read.iter().map(PathBuf::as_path).chain(writes()));
    allow(&mut text, "file-write*", writes());
    match &policy.network {
        Network::All => text.push_str("(allow network*)\n(allow system-socket)\n"),
        Network::None => {}
        Network::Hosts(hosts) => {
            for port in hosts.local_ports().chain(ports.iter().copied()) {
                let _ = writeln!(text, "(allow network-outbound (remote tcp \"localhost:{port}\"))");
            }
        }
    }
    if policy.network != Network::All {
        // Sockets whose folder may be written.
        for folder in writes() {
            let _ = writeln!(text, "(allow network* (subpath {}))", quoted(folder));
        }
    }
    text
}

fn allow<'a>(text: &mut String, operation: &str, paths: impl Iterator<Item = &'a Path>) {
    let _ = write!(text, "(allow {operation}");
    for path in paths {
        let _ = write!(text, "\n  (subpath {})", quoted(path));
    }
    text.push_str(")\n");
}

/// A string of the profile language, in which a quote or a backslash in a path ends nothing.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for letter in path.to_string_lossy().chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{Declaration, Limits, Mode};

    fn profile_of(network: &str, read: &str) -> String {
        let declared = Declaration::parse(&format!(r#"{{"network":{network}}}"#)).unwrap();
        let policy = Policy {
            mode: Mode::On,
            read: vec![read.into()],
            write: vec!["/data/out".into()],
            has_tmp: true,
            network: declared.network.unwrap(),
            limits: Limits::default(),
        };
        profile(&policy, [Path::new("/tmp/cell/tmp")], &[3128])
    }

    /// The rules that allow an operation.
    fn rules<'a>(profile: &'a str, operation: &str) -> Vec<&'a str> {
        profile.split("\n(").filter(|rule| rule.starts_with(&format!("allow {operation}"))).collect()
    }

    #[test]
    fn everything_is_denied_but_what_the_policy_allows() {
        let text = profile_of("\"none\"", "/data");
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        let writes = rules(&text, "file-write*").concat();
        assert!(writes.contains("(subpath \"/data/out\")") && writes.contains("(subpath \"/tmp/cell/tmp\")"));
        assert!(!writes.contains("\"/data\""), "{writes}");
        assert!(!text.contains("network-outbound") && !text.contains("(allow network*)"), "{text}");
    }

    #[test]
    fn a_list_of_hosts_allows_only_the_proxy_and_listed_ports_of_this_machine() {
        let text = profile_of(r#"["api.example.org:443","localhost:5432"]"#, "/data");
        let allowed: Vec<&str> = rules(&text, "network-outbound");
        assert_eq!(allowed.len(), 2, "{text}");
        assert!(
            text.contains("(remote tcp \"localhost:3128\")")
                && text.contains("(remote tcp \"localhost:5432\")")
        );
        assert!(!text.contains("443"), "{text}");
        assert!(profile_of("\"all\"", "/data").contains("(allow network*)"));
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let text = profile_of("\"none\"", r#"/a") (allow default) ("\"#);
        assert!(text.contains(r#"(subpath "/a\") (allow default) (\"\\")"#), "{text}");
    }

    #[test]
    fn parentheses_are_balanced() {
        for network in ["\"none\"", "\"all\"", r#"["localhost:1"]"#] {
            let text = profile_of(network, "/data");
            assert_eq!(text.matches('(').count(), text.matches(')').count());
        }
    }
}
