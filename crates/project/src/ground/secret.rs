//! Server secret: known only to the server and to the gateway that lets requests through. No process of the project may find
//! it in its environment.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The variable of our own environment that holds the secret.
const NAME: &str = "MCPBASH_REMOTE_TOKEN";

/// A variable of our own environment, unless its value contains the secret.
pub fn variable_without_secret(name: &str) -> Option<OsString> {
    environment_without_secret().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// Our own environment without the variable that holds the secret, and without any other whose value contains it, as when
/// one was made from the other.
pub fn environment_without_secret() -> impl Iterator<Item = (OsString, OsString)> {
    let secret = std::env::var_os(NAME).filter(|secret| !secret.is_empty());
    let holds_secret = move |value: &OsString| {
        let Some(secret) = &secret else { return false };
        value.as_bytes().windows(secret.len()).any(|part| part == secret.as_bytes())
    };
    std::env::vars_os().filter(move |(name, value)| name != NAME && !holds_secret(value))
}
