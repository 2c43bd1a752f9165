//! HTTP serving: its flags, and the options that they and the settings result in.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::serve::identity::{self, IdentityArguments, WrongIdentity};
use mcp_bash_project::{Paths, trust};
use mcp_bash_roles::Rate;
use mcp_bash_server::Server;
use mcp_bash_settings::HttpSettings;
use mcp_bash_terminal::tell;
use mcp_bash_transport::http::{self, Address, AddressError, Limits, Options, Places, StartError, TlsFiles};
use mcp_bash_transport::{Ending, Host};
use mcp_bash_wire::LogLevel;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error as ThisError;
use tokio::runtime::Runtime;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Over HTTP")]
#[group(skip)]
pub(crate) struct HttpArguments {
    /// Listen on this address instead of standard input: PORT, ADDRESS:PORT, `unix:/PATH` or `systemd`; may
    /// be repeated [default: 127.0.0.1:8765]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "")]
    http: Option<Vec<String>>,

    /// An allowed host name of the server, in addition to those of this machine; `*` for any
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// An allowed origin of web pages, such as `https://app.example.com`; `*` for any
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// Require a token from this file, which `mcp-bash token` writes
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,

    /// Give callers what their roles in this file allow [default: server.d/roles.yaml, if there is one]
    #[arg(long, value_name = "FILE", requires = "http")]
    roles: Option<PathBuf>,

    #[command(flatten)]
    identity: IdentityArguments,

    /// Use TLS with this certificate (PEM); a renewed one is loaded automatically
    #[arg(long, value_name = "FILE", requires = "http")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "http")]
    tls_key: Option<PathBuf>,

    /// All callers come through a reverse proxy that terminates TLS
    #[arg(long, requires = "http")]
    behind_proxy: bool,

    /// Serve /livez, /readyz and /metrics on this address, without authentication
    #[arg(long, value_name = "ADDR", requires = "http")]
    metrics: Option<String>,

    /// Also serve clients of the deprecated transport of 2024-11-05 (HTTP+SSE)
    #[arg(long, requires = "http")]
    legacy_sse: bool,
}

/// Flags that contradict each other, or cannot be read.
#[derive(Debug, ThisError)]
enum WrongFlag {
    #[error("--http: {0}")]
    Address(AddressError),
    #[error("`{0}` is a folder and no address; write `mcp-bash serve {0} --http`")]
    Folder(String),
    #[error("--metrics: {0}")]
    Metrics(AddressError),
    #[error("--metrics needs an address; all sockets of systemd are for `--http systemd`")]
    InheritedMetrics,
    #[error(transparent)]
    Identity(#[from] WrongIdentity),
    #[error("there is a certificate and no key; add `--tls-key FILE`")]
    NoKey,
    #[error("there is a key and no certificate; add `--tls-cert FILE`")]
    NoCertificate,
}

impl HttpArguments {
    pub(crate) fn is_asked_for(&self) -> bool {
        self.http.is_some()
    }

    /// The options of serving over HTTP, if it is requested.
    pub(crate) fn options(&self, settings: &HttpSettings) -> Result<Option<Options>, Error> {
        let Some(addresses) = &self.http else { return Ok(None) };
        self.to_options(addresses, settings).map(Some).map_err(|wrong| Error::of_command(Exit::Usage, wrong))
    }

    fn to_options(&self, named: &[String], settings: &HttpSettings) -> Result<Options, WrongFlag> {
        let named: Vec<&String> = named.iter().filter(|address| !address.is_empty()).collect();
        let chosen = if named.is_empty() { settings.addresses.iter().collect() } else { named };
        let addresses: Result<Vec<Address>, _> =
            chosen.into_iter().map(|address| parse_address(address)).collect();
        let addresses = addresses?;
        let metrics = self.metrics.as_ref().or(settings.metrics.as_ref());
        let metrics =
            metrics.map(|address| Address::parse(address)).transpose().map_err(WrongFlag::Metrics)?;
        if metrics == Some(Address::Inherited) {
            return Err(WrongFlag::InheritedMetrics);
        }
        let certificate = self.tls_cert.as_ref().or(settings.tls_certificate.as_ref());
        let tls = match (certificate, self.tls_key.as_ref().or(settings.tls_key.as_ref())) {
            (Some(certificate), Some(key)) => {
                let clients = self.identity.clients(&settings.identity, true)?;
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone(), clients })
            }
            (Some(_), None) => return Err(WrongFlag::NoKey),
            (None, Some(_)) => return Err(WrongFlag::NoCertificate),
            (None, None) => {
                self.identity.clients(&settings.identity, false)?;
                None
            }
        };
        Ok(Options {
            addresses,
            allowed_hosts: [&self.allow_host[..], &settings.allowed_hosts].concat(),
            allowed_origins: [&self.allow_origin[..], &settings.allowed_origins].concat(),
            tokens: self.tokens.clone().or_else(|| settings.tokens.clone()),
            roles: self.roles.clone().or_else(|| settings.roles.clone()),
            issuer: self.identity.issuer(&settings.identity)?,
            proxy: identity::proxy(&settings.identity)?,
            tls,
            behind_proxy: self.behind_proxy || settings.behind_proxy,
            legacy_sse: self.legacy_sse || settings.legacy_sse,
            metrics,
            drain: settings.drain,
            limits: limits(settings),
        })
    }
}

