//! Resource settings: what may be read, from where, and how much.

use crate::environment::EnvironmentMode;
use crate::given::Source;
use crate::kind::{Flag, Folders, Hosts};
use crate::reader::Reader;
use crate::row::Row;
use crate::table;
use mcp_bash_fetch::{GitPolicy, HostRules, HttpsPolicy};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What may be read as a resource.
#[derive(Debug, Clone)]
pub struct ResourceSettings {
    /// The folders whose files may be read, if set; else those of the project's own resources.
    pub roots: Option<Vec<PathBuf>>,
    /// The largest resource, in bytes.
    pub max_bytes: usize,
    pub https: HttpsPolicy,
    pub git: GitPolicy,
    /// How much of our environment the project's own providers see.
    pub environment_mode: EnvironmentMode,
    /// How often a subscribed resource is read whose changes are not reported to us; `None` for never.
    pub poll_interval: Option<Duration>,
    /// The timeout of the first read of a subscription.
    pub subscribe_timeout: Duration,
}

impl ResourceSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        let max_bytes = reader.value(&table::MAX_RESOURCE_BYTES);
        let poll = reader.value(&table::RESOURCES_POLL_INTERVAL);
        Self {
            roots: reader.value(&table::RESOURCES_ROOTS).map(|folders| Folders::split(&folders)),
            max_bytes,
            https: https(reader, max_bytes),
            git: git(reader, max_bytes),
            environment_mode: EnvironmentMode::of_providers(reader),
            poll_interval: (!poll.is_zero()).then_some(poll),
            subscribe_timeout: reader.value(&table::SUBSCRIBE_TIMEOUT),
        }
    }

    /// The folders whose files may be read, in a project that has its resources in `own`.
    pub fn folders(&self, project: &Path, own: &Path) -> Vec<PathBuf> {
        match &self.roots {
            // Joining with an absolute path gives that path.
            Some(roots) => roots.iter().map(|root| project.join(root)).collect(),
            None => vec![own.to_owned()],
        }
    }
}

fn https(reader: &mut Reader<'_>, max_bytes: usize) -> HttpsPolicy {
    let rows = (&table::HTTPS_ALLOW_HOSTS, &table::HTTPS_DENY_HOSTS, &table::HTTPS_ALLOW_ALL);
    HttpsPolicy {
        hosts: hosts(reader, rows),
        timeout: reader.value(&table::HTTPS_TIMEOUT),
        max_bytes: reader.value(&table::HTTPS_MAX_BYTES).min(max_bytes) as u64,
        user_agent: reader.value(&table::HTTPS_USER_AGENT),
    }
}

fn git(reader: &mut Reader<'_>, max_bytes: usize) -> GitPolicy {
    let rows = (&table::GIT_ALLOW_HOSTS, &table::GIT_DENY_HOSTS, &table::GIT_ALLOW_ALL);
    GitPolicy {
        enabled: reader.value(&table::ENABLE_GIT_PROVIDER),
        hosts: hosts(reader, rows),
        timeout: reader.value(&table::GIT_TIMEOUT),
        max_kb: reader.value(&table::GIT_MAX_KB) as u64,
        max_bytes: max_bytes as u64,
        ..GitPolicy::default()
    }
}

fn hosts(
    reader: &mut Reader<'_>,
    (allow, deny, all): (&'static Row<Hosts>, &'static Row<Hosts>, &'static Row<Flag>),
) -> HostRules {
    let rules =
        HostRules { allow: reader.value(allow), deny: reader.value(deny), allow_all: reader.value(all) };
    // What was meant as a list must not end as no limit at all.
    if rules.allow_all && reader.is_refused(allow) {
        reader.overrule(all, "false", Source::Variable(allow.name));
        return HostRules { allow_all: false, ..rules };
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn read(given: &[(&str, &str)]) -> (ResourceSettings, Vec<(&'static str, bool)>) {
        let lookup =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let mut reader = Reader::new(&lookup);
        let settings = ResourceSettings::from_rows(&mut reader);
        (settings, reader.problems.iter().map(|problem| (problem.name, problem.fatal)).collect())
    }

    #[test]
    fn an_invalid_list_of_allowed_hosts_allows_none() {
        let (settings, problems) =
            read(&[("MCPBASH_HTTPS_ALLOW_HOSTS", "*.example.com"), ("MCPBASH_HTTPS_ALLOW_ALL", "true")]);
        assert!(settings.https.hosts.allow.is_empty() && !settings.https.hosts.allow_all);
        assert_eq!(problems, [("MCPBASH_HTTPS_ALLOW_HOSTS", false)]);
        assert!(read(&[("MCPBASH_HTTPS_ALLOW_ALL", "true")]).0.https.hosts.allow_all);
    }

    #[test]
    fn a_list_of_denied_hosts_that_cannot_be_read_is_fatal() {
        assert_eq!(read(&[("MCPBASH_GIT_DENY_HOSTS", "http://a")]).1, [("MCPBASH_GIT_DENY_HOSTS", true)]);
    }

    #[test]
    fn the_largest_resource_bounds_what_is_read_from_elsewhere() {
        let (settings, _) = read(&[("MCPBASH_MAX_RESOURCE_BYTES", "1000")]);
        assert_eq!((settings.https.max_bytes, settings.git.max_bytes), (1000, 1000));
        let (settings, _) = read(&[("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "2000")]);
        assert_eq!((settings.max_bytes, settings.https.max_bytes), (2000, 2000));
        let (settings, problems) = read(&[("MCPBASH_MAX_RESOURCE_BYTES", "large")]);
        assert_eq!((settings.max_bytes, problems.len()), (10 * 1024 * 1024, 1));
    }

    #[test]
    fn an_interval_of_zero_disables_polling() {
        assert_eq!(read(&[("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "0")]).0.poll_interval, None);
        assert_eq!(read(&[]).0.poll_interval, Some(Duration::from_secs(2)));
    }

    #[test]
    fn folders_are_split_at_colons() {
        let (settings, _) = read(&[("MCP_RESOURCES_ROOTS", "/a::b c:")]);
        assert_eq!(settings.roots, Some(vec![PathBuf::from("/a"), PathBuf::from("b c")]));
    }

    #[test]
    fn folders_that_are_named_take_the_place_of_the_projects_own() {
        let folders =
            |given: &[(&str, &str)]| read(given).0.folders(Path::new("/p"), Path::new("/p/resources"));
        assert_eq!(folders(&[]), [PathBuf::from("/p/resources")]);
        assert_eq!(folders(&[("MCP_RESOURCES_ROOTS", "/a:b")]), [PathBuf::from("/a"), PathBuf::from("/p/b")]);
        assert_eq!(folders(&[("MCP_RESOURCES_ROOTS", ":")]), Vec::<PathBuf>::new());
    }
}
