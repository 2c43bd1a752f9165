//! Evaluated values: which words, options and variables of a script reach an expression of its shell, through assignments,
//! loops, functions and what functions print. A caller who chose such a value freely could run a command with it.

use super::arithmetic::{self, Declared, Dollar, Expression, bare_names, each_dollar};
use super::checked_values;
use super::expansion::{
    Expansion, expansions, is_all_words, is_length, is_one_expansion, is_unchanged, plain,
};
use super::flow::{Flow, any_command, assignments, children, each_command, own_words};
use super::json_arguments::{self, JsonArguments};
use super::option_loop::{is_option_loop, word_case};
use super::place::{ANY_WORD, Place, is_position, shift};
use super::tree::{self, Command, Item, Joint, Node};
use crate::scripts::reading::Evaluation;
use std::collections::{BTreeMap, BTreeSet};

/// How many substitutions may be inside each other.
const DEEPEST: usize = 6;

/// Programs that print their words, or parts of them.
const PRINTING: [&str; 10] =
    ["awk", "basename", "dirname", "echo", "expr", "jq", "print", "printf", "readlink", "realpath"];

pub(super) struct Evaluated<'f> {
    pub(super) flow: &'f Flow<'f>,
    declared: Declared,
    json: JsonArguments,
    /// Names of values: `1`, `@`, `COUNT`, and `f 1` and `f @` for the words of the function f, `f ()` for its output. What
    /// a script takes out of its arguments as JSON is called as [`json_arguments`] says.
    uses: BTreeMap<String, Use>,
    /// The same, besides the values that the script checks itself.
    unchecked: BTreeMap<String, Use>,
    /// Values that are compared with words that are no numbers.
    texts: BTreeSet<String>,
}

/// How a value is evaluated, and on which line; 0 if that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) evaluation: Evaluation,
    pub(super) line: usize,
}

impl<'f> Evaluated<'f> {
    pub(super) fn of(flow: &'f Flow<'f>, text: &str) -> Self {
        let mut declared = Declared::default();
        let first_line = text.lines().next().unwrap_or_default();
        declared.tests_evaluate =
            first_line.starts_with("#!") && (first_line.contains("zsh") || first_line.contains("ksh"));
        for items in flow.functions.values().copied().chain([&*flow.main]) {
            each_command(items, &mut |command| declared.note(command));
        }
        let json = JsonArguments::of(flow);
        let mut trace = Trace::new(flow, &declared, &json);
        trace.walk(&flow.main, &mut Place::default());
        for (name, body) in &flow.functions {
            trace.walk(body, &mut Place { function: Some(name), ..Place::default() });
        }
        let whole = |sources: &Vec<(String, bool)>| {
            sources.iter().filter(|(_, is_whole)| *is_whole).cloned().collect()
        };
        let whole: Edges = trace.edges.iter().map(|(name, sources)| (name.clone(), whole(sources))).collect();
        // A copy of a value is compared and checked for the value.
        let with_copies = |names: Vec<String>| -> BTreeSet<String> {
            let names = names.into_iter().map(|name| (name, Use { evaluation: Evaluation::Text, line: 0 }));
            spread(&whole, names.collect(), &BTreeSet::new()).into_keys().collect()
        };
        let texts = with_copies(trace.texts);
        let checked = with_copies(trace.checked);
        let uses = spread(&trace.edges, trace.sinks.clone(), &BTreeSet::new());
        let unchecked = spread(&trace.edges, trace.sinks, &checked);
        Self { flow, declared, json, uses, unchecked, texts }
    }

    /// How values are evaluated that the script does not check before, by their names.
    pub(super) fn unchecked(&self) -> BTreeMap<String, Use> {
        let with_texts = |(name, found): (&String, &Use)| {
            let evaluation = self.as_text(name, found.evaluation);
            (name.clone(), Use { evaluation, ..*found })
        };
        self.unchecked.iter().map(with_texts).collect()
    }

    fn as_text(&self, name: &str, evaluation: Evaluation) -> Evaluation {
        let is_text = evaluation == Evaluation::Number && self.texts.contains(name);
        if is_text { Evaluation::Text } else { evaluation }
    }

    /// How a value is evaluated; `None` if it is not.
    pub(super) fn use_of(&self, name: &str) -> Option<Evaluation> {
        self.uses.get(name).map(|found| self.as_text(name, found.evaluation))
    }

