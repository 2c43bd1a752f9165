//! Displayed entries: foreign entries as they are shown to users, without possible secrets.

use mcp_bash_harmless::tells_of_secret;

const REDACTED: &str = "[redacted]";

/// A command line without the values of secret flags and the parts of a URL that may hold a secret.
pub(crate) fn command_line(command: &str, args: &[String]) -> String {
    let mut words = vec![command.to_owned()];
    let mut is_secret = false;
    for word in args {
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        words.push(match value {
            _ if is_secret && !word.starts_with('-') => REDACTED.to_owned(),
            Some(_) if tells_of_secret(name) && !name.contains("://") => format!("{name}={REDACTED}"),
            _ => url(word),
        });
        is_secret = word.starts_with('-') && value.is_none() && tells_of_secret(name);
    }
    words.join(" ")
}

/// A URL without user, password and query; anything else as it is.
pub(crate) fn url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?…"));
    let end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    format!("{scheme}://{host}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out() {
        for (line, shown) in [
            ("npx -y server", "npx -y server"),
            ("npx server --api-key s3 --port 3", "npx server --api-key [redacted] --port 3"),
            ("npx server --token=s3 -v", "npx server --token=[redacted] -v"),
            ("docker run -e API_TOKEN=s3 x", "docker run -e API_TOKEN=[redacted] x"),
            (
                "npx mcp-remote https://u:s3@h/x?key=s3 --header s3",
                "npx mcp-remote https://h/x?… --header [redacted]",
            ),
            ("x --token --flag y", "x --token --flag y"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(command_line(&words[0], &words[1..]), shown);
        }
    }
}
