//! HTTP settings: listen addresses, access, and limits.

mod identity;

pub use identity::IdentitySettings;

use crate::reader::Reader;
use crate::table;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a server that is started with `--http`. Addresses, hosts and origins are texts here; the transport
/// parses them.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub addresses: Vec<String>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub tokens: Option<PathBuf>,
    pub roles: Option<PathBuf>,
    pub identity: IdentitySettings,
    pub tls_certificate: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub behind_proxy: bool,
    pub metrics: Option<String>,
    pub legacy_sse: bool,
    pub max_body_bytes: usize,
    pub max_header_bytes: usize,
    pub max_connections: usize,
    pub max_streams: usize,
    pub max_sessions: usize,
    /// `None` for any number of sessions of one caller.
    pub sessions_per_minute: Option<u32>,
    pub session_idle: Duration,
    /// `None` for any number of requests of one caller.
    pub requests_per_minute: Option<u32>,
    pub header_timeout: Duration,
    pub stall_timeout: Duration,
    pub keep_alive: Duration,
    /// `None` if a stream may stay open for as long as it is needed.
    pub stream_time: Option<Duration>,
    pub drain: Duration,
}

impl HttpSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            addresses: reader.value(&table::HTTP_ADDRESS),
            allowed_hosts: reader.value(&table::HTTP_ALLOW_HOSTS),
            allowed_origins: reader.value(&table::HTTP_ALLOW_ORIGINS),
            tokens: reader.value(&table::HTTP_TOKENS),
            roles: reader.value(&table::HTTP_ROLES),
            identity: IdentitySettings::from_rows(reader),
            tls_certificate: reader.value(&table::HTTP_TLS_CERT),
            tls_key: reader.value(&table::HTTP_TLS_KEY),
            behind_proxy: reader.value(&table::HTTP_BEHIND_PROXY),
            metrics: reader.value(&table::HTTP_METRICS),
            legacy_sse: reader.value(&table::HTTP_LEGACY_SSE),
            max_body_bytes: reader.value(&table::HTTP_MAX_BODY_BYTES),
            max_header_bytes: reader.value(&table::HTTP_MAX_HEADER_BYTES),
            max_connections: reader.value(&table::HTTP_MAX_CONNECTIONS),
            max_streams: reader.value(&table::HTTP_MAX_STREAMS),
            max_sessions: reader.value(&table::HTTP_MAX_SESSIONS),
            sessions_per_minute: Some(reader.value(&table::HTTP_MAX_SESSIONS_PER_MINUTE))
                .filter(|most| *most > 0),
            session_idle: reader.value(&table::HTTP_SESSION_IDLE_TIMEOUT),
            requests_per_minute: Some(reader.value(&table::HTTP_MAX_REQUESTS_PER_MINUTE))
                .filter(|most| *most > 0),
            header_timeout: reader.value(&table::HTTP_HEADER_TIMEOUT),
            stall_timeout: reader.value(&table::HTTP_STALL_TIMEOUT),
            keep_alive: reader.value(&table::HTTP_KEEP_ALIVE),
            stream_time: Some(reader.value(&table::HTTP_STREAM_TIME)).filter(|time| !time.is_zero()),
            drain: reader.value(&table::HTTP_DRAIN_TIMEOUT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProjectSettings, Settings, TABLE};
    use serde_json::json;

    #[test]
    fn nothing_of_http_comes_from_a_project() {
        let names: Vec<_> =
            TABLE.iter().map(|row| row.name()).filter(|name| name.starts_with("MCPBASH_HTTP_")).collect();
        assert!(names.len() >= 20, "{names:?}");
        for name in names {
            let written = json!({ name: "1" });
            let (_, problems) = ProjectSettings::new(written.as_object().unwrap());
            assert!(
                problems.len() == 1 && problems[0].to_string().contains("set the variable "),
                "{name}: {problems:?}"
            );
        }
    }

    #[test]
    fn zero_means_unlimited_if_a_limit_is_optional() {
        let (settings, problems) = Settings::read(|_| None);
        assert!(problems.is_empty());
        assert_eq!((settings.http.requests_per_minute, settings.http.stream_time), (None, None));
        assert_eq!(settings.http.sessions_per_minute, Some(600));
        assert_eq!(settings.http.addresses, ["127.0.0.1:8765"]);
        let (settings, _) = Settings::read(|name| match name {
            "MCPBASH_HTTP_MAX_REQUESTS_PER_MIN" => Some("60".to_owned()),
            "MCPBASH_HTTP_MAX_SESSIONS_PER_MIN" => Some("0".to_owned()),
            "MCPBASH_HTTP_STREAM_SECS" => Some("9".to_owned()),
            "MCPBASH_HTTP_ADDRESS" => Some("8080, unix:/run/mcp.sock".to_owned()),
            _ => None,
        });
        assert_eq!((settings.http.requests_per_minute, settings.http.sessions_per_minute), (Some(60), None));
        assert_eq!(settings.http.stream_time, Some(Duration::from_secs(9)));
        assert_eq!(settings.http.addresses, ["8080", "unix:/run/mcp.sock"]);
    }
}
