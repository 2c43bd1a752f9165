//! Hostile paths: they try to lead out of a root. Each is tried through the kernel's own lookup and through ours.

use crate::file::{open_beneath, walk_beneath};
use crate::{ErrorKind, FetchError, Roots};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SECRET: &[u8] = b"secret";

type Open = fn(BorrowedFd<'_>, &Path) -> Result<OwnedFd, Errno>;

const WAYS: [(&str, Open); 2] =
    [("kernel", |folder, path| open_beneath(folder, path)), ("walk", walk_beneath)];

/// A root with a file in it, and a secret beside it.
struct Scene {
    _keep: TempDir,
    outside: PathBuf,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let keep = TempDir::new().unwrap();
        let outside = keep.path().canonicalize().unwrap();
        let root = outside.join("root");
        fs::create_dir_all(root.join("inner/deep")).unwrap();
        fs::write(root.join("file"), "fine").unwrap();
        fs::write(root.join("inner/deep/file"), "deep").unwrap();
        fs::write(outside.join("secret"), SECRET).unwrap();
        fs::create_dir(outside.join("other")).unwrap();
        fs::write(outside.join("other/file"), SECRET).unwrap();
        Self { _keep: keep, outside, root }
    }

    fn read(&self, open: Open, path: &Path) -> Result<Vec<u8>, Errno> {
        let root = File::open(&self.root).unwrap();
        let mut bytes = Vec::new();
        File::from(open(root.as_fd(), path)?).read_to_end(&mut bytes).map_err(|_| Errno::ISDIR)?;
        Ok(bytes)
    }
}

#[test]
fn dots_do_not_lead_out() {
    let scene = Scene::new();
    for (way, open) in WAYS {
        for path in [
            "../secret",
            "../root/../secret",
            "inner/../../secret",
            "inner/deep/../../../secret",
            "./../secret",
            "..",
            "../..",
            "inner/../../root/file",
            "../root/file",
            "file/../../secret",
            "..//secret",
            "inner/./deep/.././../../secret",
            "../../../../../../../../../../etc/passwd",
            "/etc/passwd",
            "//etc/passwd",
        ] {
            let refused = scene.read(open, Path::new(path)).unwrap_err();
            assert!(matches!(refused, Errno::XDEV | Errno::NOTDIR), "{way} of {path}: {refused}");
        }
        // A path that stays inside is fine, even if it turns back.
        for path in ["inner/../file", "inner/deep/../../file", "./file", "inner/deep/./../deep/../../file"] {
            assert_eq!(scene.read(open, Path::new(path)).as_deref(), Ok(&b"fine"[..]), "{way} of {path}");
        }
    }
}