fn parse_address(text: &str) -> Result<Address, WrongFlag> {
    Address::parse(text).map_err(|error| {
        let is_folder = Path::new(text).is_dir();
        if is_folder { WrongFlag::Folder(text.to_owned()) } else { WrongFlag::Address(error) }
    })
}

fn limits(settings: &HttpSettings) -> Limits {
    let per_minute = |most: Option<u32>| most.and_then(NonZeroU32::new).map(Rate::per_minute);
    Limits {
        body_bytes: settings.max_body_bytes,
        header_bytes: settings.max_header_bytes,
        connections: settings.max_connections,
        streams: settings.max_streams,
        sessions: settings.max_sessions,
        session_idle: settings.session_idle,
        session_rate: per_minute(settings.sessions_per_minute),
        rate: per_minute(settings.requests_per_minute),
        header_time: settings.header_timeout,
        stall_time: settings.stall_timeout,
        idle_time: settings.keep_alive,
        stream_time: settings.stream_time,
    }
}

/// Serves until shutdown.
pub(crate) fn serve(
    common: &Common,
    server: &Arc<Server>,
    runtime: &Runtime,
    mut options: Options,
    host: Host,
) -> Result<Ending, Error> {
    let announce = |places: &Places| {
        for address in places.endpoints.iter().filter(|_| !common.quiet) {
            tell(&announcement("Serving", address, "/mcp"));
        }
        for address in places.metrics.iter().filter(|_| !common.quiet) {
            tell(&announcement("Metrics", address, "/metrics"));
        }
    };
    if options.roles.is_none() {
        options.roles = roles_of_project(&server.served().paths())?;
    }
    let connections = &mut options.limits.connections;
    let open_files = raise_open_files(*connections as u64 + FILES_BESIDES_CONNECTIONS);
    let possible = connections_within(open_files);
    if possible < *connections {
        let details = json!({ "openFiles": open_files, "wanted": connections, "connections": possible });
        let few = "the limit of open files allows fewer connections than the settings; `ulimit -n` or LimitNOFILE raises it";
        server.log().event(LogLevel::Warning, "mcp.http", few, &details);
        *connections = possible;
    }
    http::serve(server, runtime, options, host, announce).map_err(|error| {
        let exit = match error {
            StartError::Listen(_) | StartError::Signals(_) => Exit::Failed,
            // Errors in flags, settings and the files they name.
            _ => Exit::Usage,
        };
        Error::of_command(exit, error)
    })
}

/// The roles file of the project if there is one. A file that cannot be read is found there too, and refused later.
fn roles_of_project(paths: &Paths) -> Result<Option<PathBuf>, Error> {
    let file = paths.roles();
    let misspelt = file.with_extension("yml");
    if file.symlink_metadata().is_ok() {
        return Ok(Some(file));
    }
    // Roles that are written must not end as none.
    if misspelt.symlink_metadata().is_ok() {
        let why = format!("`{}` is not read; rename it to roles.yaml", misspelt.display());
        return Err(Error::of_command(Exit::Usage, why));
    }
    // Nor may another user have been able to remove them.
    trust::judge_absence(&file, &paths.root).map_err(|distrust| {
        let why = format!("others could have removed `{}`: {distrust}", file.display());
        Error::of_command(Exit::Usage, why)
    })?;
    Ok(None)
}

fn announcement(what: &str, address: &str, path: &str) -> String {
    match address.strip_prefix("unix:") {
        Some(socket) => format!("{what} at {path} of the socket {socket}"),
        None => format!("{what} at {address}{path}"),
    }
}

/// Files that are open besides connections: mainly those of calls, and those of the metrics address.
const FILES_BESIDES_CONNECTIONS: u64 = 1024;

