//! The newest release, from a list of releases as GitHub serves it, or from one release.

use mcp_bash_fetch::{FetchError, OperatorClient, OperatorUrl};
use mcp_bash_packaging::Version;
use serde_json::Value;
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::Builder;

/// The time of the whole request: somebody waits for the diagnosis.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A page of releases has some 100 kB.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

#[derive(Debug, Error)]
pub(super) enum Problem {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the answer is no list of releases in JSON")]
    NoReleases,
    #[error("no release in the answer has a version such as v1.2.3 in `tag_name`")]
    NoVersion,
    #[error("the request cannot be made: {0}")]
    System(#[from] std::io::Error),
}

/// Asks for the newest release. Pre-releases count only `with_prereleases`.
pub(super) fn newest(url: &OperatorUrl, with_prereleases: bool) -> Result<Version, Problem> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let client = OperatorClient::new(TIMEOUT, MAX_BYTES);
    let answer = runtime.block_on(client.get(url))?;
    newest_in(&answer.bytes, with_prereleases)
}

fn newest_in(bytes: &[u8], with_prereleases: bool) -> Result<Version, Problem> {
    let releases: Vec<Value> = match serde_json::from_slice(bytes) {
        Ok(Value::Array(releases)) => releases,
        Ok(release @ Value::Object(_)) => vec![release],
        Ok(_) | Err(_) => return Err(Problem::NoReleases),
    };
    let is_out = |release: &&Value| release["draft"] != true;
    let version = |release: &Value| {
        let tag = release["tag_name"].as_str()?;
        Version::parse(tag.strip_prefix('v').unwrap_or(tag))
    };
    let counts = |version: &Version| with_prereleases || !version.is_pre_release();
    releases
        .iter()
        .filter(is_out)
        .filter_map(version)
        .filter(counts)
        .max_by(Version::precedence)
        .ok_or(Problem::NoVersion)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str, with_prereleases: bool) -> Result<String, String> {
        newest_in(json.as_bytes(), with_prereleases)
            .map(|version| version.to_string())
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_newest_release_is_the_highest_version_and_not_the_first() {
        let list = r#"[{"tag_name":"v1.9.1"},{"tag_name":"v2.0.0-rc.1"},{"tag_name":"v1.10.0"},
            {"tag_name":"v3.0.0","draft":true},{"tag_name":"nightly"},{"name":"no tag"},7]"#;
        assert_eq!(found(list, false).unwrap(), "1.10.0");
        assert_eq!(found(list, true).unwrap(), "2.0.0-rc.1");
        assert_eq!(found(r#"{"tag_name":"1.2.3"}"#, false).unwrap(), "1.2.3");
    }

    #[test]
    fn an_answer_without_a_release_is_refused() {
        for text in ["", "<html>", "null", "\"1.2.3\"", "[", "\u{0}"] {
            assert!(found(text, false).unwrap_err().contains("no list of releases"), "{text}");
        }
        for text in ["[]", "{}", r#"[{"tag_name":17}]"#, r#"{"tag_name":"v1.0.0-rc.1"}"#] {
            assert!(found(text, false).unwrap_err().contains("tag_name"), "{text}");
        }
    }
}