#[test]
fn traversal_in_every_encoding() {
    let scene = Scene::new();
    let roots = Roots::new([scene.root.clone()]);
    let mut tried = 0;
    for dot_dot in [
        "..",
        "%2e%2e",
        "%2E%2E",
        ".%2e",
        "%2e.",
        "%252e%252e",
        "%c0%ae%c0%ae",
        "%uff0e%uff0e",
        "..%00",
        "．．",
        "....",
        "%2e%2e%2f..",
        "..;",
        "%5c..",
        "..\\",
    ] {
        for slash in ["/", "//", "%2f", "%2F", "%252f", "\\", "%5c", "%c0%af", "/./", "%2f%2f", "∕", "／"]
        {
            for (before, target) in
                [("", "secret"), ("inner/", "secret"), ("", "other/file"), ("", "root/../secret")]
            {
                let uri = format!("file://{}/{before}{dot_dot}{slash}{target}", scene.root.display());
                let base = format!("file://./{before}{dot_dot}{slash}{target}");
                for uri in [uri, base] {
                    let read = roots.read_uri(&uri, &scene.root, 1000);
                    assert!(read.is_err(), "{uri} led to {:?}", read.map(|content| content.bytes));
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(tried, 15 * 12 * 4 * 2);
}

#[test]
fn links_are_followed_only_inside() {
    let scene = Scene::new();
    let root = &scene.root;
    symlink("../secret", root.join("up")).unwrap();
    symlink(scene.outside.join("secret"), root.join("absolute")).unwrap();
    symlink("../other", root.join("folder")).unwrap();
    symlink("inner/../../secret", root.join("winding")).unwrap();
    symlink("up", root.join("twice")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/proc/self/root/etc/passwd", root.join("proc")).unwrap();
    symlink("/", root.join("top")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("file", root.join("good")).unwrap();
    symlink("../../good", root.join("inner/deep/good")).unwrap();
    symlink("inner", root.join("alias")).unwrap();
    symlink(root.join("file"), root.join("absolute-inside")).unwrap();
    for (way, open) in WAYS {
        for (path, expected) in [
            ("up", Errno::XDEV),
            ("absolute", Errno::XDEV),
            ("folder/file", Errno::XDEV),
            ("winding", Errno::XDEV),
            ("twice", Errno::XDEV),
            ("loop", Errno::LOOP),
            ("proc", Errno::XDEV),
            ("top/etc/passwd", Errno::XDEV),
            ("top", Errno::XDEV),
            ("dangling", Errno::NOENT),
            ("alias/../../secret", Errno::XDEV),
            ("alias/deep/../../../secret", Errno::XDEV),
            ("absolute-inside", Errno::XDEV),
            ("good/x", Errno::NOTDIR),
        ] {
            assert_eq!(scene.read(open, Path::new(path)), Err(expected), "{way} of {path}");
        }
        for (path, content) in [
            ("good", "fine"),
            ("inner/deep/good", "fine"),
            ("alias/deep/file", "deep"),
            ("alias/deep/../../file", "fine"),
        ] {
            assert_eq!(
                scene.read(open, Path::new(path)).as_deref(),
                Ok(content.as_bytes()),
                "{way} of {path}"
            );
        }
    }
}

#[test]
fn links_of_the_kernel_are_not_followed() {
    let root = Path::new("/proc/self");
    if !root.exists() {
        return;
    }
    let file = File::open("/etc/passwd").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    let folder = File::open(root).unwrap();
    for (way, open) in WAYS {
        for path in [
            "root/etc/passwd",
            "cwd/Cargo.toml",
            "exe",
            &format!("fd/{number}"),
            "root",
            "task/../root/etc/passwd",
        ] {
            let refused = open(folder.as_fd(), Path::new(path)).unwrap_err();
            assert!(matches!(refused, Errno::LOOP | Errno::XDEV), "{way} of {path}: {refused}");
        }
        assert!(open(folder.as_fd(), Path::new("status")).is_ok());
    }
}

/// Signals the end of the test, even if it fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Swaps two names again and again while they are read. Whatever the moment, no secret is seen.
fn race(name: &str, first: &str, second: &str, read: &str) {
    let scene = Scene::new();
    let root = scene.root.clone();
    fs::create_dir_all(root.join("swap")).unwrap();
    fs::write(root.join("swap/file"), "fine").unwrap();
    symlink("../other", root.join("link")).unwrap();
    fs::copy(root.join("file"), root.join("plain")).unwrap();
    symlink("../secret", root.join("escape")).unwrap();
    for (way, open) in WAYS {
        let is_over = AtomicBool::new(false);
        let (mut good, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (first, second) = (root.join(first), root.join(second));
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &first, CWD, &second, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let _over = Over(&is_over);
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(500) || good == 0 || refused == 0 {
                match scene.read(open, Path::new(read)) {
                    Ok(bytes) => {
                        assert_ne!(bytes, SECRET, "{name}: got out by {way}");
                        good += 1;
                    }
                    Err(_) => refused += 1,
                }
                assert!(
                    start.elapsed() < Duration::from_secs(60),
                    "{name}, {way}: {good} good, {refused} refused"
                );
            }
        });
    }
}

#[test]
fn a_folder_that_becomes_a_link() {
    race("folder", "swap", "link", "swap/file");
}

#[test]
fn a_file_that_becomes_a_link() {
    race("file", "plain", "escape", "plain");
}

#[test]
fn a_folder_that_is_moved_out_while_dots_go_through_it() {
    let scene = Scene::new();
    let (inside, outside) = (scene.root.join("inner/deep"), scene.outside.join("other"));
    for (way, open) in WAYS {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &inside, CWD, &outside, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let _over = Over(&is_over);
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(300) {
                // Seen from `other`, which is `deep` now and then, this is the secret.
                if let Ok(bytes) = scene.read(open, Path::new("inner/deep/../secret")) {
                    assert_ne!(bytes, SECRET, "got out by {way}");
                }
            }
        });
    }
}

#[test]
fn special_files_are_refused_without_waiting() {
    let scene = Scene::new();
    let roots = Roots::new([scene.root.clone()]);
    assert!(Command::new("mkfifo").arg(scene.root.join("pipe")).status().unwrap().success());
    let _listener = UnixListener::bind(scene.root.join("socket")).unwrap();
    symlink("pipe", scene.root.join("to-pipe")).unwrap();
    for (name, what) in [
        ("pipe", "a named pipe"),
        ("to-pipe", "a named pipe"),
        ("socket", "a socket or a device"),
        ("inner", "a folder"),
    ] {
        // The pipe has no writer: waiting for it would last for ever.
        let error = roots.read(&scene.root.join(name), 1000).unwrap_err();
        assert!(
            matches!(error, FetchError::NotAFile { what: found, .. } if found == what),
            "{name}: {error}"
        );
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
}

#[test]
fn devices_are_refused() {
    let roots = Roots::new([PathBuf::from("/dev")]);
    for device in
        ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"]
    {
        if Path::new(device).exists() {
            let error = roots.read(Path::new(device), 1000).unwrap_err();
            assert!(
                matches!(error, FetchError::NotAFile { .. } | FetchError::Unreadable { .. }),
                "{device}: {error}"
            );
        }
    }
    for link in ["/dev/stdin", "/dev/fd/0"] {
        if Path::new(link).exists() {
            assert!(matches!(roots.read(Path::new(link), 1000), Err(FetchError::Outside(_))), "{link}");
        }
    }
}

#[test]
fn names_that_are_too_long_or_too_strange() {
    let scene = Scene::new();
    let roots = Roots::new([scene.root.clone()]);
    // Other systems accept only text as a name.
    if cfg!(target_os = "linux") {
        let odd = OsStr::from_bytes(b"\xff\xfe\n");
        fs::write(scene.root.join(odd), "odd").unwrap();
        assert_eq!(roots.read(&scene.root.join(odd), 1000).unwrap().bytes, b"odd");
        let uri = format!("file://{}/%FF%FE%0A", scene.root.display());
        assert_eq!(roots.read_uri(&uri, &scene.root, 1000).unwrap().bytes, b"odd");
    }

    for name in ["a".repeat(300), "a/".repeat(5000), "../".repeat(2000), "file\0".to_owned(), "\0".to_owned()]
    {
        let error = roots.read(&scene.root.join(&name), 1000).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Missing | ErrorKind::Refused), "{error}");
    }
    for uri in [format!("file://{}/file%00", scene.root.display()), "file://./file%00.txt".to_owned()] {
        assert_eq!(roots.read_uri(&uri, &scene.root, 1000).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn roots_whose_names_are_alike_are_not_the_same() {
    let scene = Scene::new();
    fs::create_dir(scene.outside.join("root-too")).unwrap();
    fs::write(scene.outside.join("root-too/file"), SECRET).unwrap();
    fs::create_dir(scene.outside.join("r*")).unwrap();
    let roots = Roots::new([scene.root.clone(), scene.outside.join("r*"), scene.outside.join("[r]oot-too")]);
    for path in
        [scene.outside.join("root-too/file"), PathBuf::from(format!("{}-too/file", scene.root.display()))]
    {
        assert!(matches!(roots.read(&path, 1000), Err(FetchError::Outside(_))));
    }
    assert!(matches!(roots.read(Path::new("file"), 1000), Err(FetchError::Outside(_))), "relative to what?");
}
