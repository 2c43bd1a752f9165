//! Canonical URIs: one spelling for all URIs that name the same, so that a rule about the text of a URI cannot be evaded by
//! another spelling.

use crate::file_uri::FileUri;
use crate::percent;
use crate::scheme::scheme;

/// The canonical spelling of a URI. The scheme is in lower case, and escapes occur only if they are needed. A `file:` URI has
/// no host and single slashes, and one that is relative (`file://./…`) begins with the folder `base`. A URI of the web has
/// its host in lower case, no usual port, and a path. Text that is no URI stays as it is.
pub fn canonical(uri: &str, base: &[u8]) -> String {
    if let Ok(file) = FileUri::parse(uri) {
        let base = if file.is_relative() { base } else { &[] };
        let path = [base, b"/", file.unix()].concat();
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        return FileUri::of_unix(&names.flat_map(|name| [b"/", name].concat()).collect::<Vec<u8>>());
    }
    let Some(scheme) = scheme(uri) else { return uri.to_owned() };
    let Some(rest) = percent::normalise(&uri[scheme.len()..]) else { return uri.to_owned() };
    let scheme = scheme.to_ascii_lowercase();
    let usual_port = match scheme.as_str() {
        "https" | "git+https" => ":443",
        "http" => ":80",
        _ => return scheme + &rest,
    };
    let Some(rest) = rest.strip_prefix("://") else { return scheme + &rest };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = authority.to_ascii_lowercase();
    let authority = authority.strip_suffix(usual_port).unwrap_or(&authority);
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{authority}{slash}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_uri_become_one() {
        for (canonical_one, others) in [
            (
                "file:///srv/private/a%20b",
                &[
                    "file:///srv/private/a b",
                    "FILE:/srv/%70rivate/a%20b",
                    "file://localhost//srv///private/a%20b",
                    "file:////srv/private/a%20b",
                ][..],
            ),
            (
                "file:///project/notes/x",
                &["file://./notes/x", "file://.//n%6ftes/x", "file:///project/notes//x"],
            ),
            ("logs://admin/x%2Fy", &["LOGS://%61dmin/x%2fy", "logs://admin/x%2Fy"]),
            ("https://a.example/x?y", &["HTTPS://A.Example:443/x?y", "https://a.example/%78?y"]),
            ("https://a.example/", &["https://a.example", "https://a.example:443"]),
            ("git+https://a.example/r#HEAD:f", &["git+https://A.example:443/r#HEAD:f"]),
        ] {
            for other in others {
                assert_eq!(canonical(other, b"/project"), canonical_one, "{other}");
            }
            assert_eq!(canonical(canonical_one, b"/project"), canonical_one);
        }
    }

    #[test]
    fn what_names_different_things_stays_apart() {
        for uri in [
            "file:///a?b",
            "file:///a%2Fb",
            "logs://Admin/X",
            "notes:a%zz",
            "C:\\a",
            "",
            "https:/x",
            "http://a:443/",
        ] {
            assert_eq!(canonical(uri, b"/project"), uri);
        }
    }
}
