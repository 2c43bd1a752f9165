//! Addresses by habit: `--host`, `--port` and others become the address of `--http`.

use super::{command_in, parts};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The flags, each with a value.
pub(super) const FLAGS: &[&str] = &["--host", "--port", "-p", "--listen", "--bind", "--transport"];

/// The port that a server over HTTP has by default.
const DEFAULT_PORT: &str = "8765";

/// `--host` and `--port`, or `--listen` and `--bind` (and `--transport http`) as the address of `--http`.
pub(super) fn with_address(words: Vec<OsString>) -> Vec<OsString> {
    let is_named = |word: &OsStr| word == "serve" || word == "dev";
    let command = command_in(&words);
    let serves = command.is_none_or(|word| is_named(word) || Path::new(word).is_dir());
    let names_command = command.is_some_and(is_named);
    let is_habit = |word: &OsString| FLAGS.contains(&parts(word).0);
    if !serves || !words.iter().any(is_habit) {
        return words;
    }
    let (mut kept, mut host, mut port, mut transport) = (Vec::new(), None, None, None);
    let mut listen = None;
    let mut left = words.into_iter();
    while let Some(word) = left.next() {
        let (flag, value) = parts(&word);
        let place = match flag {
            "--host" => &mut host,
            "--port" | "-p" => &mut port,
            "--listen" | "--bind" => &mut listen,
            "--transport" => &mut transport,
            _ => {
                kept.push(word);
                continue;
            }
        };
        *place = value.map(OsStr::to_owned).or_else(|| left.next());
    }
    if !names_command {
        kept.insert(1.min(kept.len()), "serve".into());
    }
    let text = |word: Option<OsString>| word.map(|word| word.to_string_lossy().into_owned());
    let (named_host, named_port) = text(listen).map_or((None, None), |address| host_and_port(&address));
    let (host, port) = (text(host).or(named_host), text(port).or(named_port));
    if transport.as_ref().is_some_and(|transport| transport == "stdio") && host.is_none() && port.is_none() {
        return kept;
    }
    let address = match (host, port) {
        (Some(host), port) => {
            let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
            Some(format!("{host}:{}", port.as_deref().unwrap_or(DEFAULT_PORT)))
        }
        (None, port) => port,
    };
    let has_http = kept.iter().any(|word| parts(word).0 == "--http");
    match address {
        Some(address) => kept.push(format!("--http={address}").into()),
        None if !has_http => kept.push("--http".into()),
        None => {}
    }
    kept
}

/// The parts of an address: `0.0.0.0:8080`, `[::1]:8080`, `:8080`, `8080` or `0.0.0.0`.
fn host_and_port(address: &str) -> (Option<String>, Option<String>) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match address.rsplit_once(':') {
        Some((host, port)) if is_number(port) && (!host.contains(':') || host.ends_with(']')) => {
            (some(host), some(port))
        }
        None if is_number(address) => (None, some(address)),
        _ => (some(address), None),
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::whole;
    use crate::habits::tests::line;

    #[test]
    fn addresses_are_those_of_http() {
        for (words, right) in [
            (&["serve", "--port", "8080"][..], &["serve", "--http=8080"][..]),
            (&["start", "-p", "8080"], &["serve", "--http=8080"]),
            (&["serve", "--port=8080", "--host=0.0.0.0", "-v"], &["serve", "-v", "--http=0.0.0.0:8080"]),
            (&["serve", "--host", "::1"], &["serve", "--http=[::1]:8765"]),
            (&["serve", "--listen", "0.0.0.0:8080"], &["serve", "--http=0.0.0.0:8080"]),
            (&["serve", "--listen=:8080"], &["serve", "--http=8080"]),
            (&["serve", "--bind", "[::1]:8080"], &["serve", "--http=[::1]:8080"]),
            (&["serve", "--bind", "::1", "--port", "80"], &["serve", "--http=[::1]:80"]),
            (&["--bind", "127.0.0.1"], &["serve", "--http=127.0.0.1:8765"]),
            (&["--port", "8080"], &["serve", "--http=8080"]),
            (&["-v", "serve", "--port", "8080"], &["-v", "serve", "--http=8080"]),
            (&["--project-root", "p", "serve", "-p", "80"], &["--project-root", "p", "serve", "--http=80"]),
            (&["serve", "--transport", "stdio"], &["serve"]),
            (&["serve", "--transport", "streamable-http"], &["serve", "--http"]),
            (&["serve", "--http", "8080"], &["serve", "--http", "8080"]),
        ] {
            assert_eq!(line(words).unwrap(), right, "{words:?}");
            let parsed = whole().try_get_matches_from(["mcp-bash"].iter().chain(right));
            assert!(parsed.is_ok(), "{right:?}");
        }
    }
}
