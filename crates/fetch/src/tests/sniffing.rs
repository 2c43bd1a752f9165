//! Content sniffing.

use crate::{Sniffed, sniff};

#[rustfmt::skip]
const TEXTS: &[(&str, &str, &str)] = &[
    ("hello", "", "text/plain"), ("", "", "text/plain"), ("hello", "a.txt", "text/plain"), ("# Title", "README.md", "text/markdown"),
    ("a,b\n1,2", "t.CSV", "text/csv"), ("a: 1", "c.yaml", "application/yaml"), ("a: 1", "c.yml", "application/yaml"),
    (r#"{"a": [1]}"#, "", "application/json"), ("[1, 2]\n", "list", "application/json"), ("\u{feff}{}", "", "application/json"),
    ("{not json", "a.json", "application/json"), ("{not json", "", "text/plain"), ("[draft] notes", "n.md", "text/markdown"),
    ("<!DOCTYPE html><p>", "", "text/html"), ("\n <html>", "a.txt", "text/html"), ("<p>", "a.htm", "text/html"),
    ("<?xml version='1.0'?><a/>", "", "application/xml"), ("<?xml version='1.0'?>\n<svg/>", "", "image/svg+xml"),
    ("<svg xmlns='x'/>", "", "image/svg+xml"), ("<a/>", "a.xml", "application/xml"), ("#!/bin/bash\nls", "run", "application/x-sh"),
    ("body {}", "a.css", "text/css"), ("x", "dir.md/file", "text/plain"), ("not a picture", "a.png", "text/plain"),
    ("é", "a.bin", "text/plain"),
];

#[rustfmt::skip]
const BYTES: &[(&[u8], &str, &str)] = &[
    (b"\x89PNG\r\n\x1a\n\0\0", "", "image/png"), (b"\xff\xd8\xff\xe0\0", "a.txt", "image/jpeg"), (b"GIF89a\0\xff", "", "image/gif"),
    (b"RIFF\0\0\0\0WEBPVP8 ", "", "image/webp"), (b"RIFF\0\0\0\0WAVEfmt ", "", "audio/wav"), (b"ID3\x04\0\0", "", "audio/mpeg"),
    (b"\xff\xfb\x90\0", "", "audio/mpeg"), (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "", "application/pdf"), (b"%PDF-1.7\n", "", "application/pdf"),
    (b"PK\x03\x04\x14\0", "", "application/zip"), (b"\x1f\x8b\x08\0", "", "application/gzip"), (b"\0\0\0\x20ftypisom", "", "video/mp4"),
    (b"PK\x03\x04\0", "a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"\x7fELF\x02\0", "tool", "application/x-executable"), (b"\0\x01\x02", "", "application/octet-stream"),
    (b"text\0text", "a.txt", "application/octet-stream"), (b"caf\xe9", "a.txt", "application/octet-stream"),
    (b"\0\0\x01", "font.ttf", "font/ttf"),
];

#[test]
fn texts() {
    for (text, name, mime_type) in TEXTS {
        let name = Some(*name).filter(|name| !name.is_empty());
        assert_eq!(
            sniff(text.as_bytes(), name),
            Sniffed { mime_type, is_text: true },
            "{text:?} in {name:?}"
        );
    }
}

#[test]
fn bytes() {
    for (bytes, name, mime_type) in BYTES {
        let name = Some(*name).filter(|name| !name.is_empty());
        assert_eq!(sniff(bytes, name), Sniffed { mime_type, is_text: false }, "{bytes:?} in {name:?}");
    }
}