    /// How some commands evaluate the word that an option loop has at hand.
    pub(super) fn use_in(&self, items: &[Item], holder: &str) -> Option<Evaluation> {
        let mut trace = Trace::new(self.flow, &self.declared, &self.json);
        trace.walk(items, &mut Place::default());
        let is_word = |name: &str| name == holder || name == "OPTARG" || is_position(name);
        let direct = trace.sinks.iter().filter(|(name, _)| is_word(name)).map(|(_, found)| found.evaluation);
        let assigned = trace.edges.iter().filter_map(|(name, sources)| {
            let evaluation = self.use_of(name)?;
            let found = sources.iter().filter(|(source, _)| is_word(source));
            found.map(|(_, is_whole)| through(evaluation, *is_whole)).max()
        });
        direct.chain(assigned).max()
    }
}

type Edges = BTreeMap<String, Vec<(String, bool)>>;

/// The use of all values that reach these, besides through some others.
fn spread(edges: &Edges, sinks: Vec<(String, Use)>, others: &BTreeSet<String>) -> BTreeMap<String, Use> {
    let mut uses: BTreeMap<String, Use> = BTreeMap::new();
    let mut waiting = sinks;
    // The first line of several is named.
    waiting.reverse();
    while let Some((name, found)) = waiting.pop() {
        let is_known = uses.get(&name).is_some_and(|known| known.evaluation >= found.evaluation);
        if is_known || others.contains(&name) {
            continue;
        }
        for (source, is_whole) in edges.get(&name).into_iter().flatten() {
            let evaluation = through(found.evaluation, *is_whole);
            waiting.push((source.clone(), Use { evaluation, ..found }));
        }
        uses.insert(name, found);
    }
    uses
}

/// The use of a value that is all or a part of another one.
fn through(evaluation: Evaluation, is_whole: bool) -> Evaluation {
    if is_whole { evaluation } else { evaluation.max(Evaluation::Part) }
}

struct Trace<'t> {
    flow: &'t Flow<'t>,
    declared: &'t Declared,
    json: &'t JsonArguments,
    sinks: Vec<(String, Use)>,
    /// The values that each value is made of, and whether it is nothing else.
    edges: Edges,
    texts: Vec<String>,
    /// Values that the script checks.
    checked: Vec<String>,
    /// The line of the command at hand, and the number of lines before the text that it is in.
    line: usize,
    lines_before: usize,
    /// Whether the command at hand reads something else than the input of the script.
    is_fed: bool,
}

impl<'t> Trace<'t> {
    fn new(flow: &'t Flow<'t>, declared: &'t Declared, json: &'t JsonArguments) -> Self {
        Self {
            flow,
            declared,
            json,
            sinks: Vec::new(),
            edges: Edges::new(),
            texts: Vec::new(),
            checked: Vec::new(),
            line: 0,
            lines_before: 0,
            is_fed: false,
        }
    }

    fn walk(&mut self, items: &[Item], place: &mut Place<'_>) {
        let mut piped: Vec<(String, bool)> = Vec::new();
        let mut first = 0;
        let was_fed = self.is_fed;
        // The input of a loop or a block.
        let whole_input = match items {
            [_, Item { node: Node::Command(input), .. }] if input.words.is_empty() => Some(input),
            _ => None,
        };
        for (index, item) in items.iter().enumerate() {
            let one = std::slice::from_ref(item);
            self.is_fed = was_fed || whole_input.is_some() || item.joint == Joint::Pipe;
            if item.joint == Joint::Pipe {
                self.read(one, &piped);
                if checked_values::is_filter(item) {
                    self.checked.extend(piped.iter().map(|(name, _)| name.clone()));
                }
            } else {
                piped.clear();
                first = index;
            }
            let is_own = place.function.is_none() && !was_fed && whole_input.is_none();
            let members = self.json.printed(&items[first..=index], is_own);
            if let Some(function) = place.function.filter(|_| is_end_of_pipe(items, index)) {
                for (member, is_whole) in &members {
                    self.edge(&format!("{function} ()"), Some(member.clone()), *is_whole);
                }
            }
            piped.extend(members);
            piped.extend(self.printed_by(one, place, 0));
            let checked = checked_values::of(self.flow, items, index);
            self.checked.extend(checked.into_iter().filter_map(|name| place.name(name)));
            self.node(&item.node, place);
        }
        self.is_fed = was_fed;
        if let Some(input) = whole_input {
            let sources = self.input(input, place);
            self.read(&items[..1], &sources);
        }
    }

