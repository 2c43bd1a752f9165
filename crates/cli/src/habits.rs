//! Habits: words and flags that people know from other programs. Each works here, or is explained by an error that names the
//! right one.

use crate::base::error::Error;
use crate::base::exit::Exit;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What takes the place of a word.
#[derive(Clone, Copy)]
enum Instead {
    /// These words.
    Words(&'static [&'static str]),
    /// An error with this advice.
    Advice(&'static str),
}

use Instead::{Advice, Words};

/// Commands by habit: the first words of the command line.
const COMMANDS: &[(&[&str], Instead)] = &[
    (&["start"], Words(&["serve"])),
    (&["server"], Words(&["serve"])),
    (&["create"], Words(&["new"])),
    (&["list-tools"], Words(&["list", "tools"])),
    (&["list-resources"], Words(&["list", "resources"])),
    (&["list-prompts"], Words(&["list", "prompts"])),
    (&["tools", "list"], Words(&["list", "tools"])),
    (&["resources", "list"], Words(&["list", "resources"])),
    (&["prompts", "list"], Words(&["list", "prompts"])),
    (&["tools", "call"], Words(&["call"])),
    (&["resources", "read"], Words(&["read"])),
    (&["prompts", "get"], Words(&["get"])),
    (&["call-tool"], Words(&["call"])),
    (&["token", "create"], Words(&["token", "new"])),
    (&["token", "add"], Words(&["token", "new"])),
    (&["token", "delete"], Words(&["token", "remove"])),
    (&["token", "revoke"], Words(&["token", "remove"])),
    (&["run"], Advice("`mcp-bash serve` serves the project, and `mcp-bash call TOOL` runs a tool")),
    (&["exec"], Advice("`mcp-bash call TOOL` runs a tool")),
    (
        &["add"],
        Advice(
            "`mcp-bash scaffold tool NAME` adds a tool, and `mcp-bash install CLIENT` adds the project to a client",
        ),
    ),
    (
        &["inspect"],
        Advice(
            "`mcp-bash config --inspector` prints the command of the inspector, and `mcp-bash dev` shows messages",
        ),
    ),
    (&["lint"], Words(&["validate"])),
    (&["check"], Words(&["validate"])),
];

/// Flags by habit that take a value, wherever mcp-bash has its own flags.
const FLAGS_WITH_VALUE: &[(&str, Instead)] = &[
    ("-C", Words(&["--project-root"])),
    ("--project", Words(&["--project-root"])),
    ("--project-dir", Words(&["--project-root"])),
    ("--root", Words(&["--project-root"])),
    ("--cwd", Words(&["--project-root"])),
    ("--log-level", Advice("the environment variable MCPBASH_LOG_LEVEL sets the log level")),
    (
        "--token",
        Advice(
            "a token on a command line is visible to all users; name a variable with `--token-env NAME`, or for \
             `mcp-bash publish` a file with `--token-file FILE`",
        ),
    ),
];

/// The same for flags without a value.
const FLAGS: &[(&str, Instead)] = &[
    ("--stdio", Words(&[])),
    (
        "--sse",
        Advice("the transport with two addresses is gone; `mcp-bash serve --http` serves clients over HTTP"),
    ),
    (
        "--debug",
        Advice(
            "`--verbose` prints more, MCPBASH_LOG_LEVEL=debug logs more, and `mcp-bash debug` records messages",
        ),
    ),
];

/// Commands that take clients as words, where a habit writes `--client NAME`.
const COMMANDS_OF_CLIENTS: &[&str] = &["install", "uninstall"];

/// Commands that ask, and so have a `--yes` of their own. All others accept it without a meaning.
const COMMANDS_THAT_ASK: &[&str] =
    &["call", "run-tool", "init", "new", "import", "test", "validate", "install", "uninstall"];

/// The address that a server over HTTP has by default.
const DEFAULT_PORT: &str = "8765";

