//! Sinks of an audit log: a file, syslog, the journal, standard error, or a store that servers share.

use crate::chain::Head;
use crate::error::AuditError;
use crate::file::AuditFile;
use crate::file::rotation::Rotation;
use crate::outbox::Outbox;
use crate::sockets::{Datagrams, Protocol};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    File(PathBuf),
    /// With the socket of the receiver, if it is not the usual one.
    Syslog(Option<PathBuf>),
    Journal(Option<PathBuf>),
    StandardError,
    /// The store of several servers.
    Store,
}

impl Destination {
    /// The destination that a setting names: a path, `syslog`, `journal`, `stderr` or `store`. A socket may follow, as in
    /// `syslog:/run/log`.
    pub fn parse(text: &str) -> Self {
        let (word, socket) = match text.split_once(':') {
            Some((word, socket)) if socket.starts_with('/') => (word, Some(PathBuf::from(socket))),
            _ => (text, None),
        };
        match word {
            "syslog" => Self::Syslog(socket),
            "journal" => Self::Journal(socket),
            "stderr" if socket.is_none() => Self::StandardError,
            "store" if socket.is_none() => Self::Store,
            _ => Self::File(text.into()),
        }
    }

    /// The word that a setting names it by.
    pub fn word(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Syslog(_) => "syslog",
            Self::Journal(_) => "journal",
            Self::StandardError => "stderr",
            Self::Store => "store",
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether answers can wait until their lines are durable.
    pub fn can_be_durable(&self) -> bool {
        matches!(self, Self::File(_) | Self::Store)
    }
}

pub(crate) enum Sink {
    File(AuditFile),
    Datagrams(Datagrams),
    StandardError(Head),
    /// `None` if there is no store.
    Store(Option<Arc<Outbox>>),
}

/// Where a line is that can be made durable.
#[derive(Clone)]
pub(crate) enum Written {
    File(Arc<File>),
    /// In the outbox, with this number.
    Queued(Arc<Outbox>, u64),
}

impl Sink {
    pub(crate) fn new(destination: &Destination, rotation: Rotation, outbox: Option<Arc<Outbox>>) -> Self {
        let datagrams = |protocol: Protocol, socket: &Option<PathBuf>| {
            let socket = socket.clone().unwrap_or_else(|| protocol.usual_socket());
            Self::Datagrams(Datagrams::new(protocol, socket))
        };
        match destination {
            Destination::File(path) => Self::File(AuditFile::new(path.clone(), rotation)),
            Destination::Syslog(socket) => datagrams(Protocol::Syslog, socket),
            Destination::Journal(socket) => datagrams(Protocol::Journal, socket),
            Destination::StandardError => Self::StandardError(Head::START),
            Destination::Store => Self::Store(outbox),
        }
    }

    /// Opens it, so that a mistake is found before there is anything to write.
    pub(crate) fn prepare(&mut self) -> Result<(), AuditError> {
        match self {
            Self::File(file) => file.prepare(),
            Self::Datagrams(datagrams) => datagrams.prepare(),
            Self::StandardError(_) => Ok(()),
            Self::Store(outbox) => outbox.as_ref().ok_or(AuditError::NoStore)?.prepare(),
        }
    }

    /// Appends a line, and returns where it is if it can be made durable there.
    pub(crate) fn append(&mut self, members: &str) -> Result<Option<Written>, AuditError> {
        match self {
            Self::File(file) => file.append(members).map(|file| Some(Written::File(file))),
            Self::Datagrams(datagrams) => datagrams.append(members).map(|()| None),
            Self::StandardError(head) => {
                let (line, next) = head.next(members);
                let written = io::stderr().lock().write_all(line.as_bytes());
                written.map_err(|source| AuditError::StandardError { source })?;
                *head = next;
                Ok(None)
            }
            Self::Store(outbox) => {
                let outbox = outbox.as_ref().ok_or(AuditError::NoStore)?;
                let seq = outbox.append(members)?;
                Ok(Some(Written::Queued(Arc::clone(outbox), seq)))
            }
        }
    }

    pub(crate) fn reopen(&mut self) {
        if let Self::File(file) = self {
            file.reopen();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_destination() {
        let parse = Destination::parse;
        assert_eq!(parse("syslog"), Destination::Syslog(None));
        assert_eq!(parse("journal:/run/x"), Destination::Journal(Some("/run/x".into())));
        assert_eq!(parse("stderr"), Destination::StandardError);
        assert_eq!(parse("store"), Destination::Store);
        for path in ["/var/log/audit.jsonl", "logs/syslog", "a:b", "stderr:/x", "store:/x", "./store"] {
            assert_eq!(parse(path), Destination::File(path.into()), "{path}");
        }
    }
}
