//! Address of the store: a URL of PostgreSQL, with two parameters of ours.
//!
//! | parameter | meaning |
//! |---|---|
//! | `schema` | the schema of the tables; `mcp_bash` if it is not given |
//! | `sslrootcert` | a file with the certificates to trust, beside those of the system |
//!
//! A connection with TLS always verifies the certificate and its name, so `verify-full`, `verify-ca` and `require` mean the
//! same. Everything else is as the client library of PostgreSQL has it.

use crate::DatabaseError;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

const DEFAULT_SCHEMA: &str = "mcp_bash";

/// The longest name in PostgreSQL.
const LONGEST_NAME: usize = 63;

#[derive(Debug, Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
    /// A file of certificates to trust.
    pub(crate) trusted: Option<PathBuf>,
}

impl Address {
    /// Reads an address. A password that it lacks is `password`, as `PGPASSWORD` gives it to every program of PostgreSQL.
    pub fn parse(text: &str, password: Option<&str>) -> Result<Self, DatabaseError> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut kept, mut schema, mut trusted) = (Vec::new(), DEFAULT_SCHEMA.to_owned(), None);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) => name.clone_into(&mut schema),
                Some(("sslrootcert", path)) => trusted = Some(PathBuf::from(path)),
                Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require"),
                _ => kept.push(parameter),
            }
        }
        let plain = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        // The library names what is wrong, and not the value.
        let mut config: Config = plain.parse().map_err(|error| DatabaseError::Address(words(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(DatabaseError::Address("it has no host".to_owned()));
        }
        if config.get_password().is_none()
            && let Some(password) = password
        {
            config.password(password);
        }
        find_cut_connections(&mut config, &kept);
        if config.get_application_name().is_none() {
            config.application_name("mcp-bash");
        }
        let address = Self { config, schema, trusted };
        if address.is_schema_name() { Ok(address) } else { Err(address.bad_schema()) }
    }

    /// A name that needs no quotes, since it is part of every statement.
    fn is_schema_name(&self) -> bool {
        let name = self.schema.as_bytes();
        let is_letter = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
        name.len() <= LONGEST_NAME
            && name.first().is_some_and(is_letter)
            && name.iter().all(|byte| is_letter(byte) || byte.is_ascii_digit())
            && !self.schema.starts_with("pg_")
    }

    fn bad_schema(&self) -> DatabaseError {
        DatabaseError::Schema { place: self.to_string(), name: self.schema.clone() }
    }
}

/// Lets the system notice within half a minute that the network has cut a connection off without a word, unless the address
/// says otherwise.
fn find_cut_connections(config: &mut Config, parameters: &[&str]) {
    let is_free =
        |name: &str| !parameters.iter().any(|known| known.split('=').next().is_some_and(|it| it == name));
    if is_free("keepalives_idle") {
        config.keepalives_idle(Duration::from_secs(10));
    }
    if is_free("keepalives_interval") {
        config.keepalives_interval(Duration::from_secs(5));
    }
    if is_free("keepalives_retries") {
        config.keepalives_retries(3);
    }
    if is_free("tcp_user_timeout") {
        config.tcp_user_timeout(Duration::from_secs(10));
    }
}

/// An error of the library with its cause: by itself it says only where it happened.
pub(crate) fn words(error: &tokio_postgres::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let said = next.to_string();
        if !words.contains(&said) {
            words = format!("{words}: {said}");
        }
        cause = next.source();
    }
    words
}

impl Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PostgreSQL at ")?;
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let port = self
                .config
                .get_ports()
                .get(index)
                .or(self.config.get_ports().first())
                .copied()
                .unwrap_or(5432);
            match host {
                Host::Tcp(name) => write!(formatter, "{comma}{name}:{port}")?,
                Host::Unix(path) => write!(formatter, "{comma}{}:{port}", path.display())?,
            }
        }
        write!(formatter, "/{}", self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::SslMode;

    fn parse(text: &str) -> Result<Address, DatabaseError> {
        Address::parse(text, None)
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address =
            parse("postgres://me:hunter22@db.example:6432/team?schema=ops_1&sslmode=verify-full").unwrap();
        assert_eq!(address.to_string(), "PostgreSQL at db.example:6432/team");
        assert_eq!((&*address.schema, address.config.get_ssl_mode()), ("ops_1", SslMode::Require));
        let socket = parse("postgresql:///team?host=/run/postgresql&user=me").unwrap();
        assert_eq!(
            (socket.to_string(), &*socket.schema),
            ("PostgreSQL at /run/postgresql:5432/team".to_owned(), "mcp_bash")
        );
    }

    #[test]
    fn a_password_of_the_environment_is_used_where_the_address_has_none() {
        let password =
            |text| Address::parse(text, Some("pg")).unwrap().config.get_password().map(<[u8]>::to_vec);
        assert_eq!(password("postgres://me@h/d"), Some(b"pg".to_vec()));
        assert_eq!(password("postgres://me:own@h/d"), Some(b"own".to_vec()));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for text in [
            "postgres://",
            "postgres://me:hunter22@h:port/d",
            "postgres://me:hunter22@h/d?unheard=1",
            "postgres://me:hunter22@h/d?sslmode=maybe",
            "postgres://me:hunter22@h/d?schema=a;drop",
            "postgres://me:hunter22@h/d?schema=pg_temp",
            "postgres://me:hunter22@h/d?schema=",
            "postgres://me:hunter22@h/d?schema=Ops",
            "postgres:///d",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter22"), "{text}: {error}");
        }
    }
}