/// The command line with the words that this program has.
pub(crate) fn rewritten(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let words = with_command(words)?;
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    // All words of jq are its own.
    if first == "jq" {
        return Ok(words);
    }
    let end = own_words(&words, first);
    let (own, rest) = words.split_at(end);
    let own = with_address(with_clients(with_flags(own)?));
    Ok([own, rest.to_vec()].concat())
}

/// How many words are ours: those after the name of a tool are its own.
fn own_words(words: &[OsString], command: &str) -> usize {
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let separator = words.iter().position(|word| word == "--").unwrap_or(words.len());
    if !matches!(command, "call" | "run-tool" | "get") {
        return separator;
    }
    words.iter().skip(2).position(|word| !is_flag(word)).map_or(separator, |place| (place + 2).min(separator))
}

fn with_command(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let starts_with = |habit: &[&str]| {
        words.len() > habit.len() && words[1..].iter().zip(habit).all(|(word, habit)| word == habit)
    };
    let found = COMMANDS.iter().find(|(habit, _)| starts_with(habit));
    let Some((habit, instead)) = found else { return Ok(words) };
    // A folder of that name is served.
    if habit.len() == 1 && Path::new(habit[0]).is_dir() {
        return Ok(words);
    }
    match instead {
        Words(right) => Ok(replaced(&words, 1, habit.len(), right)),
        Advice(advice) => Err(advised(&habit.join(" "), advice)),
    }
}

fn with_flags(words: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut own = Vec::with_capacity(words.len());
    let asks = |word: &&OsString| COMMANDS_THAT_ASK.iter().any(|command| *word == command);
    let never_asks = !words.get(1).is_some_and(|word| asks(&word));
    for word in words {
        let (flag, value) = parts(word);
        let known = FLAGS_WITH_VALUE.iter().chain(FLAGS).find(|(habit, _)| *habit == flag);
        match known {
            None if never_asks && matches!(flag, "--yes" | "-y") && value.is_none() => {}
            None => own.push(word.clone()),
            Some((habit, Advice(advice))) => return Err(advised(habit, advice)),
            Some((_, Words(right))) => {
                own.extend(right.iter().map(OsString::from));
                own.extend(value.map(OsStr::to_owned));
            }
        }
    }
    Ok(own)
}

/// The values of `--client` as words.
fn with_clients(mut words: Vec<OsString>) -> Vec<OsString> {
    let takes_words = |word: &OsString| COMMANDS_OF_CLIENTS.iter().any(|command| word == command);
    if words.get(1).is_some_and(takes_words) {
        words.retain(|word| word != "--client");
        for word in &mut words {
            if let ("--client", Some(value)) = parts(word) {
                *word = value.to_owned();
            }
        }
    }
    words
}

