//! Arguments as JSON: which members a script takes out of them, with the SDK or with jq. Only what is certain is found: a
//! filter that is a plain path, applied to the arguments as they are.

use super::expansion::{expansions, is_only, plain};
use super::flow::{Flow, assignments, each_command, own_words};
use super::tree::{self, Command, Item, Joint, Node};
use std::collections::BTreeMap;

/// The name of the whole standard input of the script.
pub(super) const INPUT: &str = "<";

const PAYLOAD: &str = "MCP_TOOL_ARGS_JSON";
const PAYLOAD_FILE: &str = "MCP_TOOL_ARGS_FILE";

/// Where a script has its arguments from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The environment, which has them whatever the metadata says.
    Environment,
    /// Standard input, which has them if nothing else is mapped to it.
    Input,
}

#[derive(Debug, Default)]
pub(super) struct JsonArguments {
    /// Variables that hold them as they are.
    variables: BTreeMap<String, Origin>,
}

/// What goes from one command of a pipe to the next.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Input,
    Arguments(Origin),
    Other,
}

impl JsonArguments {
    pub(super) fn of(flow: &Flow<'_>) -> Self {
        let mut found = Self::default();
        // A variable may be a copy of another one.
        for _ in 0..2 {
            let mut seen: BTreeMap<String, Vec<Option<Origin>>> = BTreeMap::new();
            for items in flow.functions.values().copied().chain([&*flow.main]) {
                each_command(items, &mut |command| found.note(command, &mut seen));
            }
            let of_one = |origins: &[Option<Origin>]| {
                let [first, rest @ ..] = origins else { return None };
                first.filter(|_| rest.iter().all(|other| other == first))
            };
            found.variables =
                seen.into_iter().filter_map(|(name, origins)| Some((name, of_one(&origins)?))).collect();
        }
        found
    }

    fn note(&self, command: &Command, seen: &mut BTreeMap<String, Vec<Option<Origin>>>) {
        for (name, appends, value) in assignments(command) {
            // An empty value before the real one says nothing.
            if appends || plain(value).is_none() {
                let origin = self.in_word(value).filter(|_| !appends);
                seen.entry(name.to_owned()).or_default().push(origin);
            }
        }
        if let [read, names @ ..] = own_words(command)
            && read == "read"
        {
            let names: Vec<&String> = names.iter().filter(|name| is_name(name)).collect();
            let origin = (names.len() == 1 && command.redirections.is_empty()).then_some(Origin::Input);
            for name in names {
                seen.entry(name.clone()).or_default().push(origin);
            }
        }
    }

