//! Content sniffing: whether bytes are text, and of which type.
//!
//! The content decides first. The name decides only if the content leaves open what kind of text or bytes it is.

use serde_json::value::RawValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sniffed {
    pub mime_type: &'static str,
    /// Whether it can be sent as text, exactly as it is.
    pub is_text: bool,
}

/// How much of a text is searched for its type.
const LOOKED_THROUGH: usize = 4096;

#[rustfmt::skip]
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"), (0, b"\xff\xd8\xff", "image/jpeg"), (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"), (8, b"WEBP", "image/webp"), (8, b"WAVE", "audio/wav"), (8, b"AVI ", "video/x-msvideo"),
    (0, b"BM", "image/bmp"), (0, b"II*\0", "image/tiff"), (0, b"MM\0*", "image/tiff"), (0, b"\0\0\x01\0", "image/x-icon"),
    (4, b"ftypavif", "image/avif"), (4, b"ftypheic", "image/heic"), (4, b"ftypM4A", "audio/mp4"), (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"), (0, b"ID3", "audio/mpeg"), (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"), (0, b"\xff\xf2", "audio/mpeg"), (0, b"OggS", "audio/ogg"), (0, b"fLaC", "audio/flac"),
    (0, b"%PDF-", "application/pdf"), (0, b"PK\x03\x04", "application/zip"), (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"), (0, b"BZh", "application/x-bzip2"), (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"), (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (257, b"ustar", "application/x-tar"), (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\x7fELF", "application/x-executable"), (0, b"\0asm", "application/wasm"), (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
];

#[rustfmt::skip]
const TEXTS: &[(&str, &str)] = &[
    ("md", "text/markdown"), ("markdown", "text/markdown"), ("json", "application/json"), ("html", "text/html"),
    ("htm", "text/html"), ("csv", "text/csv"), ("tsv", "text/tab-separated-values"), ("xml", "application/xml"),
    ("svg", "image/svg+xml"), ("yaml", "application/yaml"), ("yml", "application/yaml"), ("toml", "application/toml"),
    ("css", "text/css"), ("js", "text/javascript"), ("mjs", "text/javascript"), ("sh", "application/x-sh"),
    ("bash", "application/x-sh"), ("jsonl", "application/jsonl"), ("ics", "text/calendar"),
];

#[rustfmt::skip]
const BYTES: &[(&str, &str)] = &[
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("epub", "application/epub+zip"), ("jar", "application/java-archive"), ("mp3", "audio/mpeg"),
    ("tar", "application/x-tar"), ("ttf", "font/ttf"), ("otf", "font/otf"), ("ico", "image/x-icon"),
];

/// The type of these bytes. `name` is the name of the file or the path of the URI they came from, if there is one.
pub fn sniff(bytes: &[u8], name: Option<&str>) -> Sniffed {
    let extension = name.and_then(|name| name.rsplit(['/', '\\']).next()?.rsplit_once('.'));
    let extension = extension.map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    let named = |table: &[(&str, &'static str)]| {
        table.iter().find(|(known, _)| *known == extension).map(|&(_, mime_type)| mime_type)
    };
    if let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) {
        let mime_type = text_signature(text).or_else(|| named(TEXTS)).unwrap_or("text/plain");
        // A document that begins like one of these is not meant to be read as text, even if it could be.
        return Sniffed { mime_type, is_text: mime_type != "application/pdf" };
    }
    let mime_type = match signature(bytes) {
        // Many kinds of documents are archives inside.
        Some("application/zip") => named(BYTES).unwrap_or("application/zip"),
        Some(mime_type) => mime_type,
        None => named(BYTES).unwrap_or("application/octet-stream"),
    };
    Sniffed { mime_type, is_text: false }
}

fn signature(bytes: &[u8]) -> Option<&'static str> {
    let stands_at = |at: usize, sign: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(sign));
    SIGNATURES.iter().find(|(at, sign, _)| stands_at(*at, sign)).map(|&(_, _, mime_type)| mime_type)
}

fn text_signature(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let end =
        text.char_indices().map(|(at, _)| at).take_while(|&at| at <= LOOKED_THROUGH).last().unwrap_or(0);
    let head = text[..end].to_ascii_lowercase();
    let begins = |sign: &str| text.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign));
    if text.starts_with("%PDF-") {
        Some("application/pdf")
    } else if begins("<!doctype html") || begins("<html") {
        Some("text/html")
    } else if begins("<svg") || begins("<?xml") && head.contains("<svg") {
        Some("image/svg+xml")
    } else if begins("<?xml") {
        Some("application/xml")
    } else if text.starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(text).is_ok() {
        Some("application/json")
    } else if text.starts_with("#!") && text.lines().next().is_some_and(|line| line.ends_with("sh")) {
        Some("application/x-sh")
    } else {
        None
    }
}
