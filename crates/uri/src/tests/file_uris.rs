//! File URIs, on Unix and on Windows.

use crate::{FileUri, FileUriError, scheme};
use proptest::prelude::*;

fn unix(uri: &str) -> Result<String, FileUriError> {
    FileUri::parse(uri).map(|uri| String::from_utf8_lossy(uri.unix()).into_owned())
}

fn windows(uri: &str) -> Result<String, FileUriError> {
    FileUri::parse(uri)?.windows()
}

#[test]
fn paths_of_unix() {
    for (uri, path) in [
        ("file:///a/b.txt", "/a/b.txt"),
        ("file://localhost/a", "/a"),
        ("FILE://LOCALHOST/a", "/a"),
        ("file:/a/b", "/a/b"),
        ("file:///a%20b/%C3%A9", "/a b/é"),
        ("file:///a b/é", "/a b/é"),
        ("file:///a%25b", "/a%b"),
        ("file:///a%252Fb", "/a%2Fb"),
        ("file:///a/../b", "/a/../b"),
        ("file:///a/%2e%2e/b", "/a/../b"),
        ("file:///C:/a", "/C:/a"),
        ("file:///a\\b", "/a\\b"),
        ("file:////a", "//a"),
    ] {
        assert_eq!(unix(uri).as_deref(), Ok(path), "{uri}");
        assert!(!FileUri::parse(uri).unwrap().is_relative());
    }
}

#[test]
fn a_path_that_is_relative_to_the_project() {
    let uri = FileUri::parse("file://./resources/greeting.txt").unwrap();
    assert!(uri.is_relative());
    assert_eq!(uri.unix(), b"resources/greeting.txt");
    assert_eq!(uri.windows().as_deref(), Ok("resources\\greeting.txt"));
}

#[test]
fn names_need_not_be_text() {
    assert_eq!(FileUri::parse("file:///%FF%FE").unwrap().unix(), b"/\xFF\xFE");
    assert_eq!(windows("file:///C:/%FF"), Err(FileUriError::NotWindows));
}

#[test]
fn paths_of_windows() {
    for uri in ["file:///C:/a/b", "file://C:/a/b", "file:///C:\\a\\b", "file://C:\\a\\b", "file:/C:/a/b"] {
        assert_eq!(windows(uri).as_deref(), Ok("C:\\a\\b"), "{uri}");
    }
    assert_eq!(windows("file:///a/b"), Err(FileUriError::NotWindows));
    assert_eq!(windows("file:///C:/a%5Cb"), Err(FileUriError::EscapedSeparator));
    assert_eq!(FileUri::of_windows("C:\\a b\\c").as_deref(), Ok("file:///C:/a%20b/c"));
    assert_eq!(FileUri::of_windows("\\\\server\\share"), Err(FileUriError::NotWindows));
}

#[test]
fn refusals() {
    for (uri, error) in [
        ("http://a/b", FileUriError::NotFile("http://a/b".into())),
        ("file", FileUriError::NotFile("file".into())),
        ("", FileUriError::NotFile(String::new())),
        ("filé:///a", FileUriError::NotFile("filé:///a".into())),
        ("file://example.com/a", FileUriError::OtherHost("example.com".into())),
        ("file://user@localhost/a", FileUriError::OtherHost("user@localhost".into())),
        ("file://localhost:80/a", FileUriError::OtherHost("localhost:80".into())),
        ("file://../a", FileUriError::OtherHost("..".into())),
        ("file://", FileUriError::NoPath),
        ("file:///", FileUriError::NoPath),
        ("file:///a?b", FileUriError::NotPath('?')),
        ("file:///a#b", FileUriError::NotPath('#')),
        ("file:///a%00b", FileUriError::Nul),
        ("file:///a\0b", FileUriError::Nul),
        ("file:///a%2Fb", FileUriError::EscapedSeparator),
        ("file:///a%2fb", FileUriError::EscapedSeparator),
    ] {
        assert_eq!(unix(uri), Err(error), "{uri}");
    }
    assert!(unix("file:///a%zz").unwrap_err().to_string().contains("written `%25`"));
    assert!(unix("file:///a%4").is_err());
}

#[test]
fn schemes() {
    for (uri, expected) in [
        ("file:///a", Some("file")),
        ("git+https://a", Some("git+https")),
        ("HTTPS://a", Some("HTTPS")),
        ("C:\\a", None),
        ("a/b:c", None),
        ("1a:b", None),
        (":a", None),
        ("a", None),
    ] {
        assert_eq!(scheme(uri), expected, "{uri}");
    }
}

proptest! {
    #[test]
    fn paths_come_back(names in prop::collection::vec(prop::collection::vec(1..=255u8, 1..9), 1..5)) {
        let path: Vec<u8> = names.iter().flat_map(|name| [&b"/"[..], name].concat()).collect();
        // A file called `C:` is the start of a path of Windows, where a backslash is a separator.
        prop_assume!(!path.contains(&b':') && path.iter().any(|&byte| byte != b'/'));
        let uri = FileUri::of_unix(&path);
        prop_assert!(uri.is_ascii());
        let read = FileUri::parse(&uri).unwrap();
        prop_assert_eq!(read.unix(), &path[..]);
    }
}
