//! Audience: the server that a token is for, compared as a URL.

/// Whether two audiences name the same server. URLs are compared with scheme and host in lower case, without the usual port,
/// and one trailing slash aside; anything else, such as the id of an application, to the letter.
pub fn is_same_resource(one: &str, other: &str) -> bool {
    one == other || matches!((normal(one), normal(other)), (Some(one), Some(other)) if one == other)
}

fn normal(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let authority = authority.to_ascii_lowercase();
    let usual_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let authority = authority.strip_suffix(usual_port).unwrap_or(&authority);
    Some(format!("{scheme}://{authority}{}", path.strip_suffix('/').unwrap_or(path)))
}
