//! Names of secrets and of variables.

/// The longest name of a secret, in bytes.
const LONGEST: usize = 64;

/// Whether this can name a secret: letters, digits, `.`, `_` and `-`, beginning with a letter or a digit. Such a name is
/// also the name of a file, and leads out of no folder.
pub fn is_secret_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.len() <= LONGEST
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Whether a shell can have a variable of this name.
pub fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
