//! Roles file: the rights of callers by role, read again when the file changes.

use crate::http::secrets::guarded_file::{Changes, GuardedFileError, Report, read_trusted};
use mcp_bash_roles::{Granted, Roles, RolesError, Subject};
use mcp_bash_server::{Identity, KnownBy, Rights};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug, thiserror::Error)]
pub enum RolesFileError {
    #[error(transparent)]
    File(#[from] GuardedFileError),
    #[error("`{}` is not UTF-8 text", .0.display())]
    NoText(PathBuf),
    #[error("`{}`: {error}", path.display())]
    Content { path: PathBuf, error: RolesError },
}

pub struct RolesFile {
    path: PathBuf,
    current: Mutex<Current>,
    report: Report,
}

struct Current {
    /// `None` while the file cannot be read: then no caller has any rights.
    roles: Option<Arc<Roles>>,
    changes: Changes,
}

impl RolesFile {
    /// `report` receives later problems with the file.
    pub(crate) fn open(path: &Path, report: Report) -> Result<Self, RolesFileError> {
        let changes = Changes::of(&[path]);
        let roles = Some(Arc::new(Self::read(path)?));
        Ok(Self { path: path.to_owned(), current: Mutex::new(Current { roles, changes }), report })
    }

    /// Reads the roles from a file that only trusted users can write.
    pub fn read(path: &Path) -> Result<Roles, RolesFileError> {
        let text = String::from_utf8(read_trusted(path)?);
        let text = text.map_err(|_| RolesFileError::NoText(path.to_owned()))?;
        Roles::parse(&text).map_err(|error| RolesFileError::Content { path: path.to_owned(), error })
    }

    /// What its roles grant to a caller now.
    pub(crate) fn granted(&self, identity: &Identity) -> Option<Arc<Granted>> {
        let roles = self.roles(Instant::now())?;
        Some(roles.of(&Subject {
            name: &identity.name,
            token: (identity.known_by == KnownBy::Token).then_some(&*identity.name),
            certificate: certificate_name(identity),
            groups: &identity.groups,
            scopes: &identity.scopes,
        }))
    }

    fn roles(&self, now: Instant) -> Option<Arc<Roles>> {
        let mut current = self.current.lock();
        if current.changes.detected(now) {
            let read = Self::read(&self.path);
            if let Err(error) = &read {
                (self.report)(format!("no caller may do anything any more: {error}"));
                if matches!(error, RolesFileError::File(file) if file.is_shortage()) {
                    current.changes.invalidate();
                }
            }
            current.roles = read.ok().map(Arc::new);
        }
        current.roles.clone()
    }
}

/// The name in the certificate of a caller identified by one. The caller's name is prefixed with its source.
fn certificate_name(identity: &Identity) -> Option<&str> {
    let of_certificate = Some(identity).filter(|identity| identity.known_by == KnownBy::Certificate)?;
    of_certificate.name.split_once(' ').map(|(_, name)| name)
}

/// The rights of a caller: those of its roles, restricted by its credential. A caller without roles has none.
pub(crate) fn rights(granted: Option<&Granted>, identity: &Identity) -> Arc<Rights> {
    match granted {
        Some(granted) => Arc::new(Rights::of_roles(granted, identity.rights.as_deref())),
        None => Arc::new(Rights::nothing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    const FILE: &str = "roles:\n  reader:\n    readOnly: true\n    given: {tokens: [alice], groups: [ops]}\n";

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_that_others_can_write_or_that_is_wrong_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roles.yaml");
        write(&path, FILE, 0o644);
        assert!(RolesFile::read(&path).is_ok());
        for mode in [0o664, 0o646] {
            write(&path, FILE, mode);
            let refused = RolesFile::read(&path).unwrap_err().to_string();
            assert!(refused.contains("can be written by others"), "{refused}");
        }
        write(&path, "roles: {}", 0o600);
        assert!(RolesFile::read(&path).unwrap_err().to_string().contains("there are no roles"));
    }

    #[test]
    fn a_file_that_breaks_later_grants_nothing_until_it_is_fixed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roles.yaml");
        write(&path, FILE, 0o600);
        let reported: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&reported);
        let file = RolesFile::open(&path, Box::new(move |words| log.lock().push(words))).unwrap();
        let start = Instant::now();
        let after = |seconds| file.roles(start + Duration::from_secs(seconds)).is_some();
        assert!(after(0));
        write(&path, "roles: [", 0o600);
        assert!(!after(2));
        assert!(reported.lock()[0].contains("no caller may do anything any more"));
        write(&path, FILE, 0o600);
        assert!(after(4));
    }
}
