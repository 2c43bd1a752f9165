//! Unix sockets: files that only their owner may connect to, removed at shutdown.

use super::{BACKLOG, ListenError};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixSocket};

/// The file of a socket that we created. It is removed when this value is dropped, unless it was replaced.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|file| (file.dev(), file.ino()) == self.identity);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn listen(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
    let failed = |error| ListenError::Unix { path: path.to_owned(), error };
    let socket = match bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_stale(path)?;
            bind(path)
        }
        outcome => outcome,
    };
    let socket = socket.map_err(failed)?;
    let file = fs::symlink_metadata(path).map_err(failed)?;
    let file = SocketFile { path: path.to_owned(), identity: (file.dev(), file.ino()) };
    // No client can connect before `listen`, so the permissions from the umask are never in effect.
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    let listener = socket.listen(BACKLOG).map_err(failed)?;
    Ok((listener, file))
}

fn bind(path: &Path) -> io::Result<UnixSocket> {
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    Ok(socket)
}

/// Removes the socket file of a killed server. A socket that a server listens on stays, and so does any other file.
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let failed = |error| ListenError::Unix { path: path.to_owned(), error };
    // Symbolic links are not followed: we would remove the link and not its target.
    if !fs::symlink_metadata(path).map_err(failed)?.file_type().is_socket() {
        return Err(ListenError::NoSocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Ok(_) => Err(ListenError::SocketInUse(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(ListenError::SocketInUse(path.to_owned()))
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[tokio::test]
    async fn a_socket_is_its_owners_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.sock");
        let opened = listen(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(matches!(listen(&path), Err(ListenError::SocketInUse(_))));
        let client = UnixStream::connect(&path).unwrap();
        let (stream, _) = opened.0.accept().await.unwrap();
        assert_eq!(stream.peer_cred().unwrap().uid(), rustix::process::getuid().as_raw());
        drop((client, opened));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn the_socket_of_a_killed_server_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let opened = listen(&path).unwrap();
        UnixStream::connect(&path).unwrap();
        // Another process has replaced the socket meanwhile; its file is not ours to remove.
        fs::remove_file(&path).unwrap();
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(opened);
        assert!(path.exists());
        drop(other);
    }

    #[tokio::test]
    async fn a_file_that_is_not_a_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, live] = ["file", "link", "live"].map(|name| folder.path().join(name));
        fs::write(&file, "precious").unwrap();
        drop(std::os::unix::net::UnixListener::bind(&live).unwrap());
        symlink(&live, &link).unwrap();
        for path in [&file, &link] {
            assert!(matches!(listen(path), Err(ListenError::NoSocket(_))), "{path:?}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        assert!(live.exists() && link.is_symlink());
        let missing = listen(&folder.path().join("none/mcp.sock")).unwrap_err();
        assert!(missing.to_string().contains("none/mcp.sock` cannot be listened on"), "{missing}");
        let long = folder.path().join("x".repeat(200));
        assert!(matches!(listen(&long), Err(ListenError::Unix { .. })));
    }
}