/// Raises the limit of open files to this number, or as far as the system allows, and returns the result. Shells and
/// service managers start programs with a soft limit that they may raise themselves.
fn raise_open_files(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return wanted };
    let possible = limit.maximum.map_or(wanted, |most| wanted.min(most));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(possible), ..limit }) {
        Ok(()) => possible,
        Err(_) => current,
    }
}

/// How many connections leave enough open files for everything else: half of them, if they are few.
fn connections_within(open_files: u64) -> usize {
    let others = FILES_BESIDES_CONNECTIONS.min(open_files / 2);
    usize::try_from(open_files - others).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use mcp_bash_settings::Settings;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        http: HttpArguments,
    }

    fn options(
        words: &[&str],
        given: &[(&str, &str)],
    ) -> Result<Option<Options>, Box<dyn std::error::Error>> {
        let line = Line::try_parse_from([&["serve"], words].concat())?;
        let (settings, problems) = Settings::read(|name| {
            given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        });
        assert!(problems.is_empty(), "{problems:?}");
        Ok(line.http.options(&settings.http)?)
    }

    #[test]
    fn the_defaults_of_the_settings_are_those_of_the_transport() {
        let options = options(&["--http"], &[]).unwrap().unwrap();
        assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
    }

    #[test]
    fn without_the_flag_nothing_is_served_over_http() {
        let given = [("MCPBASH_HTTP_ADDRESS", "8080"), ("MCPBASH_HTTP_TOKENS", "/t")];
        assert!(options(&[], &given).unwrap().is_none());
        for alone in [&["--tokens", "t"][..], &["--tls-cert", "c"], &["--legacy-sse"], &["--behind-proxy"]] {
            assert!(options(alone, &[]).unwrap_err().to_string().contains("--http"), "{alone:?}");
        }
    }

    #[test]
    fn flags_override_settings_and_lists_are_joined() {
        let given = [
            ("MCPBASH_HTTP_ADDRESS", "8080 unix:/run/mcp.sock"),
            ("MCPBASH_HTTP_ALLOW_HOSTS", "a.example,b.example"),
            ("MCPBASH_HTTP_TOKENS", "/etc/tokens"),
            ("MCPBASH_HTTP_MAX_REQUESTS_PER_MIN", "60"),
        ];
        let read = options(&["--http", "--allow-host", "c.example"], &given).unwrap().unwrap();
        assert_eq!(
            read.addresses,
            [Address::parse("8080").unwrap(), Address::parse("unix:/run/mcp.sock").unwrap()]
        );
        assert_eq!(read.allowed_hosts, ["c.example", "a.example", "b.example"]);
        assert_eq!(read.tokens.as_deref(), Some(Path::new("/etc/tokens")));
        assert_eq!(read.limits.rate.unwrap().to_string(), "60/min");
        let read =
            options(&["--http=9000", "--http", "[::1]:9000", "--tokens", "mine"], &given).unwrap().unwrap();
        assert_eq!(read.addresses.len(), 2);
        assert_eq!(read.tokens.as_deref(), Some(Path::new("mine")));
    }

    #[test]
    fn invalid_flags_are_refused_with_the_next_step() {
        for (words, said) in [
            (&["--http", "nowhere"][..], "--http: `nowhere` is no address"),
            (&["--http", "/"], "`mcp-bash serve / --http`"),
            (&["--http", "--tls-cert", "c"], "add `--tls-key FILE`"),
            (&["--http", "--tls-key", "k"], "add `--tls-cert FILE`"),
            (&["--http", "--metrics", "x"], "--metrics: `x` is no address"),
            (&["--http", "--metrics", "systemd"], "--metrics needs an address"),
        ] {
            let refused = options(words, &[]).unwrap_err().to_string();
            assert!(refused.contains(said), "{words:?}: {refused}");
        }
        let half = options(&["--http"], &[("MCPBASH_HTTP_TLS_KEY", "k")]).unwrap_err().to_string();
        assert!(half.contains("no certificate"), "{half}");
    }

    #[test]
    fn few_open_files_are_shared_between_connections_and_everything_else() {
        assert_eq!([0, 1, 64, 1024, 5120].map(connections_within), [1, 1, 32, 512, 4096]);
    }

    #[test]
    fn a_socket_is_announced_as_one() {
        let said = |address| announcement("Serving", address, "/mcp");
        assert_eq!(said("http://127.0.0.1:8765"), "Serving at http://127.0.0.1:8765/mcp");
        assert_eq!(said("unix:/run/mcp.sock"), "Serving at /mcp of the socket /run/mcp.sock");
    }
}
