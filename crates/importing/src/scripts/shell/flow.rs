//! Script flow: what runs with the words of the script. Functions that receive all of them (`main "$@"`) are part of it,
//! others are not: `$1` in them is another word.

use super::expansion::{expansions, is_all_words};
use super::tree::{Command, Item, Joint, Node};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// How many items calls of functions may add, besides as many as the script has.
const MOST_ADDED: usize = 500;

/// How many functions may call each other until one of them ends the script.
const MOST_CALLS: usize = 6;

pub(super) struct Flow<'t> {
    /// In order, without functions, with calls of `f "$@"` replaced by the body of `f`.
    pub(super) main: Vec<Item>,
    pub(super) functions: BTreeMap<&'t str, &'t [Item]>,
    /// Functions that end the script.
    ending: BTreeSet<&'t str>,
    /// How many more items calls may add: functions that call each other could fill the memory.
    room: Cell<usize>,
}

impl<'t> Flow<'t> {
    pub(super) fn of(items: &'t [Item]) -> Self {
        let mut functions = BTreeMap::new();
        collect(items, &mut functions);
        let room = Cell::new(MOST_ADDED + count(items));
        let mut flow = Self { main: Vec::new(), functions, ending: BTreeSet::new(), room };
        for _ in 0..MOST_CALLS {
            let found = flow.functions.iter().filter(|(_, body)| flow.ends(body));
            flow.ending = found.map(|(name, _)| *name).collect();
        }
        flow.main = flow.inlined(items, 0);
        flow
    }

    fn inlined(&self, items: &[Item], depth: usize) -> Vec<Item> {
        let mut all = Vec::new();
        for item in items {
            self.room.set(self.room.get().saturating_sub(usize::from(depth > 0)));
            let node = match &item.node {
                Node::Function { .. } => continue,
                Node::Command(command) => {
                    let body = receiver(command).and_then(|name| self.functions.get(name));
                    match body.filter(|_| depth < 4 && self.room.get() > 0) {
                        Some(body) => Node::Block(self.inlined(body, depth + 1)),
                        None => item.node.clone(),
                    }
                }
                Node::Block(items) => Node::Block(self.inlined(items, depth)),
                Node::If { branches, otherwise } => Node::If {
                    branches: branches
                        .iter()
                        .map(|(head, body)| (self.inlined(head, depth), self.inlined(body, depth)))
                        .collect(),
                    otherwise: self.inlined(otherwise, depth),
                },
                Node::While { head, body } => {
                    Node::While { head: self.inlined(head, depth), body: self.inlined(body, depth) }
                }
                Node::For { variable, words, body, asks, line } => Node::For {
                    asks: *asks,
                    line: *line,
                    variable: variable.clone(),
                    words: words.clone(),
                    body: self.inlined(body, depth),
                },
                Node::Case { subject, arms, line } => Node::Case {
                    line: *line,
                    subject: subject.clone(),
                    arms: arms
                        .iter()
                        .map(|arm| super::tree::Arm {
                            patterns: arm.patterns.clone(),
                            body: self.inlined(&arm.body, depth),
                        })
                        .collect(),
                },
            };
            all.push(Item { joint: item.joint, node });
        }
        all
    }

    /// Whether some items end the script: `exit`, or a function that does, or one that is named like it.
    pub(super) fn ends(&self, items: &[Item]) -> bool {
        const ENDING: [&str; 9] =
            ["abort", "bail", "die", "error_exit", "exit", "fail", "fatal", "print_usage", "usage"];
        items.iter().any(|item| match &item.node {
            Node::Command(command) => command
                .words
                .first()
                .is_some_and(|name| ENDING.contains(&&**name) || self.ending.contains(&**name)),
            Node::Block(inner) => self.ends(inner),
            _ => false,
        })
    }
}

/// The function that a command calls with all words of the script.
fn receiver(command: &Command) -> Option<&str> {
    let [name, rest @ ..] = &*command.words else { return None };
    matches!(rest, [word] if is_all_words(word)).then_some(name)
}

