//! Addresses: resolves the URI references of a schema (RFC 3986). No address is ever opened.

/// The parts of an address before its fragment.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// Splits a reference into the address of a document and the fragment, without `#`.
pub(crate) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Whether a text can be an address: a host in brackets must end.
pub(crate) fn is_valid(address: &str) -> bool {
    let parts = Parts::read(address);
    let host = parts.authority.unwrap_or_default();
    host.matches('[').count() == host.matches(']').count()
}

/// The address without fragment that `reference` means in a document at `base`.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::read(base), Parts::read(split(reference).0));
    if reference.scheme.is_some() {
        return reference.write(&without_dots(reference.path));
    }
    let scheme = base.scheme;
    if reference.authority.is_some() {
        return Parts { scheme, ..reference }.write(&without_dots(reference.path));
    }
    let authority = base.authority;
    if reference.path.is_empty() {
        let query = reference.query.or(base.query);
        return Parts { scheme, authority, path: "", query }.write(base.path);
    }
    let query = reference.query;
    let parts = Parts { scheme, authority, path: "", query };
    if reference.path.starts_with('/') {
        return parts.write(&without_dots(reference.path));
    }
    let folder = match base.path.rfind('/') {
        Some(end) => &base.path[..=end],
        None if authority.is_some() => "/",
        None => "",
    };
    parts.write(&without_dots(&format!("{folder}{}", reference.path)))
}

impl<'a> Parts<'a> {
    fn read(address: &'a str) -> Self {
        let (rest, query) = match address.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (address, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let Some(rest) = rest.strip_prefix("//") else {
            return Self { scheme, authority: None, path: rest, query };
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Self { scheme, authority: Some(authority), path, query }
    }

    /// The address with this path.
    fn write(&self, path: &str) -> String {
        let mut address = String::new();
        if let Some(scheme) = self.scheme {
            address.extend([scheme, ":"]);
        }
        if let Some(authority) = self.authority {
            address.extend(["//", authority]);
        }
        address.push_str(path);
        if let Some(query) = self.query {
            address.extend(["?", query]);
        }
        address
    }
}

fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_inner)
}

/// A path without the segments `.` and `..`.
fn without_dots(path: &str) -> String {
    if !path.split('/').any(|segment| segment == "." || segment == "..") {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (place, segment) in path.split('/').enumerate() {
        match segment {
            "." | ".." => {
                if segment == ".." && kept.len() > usize::from(path.starts_with('/')) {
                    kept.pop();
                }
                if place == last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

/// Decodes a fragment: `%20` is a space. Anything that is no encoding stays.
pub(crate) fn decode(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let bytes = fragment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        let digits = fragment.get(place + 1..place + 3).filter(|_| *byte == b'%');
        if let Some(encoded) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(encoded);
            place += 3;
        } else {
            decoded.push(*byte);
            place += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_in_the_standard() {
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            ("#s", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("urn:x:y#f", "urn:x:y"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), expected, "{reference}");
        }
        assert_eq!(resolve("", "schema.json#/a"), "schema.json");
        assert_eq!(resolve("urn:x:y", "#a"), "urn:x:y");
        assert_eq!(resolve("http://a", "b"), "http://a/b");
    }

    #[test]
    fn strange_addresses_are_no_reason_to_panic() {
        assert!(!is_valid("http://["));
        assert!(is_valid("http://[::1]/a"));
        assert_eq!(decode("a%20b%zz%c3%a9%"), "a b%zzé%");
        assert_eq!(decode("%é"), "%é");
        assert_eq!(resolve("..", ".."), "");
        assert_eq!(resolve(":", "://"), "://");
    }
}
