//! Reading files beneath roots.

use crate::{ErrorKind, FetchError, Roots};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const LIMIT: u64 = 1000;

/// A folder with files in it, under the name the kernel knows it by.
fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (name, content) in files {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), content).unwrap();
    }
    (folder, path)
}

#[test]
fn a_file_by_its_uri() {
    let (_keep, root) = folder(&[("a/my file.txt", "hello")]);
    let roots = Roots::new([root.clone()]);
    let uri = format!("file://{}/a/my%20file.txt", root.display());
    let content = roots.read_uri(&uri, Path::new("/"), LIMIT).unwrap();
    assert_eq!(content.bytes, b"hello");
    let age = SystemTime::now().duration_since(content.modified.unwrap()).unwrap_or_default();
    assert!(age < Duration::from_secs(600), "{age:?}");
    assert_eq!(roots.read_uri("file://./a/my%20file.txt", &root, LIMIT).unwrap().bytes, b"hello");
}

#[test]
fn without_roots_nothing_is_read() {
    let error = Roots::default().read(Path::new("/etc/passwd"), LIMIT).unwrap_err();
    assert!(matches!(error, FetchError::NoRoots));
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn roots_that_are_missing_are_passed_over() {
    let (_keep, root) = folder(&[("a", "hello")]);
    let late = root.join("late");
    let roots = Roots::new([PathBuf::from("/nowhere/at/all"), late.clone(), root.clone()]);
    assert_eq!(roots.read(&root.join("a"), LIMIT).unwrap().bytes, b"hello");
    let only_late = Roots::new([late.clone()]);
    assert_eq!(only_late.read(&late.join("b"), LIMIT).unwrap_err().kind(), ErrorKind::Refused);
    fs::create_dir(&late).unwrap();
    fs::write(late.join("b"), "late").unwrap();
    assert_eq!(only_late.read(&late.join("b"), LIMIT).unwrap().bytes, b"late");
}

#[test]
fn several_roots() {
    let (_keep, one) = folder(&[("a", "1")]);
    let (_keep, two) = folder(&[("a", "2")]);
    let (_keep, three) = folder(&[("a", "3")]);
    let roots = Roots::new([one.clone(), two.clone()]);
    assert_eq!(roots.read(&one.join("a"), LIMIT).unwrap().bytes, b"1");
    assert_eq!(roots.read(&two.join("a"), LIMIT).unwrap().bytes, b"2");
    assert!(matches!(roots.read(&three.join("a"), LIMIT), Err(FetchError::Outside(_))));
}

#[test]
fn a_root_by_another_name() {
    let (_keep, root) = folder(&[("real/a", "hello")]);
    symlink("real", root.join("alias")).unwrap();
    let roots = Roots::new([root.join("alias")]);
    assert_eq!(roots.read(&root.join("alias/a"), LIMIT).unwrap().bytes, b"hello");
    assert_eq!(roots.read(&root.join("real/a"), LIMIT).unwrap().bytes, b"hello");
}

#[test]
fn sizes() {
    let (_keep, root) = folder(&[("fits", &"x".repeat(1000)), ("large", &"x".repeat(1001)), ("empty", "")]);
    let roots = Roots::new([root.clone()]);
    assert_eq!(roots.read(&root.join("fits"), LIMIT).unwrap().bytes.len(), 1000);
    assert_eq!(roots.read(&root.join("empty"), LIMIT).unwrap().bytes, b"");
    let error = roots.read(&root.join("large"), LIMIT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is larger than 1000 bytes; raise `MCPBASH_MAX_RESOURCE_BYTES` if that is expected"
    );
    // A file that does not say how large it is.
    if Path::new("/proc/cpuinfo").exists() {
        let error = Roots::new(["/proc".into()]).read(Path::new("/proc/cpuinfo"), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}

#[test]
fn missing_files() {
    let (_keep, root) = folder(&[("a", "")]);
    let roots = Roots::new([root.clone()]);
    for path in ["b", "a/b", "b/c/d"] {
        let error = roots.read(&root.join(path), LIMIT).unwrap_err();
        assert_eq!(error.to_string(), format!("`{}` does not exist", root.join(path).display()));
    }
    let error = roots.read(&root, LIMIT).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` is a folder and not a regular file", root.display()));
}
