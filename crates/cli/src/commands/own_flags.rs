//! Own flags of `call` and `run-tool`, wherever they are on the command line. Other flags belong to the tool.

use crate::base::common::Common;
use crate::commands::call::arguments::OfCall;
use crate::commands::run_tool::arguments::Arguments;
use crate::habits::command_place;
use clap::{CommandFactory, Parser};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
struct OfRunTool {
    #[command(flatten)]
    _common: Common,
    #[command(flatten)]
    _arguments: Arguments,
}

/// The words of a command line, with our own flags of `call` and `run-tool` moved before the name of the tool: clap reads
/// those, and the words after the name belong to the tool.
pub(crate) fn with_flags_first(words: Vec<OsString>) -> Vec<OsString> {
    let is_ours = |word: &OsString| word == "call" || word == "run-tool";
    let Some(place) = command_place(&words).filter(|place| is_ours(&words[*place])) else { return words };
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if !words[place + 1..].iter().any(is_flag) {
        return words;
    }
    let command = own_command(&words[place]);
    // After the name of the tool, `--yes` is for a tool that has such an argument, unless there is a question of ours that no
    // tool has.
    let asks = words.iter().any(|word| word == "--trace-access");
    let (mut ordered, after) = (words[..=place].to_vec(), &words[place + 1..]);
    let (mut ours, mut rest, mut index) = (Vec::new(), Vec::new(), 0);
    while index < after.len() {
        let word = &after[index];
        if word == "--" {
            rest.extend_from_slice(&after[index..]);
            break;
        }
        let length = if (word == "--yes" || word == "-y") && !asks { 0 } else { own_length(&command, word) };
        if length == 0 {
            rest.push(word.clone());
        } else {
            ours.extend(after.iter().skip(index).take(length).cloned());
        }
        index += length.max(1);
    }
    ordered.extend(ours);
    ordered.extend(rest);
    ordered
}

fn own_command(name: &OsStr) -> clap::Command {
    if name == "call" { OfCall::command() } else { OfRunTool::command() }
}

/// Our own long flags of a call.
pub(crate) fn own_flags(command: &str) -> HashSet<String> {
    let command = own_command(command.as_ref());
    let flags = command.get_arguments().filter_map(|argument| argument.get_long().map(ToOwned::to_owned));
    // After the name of the tool it is ours only if the tool has no such argument.
    let flags = flags.filter(|flag| flag != "yes");
    flags.chain(["help".to_owned()]).collect()
}

/// How many words one of our flags takes, itself included; 0 if the word is none.
fn own_length(command: &clap::Command, word: &OsStr) -> usize {
    let Some(word) = word.to_str() else { return 0 };
    let (name, has_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let is_named = |argument: &&clap::Arg| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => name.len() == 2 && name.starts_with('-') && argument.get_short() == name.chars().nth(1),
    };
    match command.get_arguments().find(is_named) {
        None => 0,
        Some(argument) if has_value || !argument.get_action().takes_values() => 1,
        Some(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(line: &str) -> String {
        let words = line.split(' ').map(Into::into).collect();
        let ordered = with_flags_first(words);
        ordered.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn our_flags_are_read_in_any_position() {
        for (line, expected) in [
            ("m call x a=1 --json", "m call --json x a=1"),
            ("m call x --path /var --timeout 5 --top=3", "m call --timeout 5 x --path /var --top=3"),
            ("m call x --project-root=/p -v b=2", "m call --project-root=/p -v x b=2"),
            ("m call x --help", "m call x --help"),
            ("m call x -- --json", "m call x -- --json"),
            ("m call x --yes", "m call x --yes"),
            ("m call --yes x -y --json", "m call --json --yes x -y"),
            ("m call x --yes --trace-access", "m call --yes --trace-access x"),
            ("m run-tool x --allow-self --args {}", "m run-tool --allow-self --args {} x"),
            ("m --project-root call call x --json", "m --project-root call call --json x"),
            ("m --store call call x --json", "m --store call call --json x"),
            ("m health --json x", "m health --json x"),
        ] {
            assert_eq!(ordered(line), expected);
        }
    }
}
