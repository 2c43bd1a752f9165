//! URI scheme.

/// The scheme of a URI as it is written, without its colon. A single letter is not a scheme: `C:\notes.txt` is a path.
pub fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut bytes = scheme.bytes();
    let begins_with_letter = bytes.next().is_some_and(|first| first.is_ascii_alphabetic());
    let is_scheme = begins_with_letter
        && scheme.len() > 1
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}