    /// Whether a command reads the input of the script.
    fn own_input(&self, place: &Place<'_>, is_fed: bool) -> bool {
        place.function.is_none() && !is_fed && !self.is_fed
    }

    /// Enters that some commands read these values.
    fn read(&mut self, items: &[Item], sources: &[(String, bool)]) {
        each_command(items, &mut |command| {
            for name in read_names(command) {
                for (source, _) in sources {
                    self.edge(name, Some(source.clone()), false);
                }
            }
        });
    }

    fn node(&mut self, node: &Node, place: &mut Place<'_>) {
        match node {
            Node::Command(command) => {
                self.command(command, place, 0);
                shift(command, place);
            }
            Node::Block(items) => self.walk(items, place),
            Node::Function { .. } => {}
            _ => self.branches(node, place),
        }
    }

    fn branches(&mut self, node: &Node, place: &mut Place<'_>) {
        let mut inside = place.clone();
        let is_loop = place.function.is_none() && is_option_loop(node);
        if is_loop {
            inside.holder = Some(word_case(node).map_or_else(|| "OPTARG".to_owned(), |case| case.holder));
        }
        match node {
            Node::Case { subject, arms, line } => {
                self.line = *line;
                inside.is_arm |= inside.holder.is_some();
                self.word(subject, place);
                let patterns = arms.iter().flat_map(|arm| &arm.patterns).filter_map(|pattern| plain(pattern));
                if patterns.into_iter().any(|pattern| is_text(&pattern)) {
                    self.compared(subject, place);
                }
            }
            Node::For { variable, words, line, .. } => match words {
                None => self.edge(variable, place.name(ANY_WORD), true),
                Some(words) => {
                    self.line = *line;
                    for word in words {
                        self.word(word, place);
                        self.assigned(variable, word, place);
                    }
                }
            },
            Node::While { body, .. } => {
                inside.is_loose |= any_command(body, &mut |command| {
                    own_words(command).first().is_some_and(|word| word == "shift")
                });
            }
            _ => {}
        }
        for items in children(node) {
            let mut branch = inside.clone();
            self.walk(items, &mut branch);
            // In the script itself, a word that a branch shifts is an option, which comes before the others.
            place.is_loose |= place.function.is_some() && (branch.is_loose || branch.shift != inside.shift);
        }
        if is_loop {
            place.shift = 0;
        }
    }

    fn command(&mut self, command: &Command, place: &Place<'_>, depth: usize) {
        if command.line > 0 {
            self.line = self.lines_before + command.line;
        }
        for expression in self.declared.expressions(command) {
            self.expression(&expression, place);
        }
        for (name, _, value) in assignments(command) {
            self.assigned(name, value, place);
        }
        let input = self.input(command, place);
        for name in read_names(command) {
            for (source, _) in &input {
                self.edge(name, Some(source.clone()), false);
            }
        }
        if self.own_input(place, depth > 0 || !input.is_empty() || !command.redirections.is_empty()) {
            for name in read_names(command) {
                self.edge(name, Some(json_arguments::INPUT.to_owned()), false);
            }
        }
        self.replaced(command, place);
        self.call(command, place);
        self.output(command, place);
        self.comparison(command, place);
        let before = (self.line, self.lines_before);
        let words = command.words.iter().chain(command.redirections.iter().map(|(_, target)| target));
        for word in words.chain(&command.here_document) {
            self.lines_before = before.0.saturating_sub(1);
            each_inner(word, depth, &mut |inner| self.command(inner, place, depth + 1));
        }
        if let Some(items) =
            arithmetic::quoted_code(command).filter(|_| depth < DEEPEST).and_then(|text| tree::parse(&text))
        {
            each_command(&items, &mut |inner| self.command(inner, place, depth + 1));
        }
        (self.line, self.lines_before) = before;
    }

    /// The expressions in a word that belongs to no command.
    fn word(&mut self, word: &str, place: &Place<'_>) {
        let mut found = Vec::new();
        self.declared.of_word(word, &mut found);
        for expression in found {
            self.expression(&expression, place);
        }
        each_inner(word, 0, &mut |inner| self.command(inner, place, 1));
    }

