//! Downloads to a file, for scripts.

use crate::error::{ErrorKind, FetchError};
use crate::hosts::HostList;
use crate::https::Https;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

#[derive(Debug, Clone)]
pub struct Download {
    pub url: String,
    /// The destination. The file is written completely or not at all.
    pub out: PathBuf,
    /// If not empty, these hosts replace those that the operator allows.
    pub allow: HostList,
    /// Denied in addition to those that the operator denies.
    pub deny: HostList,
    pub max_bytes: Option<u64>,
    pub timeout: Option<Duration>,
    pub user_agent: Option<String>,
    /// The total number of attempts.
    pub attempts: u32,
    /// How long to wait before the second attempt. Each further wait is twice as long.
    pub delay: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    pub bytes: u64,
    pub path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("failed to write `{}`: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
}

/// Tries until it succeeds, fails for good, or runs out of attempts.
pub async fn download(request: &Download, https: &Https) -> Result<Downloaded, DownloadError> {
    let mut policy = https.policy().clone();
    if !request.allow.is_empty() {
        policy.hosts.allow = request.allow.clone();
    }
    policy.hosts.deny = policy.hosts.deny.and(&request.deny);
    policy.max_bytes = request.max_bytes.unwrap_or(policy.max_bytes);
    policy.timeout = request.timeout.unwrap_or(policy.timeout);
    let user_agent = request.user_agent.clone().or(policy.user_agent);
    policy.user_agent = Some(user_agent.unwrap_or_else(default_user_agent));

    let mut attempt = 1;
    let response = loop {
        match https.get_by(&request.url, &policy).await {
            Err(error) if error.may_pass() && attempt < request.attempts => {
                tokio::time::sleep(pause(request.delay, attempt, random_share())).await;
                attempt += 1;
            }
            outcome => break outcome?,
        }
    };
    write(&request.out, &response.bytes)
        .map_err(|error| DownloadError::Write { path: request.out.clone(), error })?;
    Ok(Downloaded { bytes: response.bytes.len() as u64, path: request.out.clone() })
}

fn default_user_agent() -> String {
    format!("mcpbash/{} (tool-sdk)", env!("CARGO_PKG_VERSION"))
}

/// How long to wait after this attempt. Up to half of it is random, so that clients that failed together do not come
/// back together.
pub(crate) fn pause(delay: Duration, attempt: u32, chance: f64) -> Duration {
    let doubled = delay.saturating_mul(2u32.saturating_pow(attempt - 1));
    doubled.saturating_add(doubled.mul_f64(chance.clamp(0.0, 1.0) / 2.0))
}

/// From 0 to 1. It only needs to differ from process to process.
fn random_share() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let [byte, ..] = RandomState::new().hash_one(0).to_ne_bytes();
    f64::from(byte) / 255.0
}

/// Writes a file beside the destination and then renames it, so that no reader sees half of a file. A device or a named
/// pipe is written to and stays what it is; a link is replaced, since another user may have put it there.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_special = |known: std::fs::Metadata| !known.is_file() && !known.is_dir() && !known.is_symlink();
    if path.symlink_metadata().is_ok_and(is_special) {
        return mcp_bash_files::write_whole(path, bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

impl Downloaded {
    /// The result as a script reads it.
    pub fn to_json(&self) -> Value {
        json!({"success": true, "bytes": self.bytes, "path": self.path.to_string_lossy()})
    }
}

impl DownloadError {
    /// The names by which scripts tell failures apart.
    pub fn type_name(&self) -> &'static str {
        let Self::Fetch(error) = self else { return "write_error" };
        match error.kind() {
            ErrorKind::Invalid => "invalid_url",
            ErrorKind::Refused => "host_blocked",
            ErrorKind::TooLarge => "size_exceeded",
            ErrorKind::Redirect => "redirect",
            ErrorKind::Missing | ErrorKind::Failed => "network_error",
        }
    }

    /// The error as a script reads it.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"type": self.type_name()});
        if let Self::Fetch(FetchError::Redirect { location: Some(location), .. }) = self {
            error["location"] = json!(location);
        }
        // Scripts without a JSON parser expect it as the last member.
        error["message"] = json!(self.to_string());
        json!({"success": false, "error": error})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_pipe_is_written_to_and_a_link_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link, real) = (folder.path().join("p"), folder.path().join("l"), folder.path().join("r"));
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        write(&pipe, b"text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
        std::fs::write(&real, "untouched").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "untouched");
        assert!(!link.is_symlink());
    }
}
