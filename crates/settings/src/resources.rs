//! The settings of resources: what may be read, from where, and how much of it.

use crate::{EnvironmentMode, Reader, SettingProblem, Settings, YEAR, names};
use mcp_bash_fetch::{GitPolicy, HostList, HostRules, HttpsPolicy};
use std::path::PathBuf;
use std::time::Duration;

/// What may be read as a resource.
#[derive(Debug, Clone)]
pub struct ResourceSettings {
    /// The folders whose files may be read, besides the project's own resources.
    pub roots: Vec<PathBuf>,
    /// The largest resource, in bytes.
    pub max_bytes: usize,
    pub https: HttpsPolicy,
    pub git: GitPolicy,
    /// What the project's own providers see of our environment.
    pub environment_mode: EnvironmentMode,
    /// How often a subscribed resource is read that nobody tells us about; `None` for never.
    pub poll_interval: Option<Duration>,
    /// How long the first reading of a subscription may take.
    pub subscribe_timeout: Duration,
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    pub(crate) fn resources(&mut self) -> ResourceSettings {
        let max_bytes = match self.given("MCPBASH_MAX_RESOURCE_BYTES") {
            Some(_) => self.size("MCPBASH_MAX_RESOURCE_BYTES", 1),
            None => self.size("MCPBASH_MAX_TOOL_OUTPUT_SIZE", 1),
        };
        let poll = self.seconds("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", 0, YEAR);
        ResourceSettings {
            roots: self
                .text("MCP_RESOURCES_ROOTS")
                .split(':')
                .filter(|root| !root.is_empty())
                .map(PathBuf::from)
                .collect(),
            max_bytes,
            https: HttpsPolicy {
                hosts: self.hosts(
                    "MCPBASH_HTTPS_ALLOW_HOSTS",
                    "MCPBASH_HTTPS_DENY_HOSTS",
                    "MCPBASH_HTTPS_ALLOW_ALL",
                ),
                timeout: self.seconds("MCPBASH_HTTPS_TIMEOUT", 1, YEAR),
                max_bytes: self.number("MCPBASH_HTTPS_MAX_BYTES", 1, 1 << 40).min(max_bytes as u64),
                user_agent: self.given("MCPBASH_HTTPS_USER_AGENT"),
            },
            git: GitPolicy {
                enabled: self.flag("MCPBASH_ENABLE_GIT_PROVIDER"),
                hosts: self.hosts(
                    "MCPBASH_GIT_ALLOW_HOSTS",
                    "MCPBASH_GIT_DENY_HOSTS",
                    "MCPBASH_GIT_ALLOW_ALL",
                ),
                timeout: self.seconds("MCPBASH_GIT_TIMEOUT", 1, YEAR),
                max_kb: self.number("MCPBASH_GIT_MAX_KB", 1, 1 << 40),
                max_bytes: max_bytes as u64,
                ..GitPolicy::default()
            },
            environment_mode: self.provider_environment_mode(),
            poll_interval: (!poll.is_zero()).then_some(poll),
            subscribe_timeout: self.seconds("MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT", 1, YEAR),
        }
    }

    fn hosts(&mut self, allow: &'static str, deny: &'static str, all: &'static str) -> HostRules {
        let mut allow_all = self.flag(all);
        let allow = HostList::parse(&self.text(allow)).unwrap_or_else(|error| {
            // What was meant as a list must not end as no limit at all.
            allow_all = false;
            self.refuse(allow, format!("cannot be used, and no host is reached: {error}"));
            HostList::default()
        });
        let deny = HostList::parse(&self.text(deny)).unwrap_or_else(|error| {
            let problem =
                format!("cannot be used: {error}; the server does not start without what it denies");
            self.problems.push(SettingProblem { name: deny, problem, fatal: true });
            HostList::default()
        });
        HostRules { allow, deny, allow_all }
    }

    fn provider_environment_mode(&mut self) -> EnvironmentMode {
        const MODE: &str = "MCPBASH_PROVIDER_ENV_MODE";
        match self.text(MODE).to_ascii_lowercase().as_str() {
            "isolate" => EnvironmentMode::Minimal,
            "allowlist" => EnvironmentMode::Allowlist(names(&self.text("MCPBASH_PROVIDER_ENV_ALLOWLIST"))),
            "inherit" if self.flag("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW") => EnvironmentMode::Inherit,
            "inherit" => {
                let problem =
                    "is `inherit`, which needs MCPBASH_PROVIDER_ENV_INHERIT_ALLOW=true; `isolate` is used";
                self.refuse(MODE, problem.to_owned());
                EnvironmentMode::Minimal
            }
            other => {
                let problem =
                    format!("must be `isolate`, `allowlist` or `inherit`, not `{other}`; `isolate` is used");
                self.refuse(MODE, problem);
                EnvironmentMode::Minimal
            }
        }
    }
}

impl Settings {
    /// The largest resource that is read, in bytes.
    pub fn max_resource_bytes(&self) -> u64 {
        self.resources.max_bytes as u64
    }
}