fn collect<'t>(items: &'t [Item], functions: &mut BTreeMap<&'t str, &'t [Item]>) {
    for item in items {
        if let Node::Function { name, body } = &item.node {
            functions.insert(name, body);
        }
        for inner in children(&item.node) {
            collect(inner, functions);
        }
    }
}

/// How many items there are, at any depth.
fn count(items: &[Item]) -> usize {
    let inside = |item: &Item| children(&item.node).into_iter().map(count).sum::<usize>();
    items.iter().map(|item| 1 + inside(item)).sum()
}

/// The lists of items inside a node.
pub(super) fn children(node: &Node) -> Vec<&[Item]> {
    match node {
        Node::Command(_) => Vec::new(),
        Node::Case { arms, .. } => arms.iter().map(|arm| &*arm.body).collect(),
        Node::Function { body, .. } | Node::For { body, .. } | Node::Block(body) => vec![body],
        Node::While { head, body } => vec![head, body],
        Node::If { branches, otherwise } => {
            branches.iter().flat_map(|(head, body)| [&**head, &**body]).chain([&**otherwise]).collect()
        }
    }
}

/// Whether a command in some items, at any depth, is such a one.
pub(super) fn any_command(items: &[Item], is_such: &mut dyn FnMut(&Command) -> bool) -> bool {
    items.iter().any(|item| match &item.node {
        Node::Command(command) => is_such(command),
        node => children(node).into_iter().any(|inner| any_command(inner, is_such)),
    })
}

/// Calls a function with each command in some items.
pub(super) fn each_command(items: &[Item], visit: &mut dyn FnMut(&Command)) {
    any_command(items, &mut |command| {
        visit(command);
        false
    });
}

/// `NAME=value` at the beginning of a command, or after `local`, `export` and the like: name, whether it is appended to,
/// and the value as it is written.
pub(super) fn assignments(command: &Command) -> Vec<(&str, bool, &str)> {
    let declares = command
        .words
        .first()
        .is_some_and(|word| matches!(&**word, "local" | "export" | "readonly" | "declare" | "typeset"));
    let mut found = Vec::new();
    for word in command.words.iter().skip(usize::from(declares)) {
        match assignment(word) {
            Some(assignment) => found.push(assignment),
            None if declares => {}
            None => break,
        }
    }
    found
}

fn assignment(word: &str) -> Option<(&str, bool, &str)> {
    let (left, value) = word.split_once('=')?;
    let (name, appends) = left.strip_suffix('+').map_or((left, false), |name| (name, true));
    // `name[index]=value`
    let name = name.strip_suffix(']').and_then(|element| element.split('[').next()).unwrap_or(name);
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, appends, value))
}

/// The words of a command after its assignments.
pub(super) fn own_words(command: &Command) -> &[String] {
    let count = command.words.iter().take_while(|word| assignment(word).is_some()).count();
    &command.words[count..]
}

/// Whether a node, at any depth, expands this name.
pub(super) fn mentions(items: &[Item], name: &str) -> bool {
    let in_words = any_command(items, &mut |command| {
        let texts = command.words.iter().chain(command.redirections.iter().map(|(_, target)| target));
        texts
            .chain(command.here_document.as_ref())
            .any(|word| expansions(word).iter().any(|found| found.name == name))
    });
    let in_heads = |node: &Node| match node {
        Node::Case { subject, .. } => expansions(subject).iter().any(|found| found.name == name),
        Node::For { words: Some(words), .. } => {
            words.iter().any(|word| expansions(word).iter().any(|found| found.name == name))
        }
        _ => false,
    };
    in_words || any_node(items, &mut |node| in_heads(node))
}

pub(super) fn any_node(items: &[Item], is_such: &mut dyn FnMut(&Node) -> bool) -> bool {
    items.iter().any(|item| {
        is_such(&item.node) || children(&item.node).into_iter().any(|inner| any_node(inner, is_such))
    })
}

/// The items that follow with `&&` or `||` after an index, as far as a person would write them.
pub(super) fn chained(items: &[Item], index: usize, joint: Joint) -> &[Item] {
    let rest = &items[index + 1..];
    let count = rest.iter().take(50).take_while(|item| item.joint == joint).count();
    &rest[..count]
}