/// `--host` and `--port`, or `--listen` and `--bind` (and `--transport http`) as the address of `--http`.
fn with_address(words: Vec<OsString>) -> Vec<OsString> {
    let serves = words.get(1).is_none_or(|word| {
        word == "serve"
            || word == "dev"
            || word.as_encoded_bytes().starts_with(b"-")
            || Path::new(word).is_dir()
    });
    let is_habit = |word: &OsString| {
        matches!(parts(word).0, "--host" | "--port" | "-p" | "--listen" | "--bind" | "--transport")
    };
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
    if kept.get(1).is_none_or(|word| word != "serve" && word != "dev") {
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

/// A flag, and its value if it is in the same word.
fn parts(word: &OsStr) -> (&str, Option<&OsStr>) {
    let Some(text) = word.to_str().filter(|text| text.starts_with('-')) else { return ("", None) };
    match text.split_once('=') {
        Some((flag, value)) => (flag, Some(OsStr::new(value))),
        None => (text, None),
    }
}

fn replaced(words: &[OsString], place: usize, length: usize, right: &[&str]) -> Vec<OsString> {
    let right = right.iter().map(OsString::from);
    words[..place].iter().cloned().chain(right).chain(words[place + length..].iter().cloned()).collect()
}

fn advised(habit: &str, advice: &str) -> Error {
    Error::of_command(Exit::Usage, format!("there is no `{habit}`: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::whole;

    fn line(words: &[&str]) -> Result<Vec<String>, String> {
        let words = ["mcp-bash"].iter().chain(words).map(OsString::from).collect();
        let rewritten = rewritten(words).map_err(|error| error.to_string())?;
        Ok(rewritten.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect())
    }

    /// Every row leads to something that exists.
    #[test]
    fn each_row_of_the_tables_names_a_command_or_a_flag_that_exists() {
        let names: Vec<String> =
            whole().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let is_known = |word: &str| names.iter().any(|name| name == word) || word == "--version";
        let advises = |advice: &str| {
            let commands: Vec<&str> =
                advice.split("`mcp-bash ").skip(1).filter_map(|rest| rest.split([' ', '`']).next()).collect();
            assert!(!commands.is_empty() || advice.contains("MCPBASH_") || advice.contains("--"), "{advice}");
            for command in commands {
                assert!(is_known(command), "{advice}");
            }
        };
        for (habit, instead) in COMMANDS {
            let is_command = match *habit {
                [command, word] => {
                    let whole = whole();
                    whole.find_subcommand(command).is_some_and(|found| found.find_subcommand(word).is_some())
                }
                _ => is_known(habit[0]),
            };
            assert!(!is_command, "{habit:?} is a command");
            match instead {
                Words(right) => {
                    assert!(is_known(right[0]), "{habit:?}");
                    assert_eq!(line(habit).unwrap(), *right);
                }
                Advice(advice) => {
                    advises(advice);
                    let said = line(habit).unwrap_err();
                    assert!(said.contains(advice) && said.contains(habit[0]), "{said}");
                }
            }
        }
        for (habit, instead) in FLAGS_WITH_VALUE.iter().chain(FLAGS) {
            match instead {
                Words(right) => assert_eq!(line(&["list", habit]).unwrap()[1..], right[..]),
                Advice(advice) => {
                    advises(advice);
                    assert!(line(&["list", habit]).unwrap_err().contains(advice));
                }
            }
        }
    }

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
            (&["serve", "--transport", "stdio"], &["serve"]),
            (&["serve", "--transport", "streamable-http"], &["serve", "--http"]),
            (&["serve", "--http", "8080"], &["serve", "--http", "8080"]),
        ] {
            assert_eq!(line(words).unwrap(), right, "{words:?}");
            let parsed = whole().try_get_matches_from(["mcp-bash"].iter().chain(right));
            assert!(parsed.is_ok(), "{right:?}");
        }
    }

    #[test]
    fn clients_are_words_of_the_commands_that_take_them() {
        assert_eq!(line(&["install", "--client", "cursor"]).unwrap(), ["install", "cursor"]);
        assert_eq!(line(&["uninstall", "--client=zed", "-y"]).unwrap(), ["uninstall", "zed", "-y"]);
        let config = ["config", "--client", "cursor"];
        assert_eq!(line(&config).unwrap(), config);
        assert_eq!(line(&["token", "create", "ada"]).unwrap(), ["token", "new", "ada"]);
        assert_eq!(line(&["token", "delete", "ada"]).unwrap(), ["token", "remove", "ada"]);
    }

    #[test]
    fn the_words_of_tools_and_of_jq_are_their_own() {
        for words in [
            &["call", "deploy", "--project", "x", "--port", "1", "--yes"][..],
            &["run-tool", "deploy", "--debug"],
            &["jq", "--debug", "-C", "."],
            &["call", "--", "x", "--token", "y"],
            &["import", "justfile", "--yes"],
        ] {
            assert_eq!(line(words).unwrap(), words);
        }
        assert_eq!(line(&["call", "-C", "dir"]).unwrap(), ["call", "--project-root", "dir"]);
        assert_eq!(line(&["list", "--yes"]).unwrap(), ["list"]);
        assert_eq!(line(&["call", "--yes", "x"]).unwrap(), ["call", "--yes", "x"]);
    }
}