    fn expression(&mut self, expression: &Expression, place: &Place<'_>) {
        let (text, evaluation) = match expression {
            Expression::Number(text) => (text, Evaluation::Number),
            Expression::Name(text) => (text, Evaluation::Name),
        };
        for (name, is_whole) in self.sources(text, place, 0) {
            // Each value of an expression is a number of its own.
            let evaluation = through(evaluation, is_whole);
            self.sinks.push((name, Use { evaluation, line: self.line }));
        }
        if evaluation == Evaluation::Number {
            let names = bare_names(text).into_iter().filter_map(|name| place.name(name));
            let line = self.line;
            self.sinks.extend(names.map(|name| (name, Use { evaluation, line })));
        }
    }

    /// The values in a text, and whether each is there as it is.
    fn sources(&self, text: &str, place: &Place<'_>, depth: usize) -> Vec<(String, bool)> {
        let is_value = |found: &Expansion<'_>| {
            !found.is_inner && !is_length(text, found) && !checked_values::is_cut_to_digits(found.rest)
        };
        let own = expansions(text).into_iter().filter(is_value);
        let mut all: Vec<(String, bool)> =
            own.filter_map(|found| Some((place.name(found.name)?, is_unchanged(found.rest)))).collect();
        each_dollar(text, false, &mut |dollar| {
            let Dollar::Command(inner) = dollar else { return };
            all.extend(self.printed(inner, place, depth));
        });
        all
    }

    /// The values that the commands of a substitution print.
    fn printed(&self, text: &str, place: &Place<'_>, depth: usize) -> Vec<(String, bool)> {
        if let Some(items) = tree::parse(text).filter(|_| depth < DEEPEST) {
            let mut all = self.printed_by(&items, place, depth);
            all.extend(self.json.printed(&items, self.own_input(place, false)));
            return all;
        }
        let names = expansions(text).into_iter().filter_map(|found| place.name(found.name));
        names.map(|name| (name, false)).collect()
    }

    fn printed_by(&self, items: &[Item], place: &Place<'_>, depth: usize) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        let mut counts = false;
        each_command(items, &mut |command| {
            let words = own_words(command);
            let first = words.first().map_or("", String::as_str);
            counts |= first == "wc" || checked_values::prints_number(words);
            if self.flow.functions.contains_key(first) {
                all.push((format!("{first} ()"), words.len() == command.words.len()));
            }
            let strings = command.redirections.iter().filter(|(operator, _)| operator == "<<<");
            let printed = words.iter().skip(1).filter(|_| PRINTING.contains(&first));
            for word in strings.map(|(_, target)| target).chain(printed).chain(&command.here_document) {
                let sources = self.sources(word, place, depth + 1);
                all.extend(sources.into_iter().map(|(name, _)| (name, false)));
            }
        });
        if counts { Vec::new() } else { all }
    }

    fn edge(&mut self, name: &str, source: Option<String>, is_whole: bool) {
        if let Some(source) = source {
            self.edges.entry(name.to_owned()).or_default().push((source, is_whole));
        }
    }

    fn assigned(&mut self, name: &str, value: &str, place: &Place<'_>) {
        // `(a b)` is a list of values.
        let list = value.strip_prefix('(').and_then(|value| value.strip_suffix(')'));
        let sources = self.sources(list.unwrap_or(value), place, 0);
        let is_alone = is_one_expansion(list.unwrap_or(value));
        for (source, is_unchanged) in sources {
            self.edge(name, Some(source), is_unchanged && is_alone);
        }
    }

    /// The values in the text that a command reads: `<<< "$1"`, `< <(echo "$1")`, a here-document.
    fn input(&self, command: &Command, place: &Place<'_>) -> Vec<(String, bool)> {
        let texts = command
            .redirections
            .iter()
            .filter(|(operator, target)| operator == "<<<" || operator == "<" && target.starts_with("<("));
        let texts = texts.map(|(_, target)| target).chain(&command.here_document);
        texts.flat_map(|text| self.sources(text, place, 0)).collect()
    }

    /// `set -- $1` makes words of a value.
    fn replaced(&mut self, command: &Command, place: &Place<'_>) {
        let ["set", "--", words @ ..] = &*own_words(command).iter().map(String::as_str).collect::<Vec<_>>()
        else {
            return;
        };
        let sources: Vec<_> = words.iter().flat_map(|word| self.sources(word, place, 0)).collect();
        for name in ["1", "2", "3", "4", "5", "6", "7", "8", "9", ANY_WORD] {
            let Some(name) = place.name(name) else { continue };
            for (source, _) in &sources {
                self.edge(&name, Some(source.clone()), false);
            }
        }
    }

    /// A call of a function: its words are those of the function.
    fn call(&mut self, command: &Command, place: &Place<'_>) {
        let words = own_words(command);
        let Some(function) = words.first().filter(|name| self.flow.functions.contains_key(&***name)) else {
            return;
        };
        for (index, word) in words.iter().enumerate().skip(1) {
            let is_alone = is_one_expansion(word);
            for (source, is_unchanged) in self.sources(word, place, 0) {
                let is_whole = is_unchanged && is_alone;
                self.edge(&format!("{function} {ANY_WORD}"), Some(source.clone()), is_whole);
                let last = if is_all_words(word) { 9 } else { index };
                for number in index..=last.max(index) {
                    // The first of all words is the word at this place, the second the next one.
                    let is_exact = matches!(word.trim_matches('"'), "$@" | "$*" | "${@}" | "${*}");
                    let one = (number + 1 - index).to_string();
                    let source = if is_exact { place.name(&one) } else { Some(source.clone()) };
                    self.edge(&format!("{function} {number}"), source, is_whole);
                }
            }
        }
    }

    /// What a function prints.
    fn output(&mut self, command: &Command, place: &Place<'_>) {
        let Some(function) = place.function else { return };
        let words = own_words(command);
        let first = words.first().map_or("", String::as_str);
        let is_elsewhere =
            command.redirections.iter().any(|(operator, target)| operator.contains('>') && target != "&1");
        if is_elsewhere {
            return;
        }
        let name = format!("{function} ()");
        if self.flow.functions.contains_key(first) {
            self.edge(&name, Some(format!("{first} ()")), true);
        }
        let printed = words.iter().skip(1).filter(|_| PRINTING.contains(&first));
        for word in printed.chain(&command.here_document) {
            let is_alone = is_one_expansion(word);
            for (source, is_unchanged) in self.sources(word, place, 0) {
                self.edge(&name, Some(source), is_unchanged && is_alone);
            }
        }
    }

    /// Notes values that a test compares with a word that is no number.
    fn comparison(&mut self, command: &Command, place: &Place<'_>) {
        let text = command.words.join(" ");
        let is_test = text.starts_with('[') || text.starts_with("test ");
        let words: Vec<&str> = text.split_whitespace().filter(|_| is_test).collect();
        for three in words.windows(3) {
            if let [left, "=" | "==" | "!=", right] = three
                && plain(right).is_some_and(|right| is_text(&right))
            {
                self.compared(left, place);
            }
        }
    }

    fn compared(&mut self, word: &str, place: &Place<'_>) {
        if is_one_expansion(word) {
            let names = expansions(word)
                .into_iter()
                .filter(|found| is_unchanged(found.rest) && !is_length(word, found));
            self.texts.extend(names.filter_map(|found| place.name(found.name)));
        }
    }
}

/// The variables that a command sets to what it reads.
fn read_names(command: &Command) -> &[String] {
    match own_words(command).split_first() {
        Some((first, names)) if matches!(&**first, "read" | "mapfile" | "readarray") => names,
        _ => &[],
    }
}

/// The commands inside the substitutions of a word.
fn each_inner(word: &str, depth: usize, visit: &mut dyn FnMut(&Command)) {
    if depth >= DEEPEST {
        return;
    }
    each_dollar(word, false, &mut |dollar| match dollar {
        Dollar::Command(text) => {
            if let Some(items) = tree::parse(text) {
                each_command(&items, visit);
            }
        }
        Dollar::Number(text) | Dollar::Braces(text) => each_inner(text, depth + 1, visit),
    });
}

/// Whether a word cannot be a number, and is neither an option nor a pattern nor what asks for help.
fn is_text(word: &str) -> bool {
    let is_plain =
        word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/'));
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    is_plain && !is_number && !word.starts_with('-') && !matches!(word, "help" | "version" | "usage")
}

/// Whether an item prints to where its list does, and not into a pipe.
fn is_end_of_pipe(items: &[Item], index: usize) -> bool {
    items.get(index + 1).is_none_or(|next| next.joint != Joint::Pipe)
}
