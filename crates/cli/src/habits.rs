//! Habits: words and flags that people know from other programs. Each works here, or is explained by an error that names the
//! right one.

mod address;

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

/// Flags with a value that stand before a command, besides those above.
const GLOBAL_FLAGS_WITH_VALUE: &[&str] = &["--project-root", "--log-file", "--audit", "--roots", "--store"];

/// The command line with the words that this program has.
pub(crate) fn rewritten(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let words = with_command(words)?;
    let (own, rest) = words.split_at(own_words(&words));
    let own = address::with_address(with_clients(with_flags(own)?));
    Ok([own, rest.to_vec()].concat())
}

/// The position of the command: the first word that is not a flag, nor the value of one.
pub(crate) fn command_place(words: &[OsString]) -> Option<usize> {
    let habits = || FLAGS_WITH_VALUE.iter().map(|(habit, _)| *habit).chain(address::FLAGS.iter().copied());
    let takes_value =
        |word: &OsString| GLOBAL_FLAGS_WITH_VALUE.iter().copied().chain(habits()).any(|flag| word == flag);
    let mut place = 1;
    while let Some(word) = words.get(place) {
        if !is_flag(word) {
            return Some(place);
        }
        place += if takes_value(word) { 2 } else { 1 };
    }
    None
}

fn command_in(words: &[OsString]) -> Option<&OsStr> {
    command_place(words).map(|place| &*words[place])
}

fn is_flag(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// How many words are ours: those after the name of a tool are its own, and those after `jq`.
fn own_words(words: &[OsString]) -> usize {
    let separator = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let Some(place) = command_place(words) else { return separator };
    let first = place + 1;
    if words[place] == "jq" {
        return first;
    }
    if !["call", "run-tool", "get"].iter().any(|command| words[place] == *command) {
        return separator;
    }
    words
        .iter()
        .skip(first)
        .position(|word| !is_flag(word))
        .map_or(separator, |name| (first + name).min(separator))
}

fn with_command(words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let Some(place) = command_place(&words) else { return Ok(words) };
    let after = &words[place..];
    let starts_with = |habit: &[&str]| {
        after.len() >= habit.len() && after.iter().zip(habit).all(|(word, habit)| word == habit)
    };
    let found = COMMANDS.iter().find(|(habit, _)| starts_with(habit));
    let Some((habit, instead)) = found else { return Ok(words) };
    // A folder of that name is served.
    if habit.len() == 1 && Path::new(habit[0]).is_dir() {
        return Ok(words);
    }
    match instead {
        Words(right) => Ok(replaced(&words, place, habit.len(), right)),
        Advice(advice) => Err(advised(&habit.join(" "), advice)),
    }
}

fn with_flags(words: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut own = Vec::with_capacity(words.len());
    let command = command_in(words);
    let never_asks =
        !command.is_some_and(|command| COMMANDS_THAT_ASK.iter().any(|asking| command == *asking));
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
    let takes_words = |word: &OsStr| COMMANDS_OF_CLIENTS.iter().any(|command| word == *command);
    if command_in(&words).is_some_and(takes_words) {
        words.retain(|word| word != "--client");
        for word in &mut words {
            if let ("--client", Some(value)) = parts(word) {
                *word = value.to_owned();
            }
        }
    }
    words
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

    pub(super) fn line(words: &[&str]) -> Result<Vec<String>, String> {
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
            &["--project-root", "p", "call", "deploy", "--project", "x", "--token", "t"],
            &["-v", "jq", "--debug", "-C", "."],
            &["--audit", "call", "call", "deploy", "--debug"],
        ] {
            assert_eq!(line(words).unwrap(), words);
        }
        assert_eq!(line(&["call", "-C", "dir"]).unwrap(), ["call", "--project-root", "dir"]);
        assert_eq!(line(&["list", "--yes"]).unwrap(), ["list"]);
        assert_eq!(line(&["-q", "call", "list", "--yes"]).unwrap(), ["-q", "call", "list", "--yes"]);
    }

    /// Global flags, and those that mean them by habit, may stand before the command.
    #[test]
    fn consent_is_kept_where_flags_stand_before_the_command() {
        for (words, right) in [
            (&["call", "--yes", "x"][..], &["call", "--yes", "x"][..]),
            (&["-q", "call", "--yes", "x"], &["-q", "call", "--yes", "x"]),
            (&["--project-root", "p", "install", "--yes"], &["--project-root", "p", "install", "--yes"]),
            (&["-C", "p", "install", "--client=zed", "-y"], &["--project-root", "p", "install", "zed", "-y"]),
            (&["-v", "create", "p", "--yes"], &["-v", "new", "p", "--yes"]),
        ] {
            assert_eq!(line(words).unwrap(), right, "{words:?}");
        }
    }

    #[test]
    fn the_lists_name_what_the_commands_take() {
        let whole = whole();
        for command in whole.get_subcommands() {
            let asks = command.get_arguments().any(|argument| argument.get_long() == Some("yes"));
            assert_eq!(asks, COMMANDS_THAT_ASK.contains(&command.get_name()), "{}", command.get_name());
        }
        let flags = whole.get_arguments().filter(|argument| argument.get_action().takes_values());
        let mut flags: Vec<String> =
            flags.filter_map(|flag| flag.get_long().map(|name| format!("--{name}"))).collect();
        let mut listed = GLOBAL_FLAGS_WITH_VALUE.to_vec();
        flags.sort_unstable();
        listed.sort_unstable();
        assert_eq!(flags, listed);
    }
}
