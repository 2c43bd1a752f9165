//! Git: reads a file from a repository, with the installed `git`, which the runner runs.

mod command;
mod process;
mod scratch;
mod uri;

pub(crate) use command::GitCommand;
pub(crate) use uri::GitUri;

use crate::error::FetchError;
use crate::hosts::{HostRules, Network, Settings, SystemNetwork, public_addresses};
use mcp_bash_budget::Budget;
use mcp_bash_runner::Runner;
use process::GitRunner;
use rustix::fs::statvfs;
use scratch::Scratch;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const SETTINGS: Settings = Settings { allow: "MCPBASH_GIT_ALLOW_HOSTS", deny: "MCPBASH_GIT_DENY_HOSTS" };

/// No setting exceeds these limits.
const LONGEST: Duration = Duration::from_secs(60);
const LARGEST_KB: u64 = 1024 * 1024;

/// The first version that accepts fixed addresses.
const OLDEST_GIT: (u32, u32) = (2, 37);

#[derive(Debug, Clone)]
pub struct GitPolicy {
    /// Repositories are read only if this is on.
    pub enabled: bool,
    pub hosts: HostRules,
    /// The timeout of the whole read, at most 60 s.
    pub timeout: Duration,
    /// How large the repository may be on the disk, at most 1 GiB.
    pub max_kb: u64,
    /// How large the file may be.
    pub max_bytes: u64,
    /// Which `git`: a name to look up, or a path.
    pub program: PathBuf,
    /// The folder in which each call makes a folder of its own, for as long as it takes.
    pub scratch: PathBuf,
}

impl Default for GitPolicy {
    fn default() -> Self {
        Self {
            enabled: false,
            hosts: HostRules::default(),
            timeout: Duration::from_secs(30),
            max_kb: 50 * 1024,
            max_bytes: 10 * 1024 * 1024,
            program: PathBuf::from("git"),
            scratch: std::env::temp_dir(),
        }
    }
}

pub struct Git {
    policy: GitPolicy,
    runner: Arc<Runner>,
    network: Arc<dyn Network>,
}

impl Git {
    pub fn new(policy: GitPolicy, runner: Arc<Runner>) -> Self {
        Self::with(policy, runner, Arc::new(SystemNetwork))
    }

    /// Uses another network than the system's to resolve names.
    pub fn with(policy: GitPolicy, runner: Arc<Runner>, network: Arc<dyn Network>) -> Self {
        Self { policy, runner, network }
    }

    /// Reads `git+https://HOST/REPOSITORY#REF:PATH`. The output of git is charged to `budget` until it is returned.
    pub async fn read(&self, uri: &str, budget: &Arc<Budget>) -> Result<Vec<u8>, FetchError> {
        if !self.policy.enabled {
            return Err(FetchError::GitDisabled);
        }
        let uri = GitUri::parse(uri)?;
        self.policy.hosts.check(&uri.repository, SETTINGS)?;
        let within = self.policy.timeout.min(LONGEST);
        let host = uri.repository.authority();
        let git = GitRunner { runner: &self.runner, budget };
        timeout(within, self.fetch(git, &uri)).await.unwrap_or(Err(FetchError::TimedOut {
            host,
            within,
            setting: "MCPBASH_GIT_TIMEOUT",
        }))
    }

    async fn fetch(&self, git: GitRunner<'_>, uri: &GitUri) -> Result<Vec<u8>, FetchError> {
        let addresses = public_addresses(&*self.network, &uri.repository).await?;
        let folder =
            Scratch::new(&self.policy.scratch).map_err(|error| FetchError::GitUnusable(error.to_string()))?;
        self.check_space(folder.path())?;
        self.check_version(git, folder.path()).await?;
        self.clone_into(git, folder.path(), uri, &addresses).await?;
        let command = GitCommand::print(&self.policy.program, folder.path());
        git.print(&command, &uri.path, self.policy.max_bytes).await
    }

    fn max_kb(&self) -> u64 {
        self.policy.max_kb.min(LARGEST_KB)
    }

    fn check_space(&self, folder: &Path) -> Result<(), FetchError> {
        let needed_kb = self.max_kb() + 1024;
        match statvfs(folder) {
            Ok(disk) if disk.f_bavail.saturating_mul(disk.f_frsize) / 1024 < needed_kb => {
                Err(FetchError::NoSpace { needed_kb })
            }
            _ => Ok(()),
        }
    }

    async fn check_version(&self, git: GitRunner<'_>, folder: &Path) -> Result<(), FetchError> {
        let version = git.output(&GitCommand::version(&self.policy.program, folder)).await?;
        let mut numbers = version.trim_start_matches("git version ").split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_GIT => Ok(()),
            _ => {
                let (major, minor) = OLDEST_GIT;
                Err(FetchError::GitUnusable(format!(
                    "version {major}.{minor} or newer is needed to hold it to an address, and this is `{}`",
                    version.trim()
                )))
            }
        }
    }

    async fn clone_into(
        &self,
        git: GitRunner<'_>,
        folder: &Path,
        uri: &GitUri,
        addresses: &[SocketAddr],
    ) -> Result<(), FetchError> {
        let program = &self.policy.program;
        let limit_kb = self.max_kb();
        let too_large = || FetchError::TooLarge { limit: limit_kb * 1024, setting: "MCPBASH_GIT_MAX_KB" };
        let init = GitCommand::init(program, folder);
        git.finish(&init, "make a repository", std::future::pending()).await?;
        let outgrown = async {
            process::outgrown(folder, limit_kb).await;
            too_large()
        };
        let fetch = GitCommand::fetch(program, folder, uri, addresses);
        git.finish(&fetch, "fetch the repository", outgrown).await?;
        if process::folder_kb(folder) > limit_kb { Err(too_large()) } else { Ok(()) }
    }
}
