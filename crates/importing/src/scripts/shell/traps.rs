//! Traps: what a shell script expects of a terminal or of its user's environment, and does not find as a tool.

use super::expansion::expansions;
use super::flow::{any_node, assignments, each_command, own_words};
use super::tree::{self, Node};
use crate::scripts::variable::is_given_by_user;
use std::collections::BTreeSet;

/// Programs that talk with a person at a terminal.
const INTERACTIVE: [&str; 13] = [
    "dialog", "emacs", "fzf", "less", "more", "most", "nano", "passwd", "pico", "su", "vi", "vim", "whiptail",
];

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShellTraps {
    /// The commands that ask a person, as they are written in the script.
    pub questions: Vec<String>,
    /// Variables that the script reads without a default and never sets.
    pub variables: Vec<String>,
}

/// Looks for traps in a shell script. Nothing is found in a text that cannot be read to its end.
pub fn shell_traps(text: &str) -> ShellTraps {
    let Some(items) = tree::parse(text) else { return ShellTraps::default() };
    let mut found = ShellTraps::default();
    let (mut set, mut used): (BTreeSet<String>, Vec<String>) = (BTreeSet::new(), Vec::new());
    let mut sources_other = false;
    each_command(&items, &mut |command| {
        let words = own_words(command);
        let first = words.first().map_or("", String::as_str);
        set.extend(assignments(command).into_iter().map(|(name, _, _)| name.to_owned()));
        match first {
            "." | "source" => sources_other |= words.get(1).is_some_and(|file| !file.contains("MCP_SDK")),
            "read" | "mapfile" | "readarray" | "getopts" | "printf" | "unset" => {
                set.extend(words.iter().skip(1).cloned());
            }
            _ => {}
        }
        if let Some(question) = question(words, !command.redirections.is_empty())
            && !found.questions.contains(&question)
        {
            found.questions.push(question);
        }
        for word in command.words.iter().chain(&command.here_document) {
            for one in expansions(word) {
                let sign = one.rest.trim_start_matches(':');
                let has_default = sign.starts_with(['-', '=', '+']);
                if !has_default && is_given_by_user(one.name) {
                    used.push(one.name.to_owned());
                } else if has_default {
                    // A script that tests it elsewhere knows that it may be absent.
                    set.insert(one.name.to_owned());
                }
            }
        }
    });
    any_node(&items, &mut |node| {
        if let Node::For { variable, asks, .. } = node {
            set.insert(variable.clone());
            let question = "select".to_owned();
            if *asks && !found.questions.contains(&question) {
                found.questions.push(question);
            }
        }
        false
    });
    // Another file may set it.
    if !sources_other {
        let mut seen = BTreeSet::new();
        found.variables =
            used.into_iter().filter(|name| !set.contains(name) && seen.insert(name.clone())).collect();
    }
    found
}

/// The part of a command that asks a person, if it does.
fn question(words: &[String], is_redirected: bool) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    let is_prompt = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('p');
    match first.as_str() {
        "read" if !is_redirected && rest.iter().any(is_prompt) => Some("read -p".to_owned()),
        "sudo" if !has(&["-n", "--non-interactive", "-S", "-A"]) => Some("sudo".to_owned()),
        program if INTERACTIVE.contains(&program) && !is_redirected => Some(program.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(text: &str) -> Vec<String> {
        shell_traps(text).questions
    }

    fn variables(text: &str) -> Vec<String> {
        shell_traps(text).variables
    }

    #[test]
    fn commands_that_ask_a_person_are_found() {
        assert_eq!(questions("read -p 'Delete? [Y/n]' a\nrm -rf x\n"), ["read -p"]);
        assert_eq!(questions("if true; then read -rp 'Sure? ' a; fi\n"), ["read -p"]);
        assert_eq!(questions("sudo systemctl restart x\nsudo ls\n"), ["sudo"]);
        assert_eq!(questions("select x in a b; do echo $x; break; done\n"), ["select"]);
        assert_eq!(questions("vim /etc/hosts\n"), ["vim"]);
        for quiet in [
            "while read -r line; do echo \"$line\"; done < file\n",
            "read -r first < file\n",
            "sudo -n systemctl restart x\n",
            "echo 'read -p'\n",
            "less < file > copy\n",
        ] {
            assert_eq!(questions(quiet), Vec::<String>::new(), "{quiet}");
        }
    }

    #[test]
    fn variables_that_nothing_sets_are_found() {
        assert_eq!(variables("curl -H \"$API_TOKEN\" \"${BASE_URL:?}\"\n"), ["API_TOKEN", "BASE_URL"]);
        for quiet in [
            "API_TOKEN=x\necho $API_TOKEN\n",
            "echo ${API_TOKEN:-none}\n",
            "[ -n \"${API_TOKEN:-}\" ] && echo $API_TOKEN\n",
            "read API_TOKEN < file\necho $API_TOKEN\n",
            "for NAME in a b; do echo $NAME; done\n",
            ". ./settings.sh\necho $API_TOKEN\n",
            "echo $HOME $PATH $MCP_SDK $name $1\n",
        ] {
            assert_eq!(variables(quiet), Vec::<String>::new(), "{quiet}");
        }
        let sourced = "source \"$MCP_SDK/tool-sdk.sh\"\necho $API_TOKEN\n";
        assert_eq!(variables(sourced), ["API_TOKEN"]);
    }
}