    /// The origin of a word that is the arguments and nothing else.
    fn in_word(&self, word: &str) -> Option<Origin> {
        let bare = word.trim_matches('"');
        if let Some(text) = bare.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) {
            if text.trim() == "</dev/stdin" || text.trim() == "< /dev/stdin" {
                return Some(Origin::Input);
            }
            let items = tree::parse(text)?;
            let (stream, _) = self.pipe(&items);
            return match stream {
                Stream::Arguments(origin) => Some(origin),
                Stream::Input => Some(Origin::Input),
                Stream::Other => None,
            };
        }
        let found = expansions(bare);
        let [one] = &*found else { return None };
        let is_whole = is_only(bare, one.name);
        if is_whole && one.name == PAYLOAD {
            return Some(Origin::Environment);
        }
        self.variables.get(one.name).copied().filter(|_| is_whole)
    }

    /// The members that some commands print as they are: `{count}` from the environment, `{<count}` from standard input; and
    /// [`INPUT`]. `is_own` says whether the commands read the input of the script.
    pub(super) fn printed(&self, items: &[Item], is_own: bool) -> Vec<(String, bool)> {
        let (stream, members) = self.pipe(items);
        let members = members.into_iter().filter(|(_, origin)| *origin == Origin::Environment || is_own);
        let mut all: Vec<(String, bool)> = members
            .map(|(path, origin)| match origin {
                Origin::Environment => (format!("{{{path}}}"), true),
                Origin::Input => (format!("{{<{path}}}"), true),
            })
            .collect();
        if matches!(stream, Stream::Input) && is_own && !items.is_empty() {
            all.push((INPUT.to_owned(), true));
        }
        all
    }

    /// What the last of some commands prints, and the members that are printed.
    fn pipe(&self, items: &[Item]) -> (Stream, Vec<(String, Origin)>) {
        let mut stream = Stream::Other;
        let mut members = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let input = match item.joint {
                Joint::Pipe if index > 0 => stream,
                // A part of a pipe that begins before reads what is not known.
                Joint::Pipe => Stream::Other,
                _ => Stream::Input,
            };
            let Node::Command(command) = &item.node else {
                stream = Stream::Other;
                continue;
            };
            let path;
            (stream, path) = self.command(command, input);
            let ends = items.get(index + 1).is_none_or(|next| next.joint != Joint::Pipe);
            members.extend(path.filter(|_| ends));
        }
        (stream, members)
    }

    /// What a command prints, and the member that it takes out of the arguments.
    fn command(&self, command: &Command, input: Stream) -> (Stream, Option<(String, Origin)>) {
        let nothing = (Stream::Other, None);
        let [first, rest @ ..] = own_words(command) else { return nothing };
        let input = match self.redirected(command) {
            None => input,
            Some(redirected) => redirected,
        };
        match &*first.replace(['"', '{', '}'], "") {
            "mcp_args_get" | "mcp_args_require" => {
                let filter = rest.first().and_then(|filter| plain(filter));
                let member = filter.and_then(|filter| path(&filter));
                (Stream::Other, member.map(|path| (path, Origin::Environment)))
            }
            "mcp_args_raw" => (Stream::Arguments(Origin::Environment), None),
            "cat" => match rest {
                [] => (input, None),
                [file] if file == "-" || file == "/dev/stdin" => (input, None),
                [file] if is_only(file, PAYLOAD_FILE) => (Stream::Arguments(Origin::Environment), None),
                _ => nothing,
            },
            "echo" | "printf" => {
                let text = rest.iter().filter(|word| {
                    !word.starts_with('-') && !matches!(word.trim_matches(['"', '\'']), "%s" | "%s\\n")
                });
                let text: Vec<&String> = text.collect();
                match &*text {
                    [word] => (self.in_word(word).map_or(Stream::Other, Stream::Arguments), None),
                    _ => nothing,
                }
            }
            "jq" | "gojq" | "$MCPBASH_JSON_TOOL_BIN" | "$MCPBASH_JSON_TOOL_BIN:-jq" => {
                let (options, operands): (Vec<&String>, Vec<&String>) =
                    rest.iter().partition(|word| word.starts_with('-'));
                let is_known = |option: &&String| {
                    *option == "--raw-output"
                        || !option.starts_with("--")
                            && option[1..].chars().all(|letter| "rcejM".contains(letter))
                };
                // Without `-r` a text has quotes, which no expression may have.
                let is_raw =
                    options.iter().any(|option| *option == "--raw-output" || option.contains(['r', 'j']));
                let [filter] = &*operands else { return nothing };
                let origin = match input {
                    Stream::Input => Origin::Input,
                    Stream::Arguments(origin) => origin,
                    Stream::Other => return nothing,
                };
                let member = plain(filter).and_then(|filter| path(&filter));
                let member = member.filter(|_| is_raw && options.iter().all(is_known));
                (Stream::Other, member.map(|path| (path, origin)))
            }
            _ => nothing,
        }
    }

    /// What a command reads, if it does not read what its pipe or its script reads.
    fn redirected(&self, command: &Command) -> Option<Stream> {
        if command.here_document.is_some() {
            return Some(Stream::Other);
        }
        let (operator, target) =
            command.redirections.iter().rfind(|(operator, _)| operator.starts_with('<'))?;
        let is_payload_file = operator == "<" && is_only(target, PAYLOAD_FILE);
        Some(match self.in_word(target) {
            Some(origin) if operator == "<<<" => Stream::Arguments(origin),
            _ if is_payload_file => Stream::Arguments(Origin::Environment),
            _ => Stream::Other,
        })
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The members that a plain path of jq names, joined by dots; `[]` at its end for each element. A default after `//` is
/// allowed: `.a.b // "none"`, `.list[]`, `.["a"]`.
fn path(filter: &str) -> Option<String> {
    let filter = filter.trim();
    let filter = filter.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(filter).trim();
    let (text, default) = filter.split_once("//").unwrap_or((filter, ""));
    if default.contains('|') || default.contains('.') && !default.trim().starts_with('"') {
        return None;
    }
    let text = text.trim();
    let (text, each) = match text.trim_end_matches('?').strip_suffix("[]") {
        Some(list) => (list, "[]"),
        None => (text, ""),
    };
    let mut names = Vec::new();
    let mut rest = text.strip_prefix('.')?;
    loop {
        let quoted = rest
            .strip_prefix("[\"")
            .map(|rest| ("\"]", rest))
            .or(rest.strip_prefix('"').map(|rest| ("\"", rest)));
        let name = if let Some((end, inner)) = quoted {
            let (name, after) = inner.split_once(end)?;
            rest = after;
            name
        } else {
            let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            name
        };
        if name.is_empty() || name.contains(['.', '{', '}', '[']) {
            return None;
        }
        names.push(name);
        rest = rest.trim_start_matches('?');
        if rest.is_empty() {
            return Some(names.join(".") + each);
        }
        rest = if rest.starts_with("[\"") { rest } else { rest.strip_prefix('.')? };
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn plain_paths_are_read_and_others_are_not() {
        for (filter, expected) in [
            (".count", "count"),
            (" .count // 5 ", "count"),
            ("(.count // \"a.b\")", "count"),
            (".a.b?", "a.b"),
            (".[\"a-b\"].c", "a-b.c"),
            (".\"a-b\"", "a-b"),
            (".list[]", "list[]"),
            (".list[]?", "list[]"),
        ] {
            assert_eq!(path(filter).as_deref(), Some(expected), "{filter}");
        }
        for filter in [
            "",
            ".",
            ".[]",
            ".a | tonumber",
            ".a // .b",
            ".a // 1 | floor",
            ".a[0]",
            ".a + 1",
            "keys",
            "$x",
            ".a.[\"b.c\"]",
        ] {
            assert_eq!(path(filter), None, "{filter}");
        }
    }
}
