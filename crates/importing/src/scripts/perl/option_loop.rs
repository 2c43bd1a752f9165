//! Loops over `@ARGV` that compare each word: `while ($_ = shift @ARGV) { if (/^--name=(.*)$/) … }`.

use super::code::{branch, depths, end_of_block, first_part, last_part, last_variable, shifts, words_at};
use super::pattern;
use super::words::Words;
use crate::argument::ArgumentKind;
use crate::scripts::reading::{ScriptOption, ScriptReading, UNREAD_OPTIONS, ValueForm};

/// As many loops over the words as are read.
const MOST_LOOPS: usize = 10;

/// As many conditions in a loop as are read.
const MOST_CONDITIONS: usize = 300;

/// Reads all loops that look for options. Returns the code without them, and the words that they keep.
pub(super) fn read(code: &str, reading: &mut ScriptReading) -> Option<(String, Words)> {
    let mut rest = String::new();
    let mut words = Words::default();
    let (mut at, mut count) = (0, 0);
    let mut starts: Vec<usize> =
        ["while", "until", "for", "foreach"].iter().flat_map(|word| words_at(code, word)).collect();
    starts.sort_unstable();
    for start in starts {
        if start < at {
            continue;
        }
        let Some(open) = block_after(&code[start..]) else { continue };
        let (header, body) = (&code[start..start + open], &code[start + open + 1..]);
        let body = &body[..end_of_block(body)];
        let Some(subject) = subject(header, body) else { continue };
        count += 1;
        if count > MOST_LOOPS {
            reading.doubt(UNREAD_OPTIONS);
            break;
        }
        if !(Loop { subject, body }).read(reading, &mut words) {
            continue;
        }
        rest.push_str(&code[at..start]);
        at = start + open + 1 + body.len();
    }
    (at > 0).then(|| (rest + &code[at..], words))
}

/// Where the block after a condition in parentheses begins.
fn block_after(text: &str) -> Option<usize> {
    let text = first_part(text);
    let is_block = |(index, _): &(usize, &str)| text[..*index].trim_end().ends_with(')');
    let index = text.match_indices('{').find(is_block)?.0;
    (!text[..index].contains(';')).then_some(index)
}

/// The words that `s/--name=//` leaves the value of.
fn without_name(substitution: &str) -> Option<Vec<String>> {
    let (pattern, replacement) = substitution.split_once('/')?;
    let words = pattern::words(pattern).filter(|_| replacement.starts_with('/'))?;
    Some(words.into_iter().map(|word| format!("{word}{}", pattern::ANY)).collect())
}

/// How a loop names the word in its hands.
struct Subject<'c> {
    variable: &'c str,
    form: Form,
}

#[derive(PartialEq, Clone, Copy)]
enum Form {
    /// `foreach my $word (@ARGV)`: no word can be taken.
    Each,
    /// `$word = shift`
    Taken,
    /// `$ARGV[0]`, which is taken later.
    Front,
}

fn subject<'c>(header: &'c str, body: &'c str) -> Option<Subject<'c>> {
    if header.starts_with("for") {
        let (before, list) = header.split_once('(')?;
        let is_all = list.trim().trim_end_matches(')').trim() == "@ARGV";
        return is_all.then(|| Subject { variable: last_variable(before).unwrap_or("$_"), form: Form::Each });
    }
    let taken = |text: &'c str| {
        let index = shifts(text).into_iter().next()?;
        last_variable(text[..index].trim_end().strip_suffix('=')?)
    };
    let beginning = &body[..words_at(body, "if").next().unwrap_or(body.len())];
    if let Some(variable) = taken(header) {
        return Some(Subject { variable, form: Form::Taken });
    }
    if !header.contains("ARGV") {
        return None;
    }
    match taken(beginning) {
        Some(variable) => Some(Subject { variable, form: Form::Taken }),
        None => body.contains("$ARGV[0]").then_some(Subject { variable: "$ARGV[0]", form: Form::Front }),
    }
}

struct Loop<'c> {
    subject: Subject<'c>,
    body: &'c str,
}

/// What a condition compares the word with.
enum Test {
    /// The words, and whether it names each of them.
    Words(Vec<String>),
    Other,
    Unclear(String),
}

impl Loop<'_> {
    /// Whether it looks for options.
    fn read(&self, reading: &mut ScriptReading, words: &mut Words) -> bool {
        let mut is_found = false;
        // The body without the branches of options.
        let (mut others, mut end) = (String::new(), 0);
        let conditions = self.conditions();
        if conditions.len() == MOST_CONDITIONS {
            reading.doubt(UNREAD_OPTIONS);
        }
        for index in conditions {
            let rest = &self.body[index..];
            let before = self.body[..index].trim_end_matches("els").trim_end();
            let is_branch = before.is_empty() || before.ends_with(['{', '}', ';']);
            let (condition, branch, start) = if let Some(open) = block_after(rest).filter(|_| is_branch) {
                (&rest[..open], branch(&rest[open + 1..]), index + open + 1)
            } else {
                let statement = last_part(before).rsplit(['{', '}', ';']).next().unwrap_or_default();
                let condition = first_part(rest).split(';').next().unwrap_or_default();
                (condition, statement, before.len() - statement.len())
            };
            let mut names = Vec::new();
            let mut is_option = false;
            for atom in condition.split("||").flat_map(|part| part.split(" or ")) {
                match self.test(atom) {
                    Test::Words(found) => names.extend(found),
                    Test::Other => {}
                    Test::Unclear(what) => {
                        is_option = true;
                        reading.doubt(format!(
                            "it compares words with `{what}` in a way that is not understood"
                        ));
                    }
                }
            }
            is_option |= names
                .iter()
                .any(|name| name.trim_start_matches('-').len() > usize::from(name.contains(pattern::ANY)));
            is_found |= is_option || !names.is_empty();
            if is_option {
                self.options(&names, condition, branch, reading);
                others.push_str(self.body.get(end..start).unwrap_or_default());
                end = end.max(start + branch.len());
            } else if !names.is_empty() && !is_refusal(branch) && !looks_closer(branch) {
                reading.doubt("it takes a word that begins with `-` apart by itself");
            }
        }
        if is_found {
            others.push_str(&self.body[end..]);
            self.words(&others, words);
        }
        is_found
    }

    fn conditions(&self) -> Vec<usize> {
        let is_test = |index: &usize| {
            let before = &self.body[..*index];
            let before = before.strip_suffix("els").unwrap_or(before);
            !before
                .ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '@' | '%'))
        };
        let starts = self.body.match_indices("if").map(|(index, _)| index).filter(is_test);
        let starts = starts.filter(|index| self.body[index + 2..].starts_with([' ', '(', '\n', '\t']));
        starts.take(MOST_CONDITIONS).collect()
    }

    fn test(&self, atom: &str) -> Test {
        let atom = atom.trim().trim_start_matches("if").trim_start_matches([' ', '(', '\n', '\t']);
        let has_dash = ["'-", "\"-", "^-", "s/-"].iter().any(|dash| atom.contains(dash));
        let concerns = self.subject.variable == "$_" || atom.contains(self.subject.variable);
        if !has_dash || !concerns {
            return Test::Other;
        }
        let unclear = || Test::Unclear(atom.trim().trim_end_matches(')').chars().take(60).collect());
        let (atom, more) = atom.split_once("&&").or_else(|| atom.split_once(" and ")).unwrap_or((atom, ""));
        let is_shown = more.contains("ARGV") || more.is_empty();
        let compared = match atom.strip_prefix(self.subject.variable).map(str::trim_start) {
            Some(rest) => match rest.strip_prefix("eq") {
                Some(literal) => {
                    return if is_shown {
                        literal_word(literal).map_or_else(unclear, |word| Test::Words(vec![word]))
                    } else {
                        unclear()
                    };
                }
                None => match rest.strip_prefix("=~") {
                    Some(pattern) => pattern.trim_start(),
                    None => return unclear(),
                },
            },
            None if self.subject.variable == "$_" && !atom.starts_with(['$', '@']) => atom,
            None if atom.starts_with(['!', '-']) => return Test::Other,
            None => return if atom.contains(self.subject.variable) { unclear() } else { Test::Other },
        };
        let found = match compared.strip_prefix("s/") {
            Some(substitution) => without_name(substitution),
            None => delimited(compared).and_then(pattern::words),
        };
        let found = found.filter(|_| is_shown);
        found.map_or_else(unclear, Test::Words)
    }

    fn options(&self, names: &[String], condition: &str, branch: &str, reading: &mut ScriptReading) {
        let mut exact: Vec<String> = Vec::new();
        let mut joined: Vec<(String, Vec<String>)> = Vec::new();
        let keeps_rest = branch.contains("$'") || branch.contains("POSTMATCH");
        for name in names {
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (&**name, None),
            };
            let bare = name.split(pattern::ANY).next().unwrap_or_default();
            let dashes = bare.len() - bare.trim_start_matches('-').len();
            if !(1..=2).contains(&dashes) || bare.len() == dashes {
                if name.contains(pattern::ANY) && !is_refusal(branch) {
                    reading.doubt("it takes a word that begins with `-` apart by itself");
                }
                continue;
            }
            if !bare.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '?'))
            {
                reading.doubt(format!("the option `{bare}` is not clear"));
            } else if name.contains(pattern::ANY) || value.is_none() && keeps_rest {
                Self::attached(bare, reading);
            } else if let Some(value) = value {
                let choice = (!value.contains(pattern::ANY)).then(|| value.to_owned());
                match joined.iter_mut().find(|(known, _)| known == name) {
                    Some((_, choices)) => choices.extend(choice),
                    None => joined.push((name.to_owned(), choice.into_iter().collect())),
                }
            } else {
                exact.push(name.to_owned());
            }
        }
        for (name, choices) in joined {
            if exact.contains(&name) {
                exact.retain(|known| *known != name);
                reading.gap(format!("the value of `{name}` may be left out"));
            }
            let mut option = ScriptOption::with_value(vec![name], ValueForm::Joined);
            if condition.contains("(\\d+)") {
                option.kind = ArgumentKind::Integer;
            }
            add_choices(option, choices, reading);
        }
        if exact.is_empty() {
            return;
        }
        let takes = self.takes_next(&exact, branch, reading);
        let option = |names| {
            if takes {
                ScriptOption::with_value(names, ValueForm::NextWord)
            } else {
                ScriptOption::flag(names)
            }
        };
        if are_synonyms(&exact, branch, self.subject.variable) {
            reading.add(option(exact));
        } else {
            for name in exact {
                reading.add(option(vec![name]));
            }
        }
    }

    fn attached(name: &str, reading: &mut ScriptReading) {
        if name.starts_with("--") {
            return reading.gap(format!("options that begin with `{name}`"));
        }
        reading.add(ScriptOption::with_value(vec![name.to_owned()], ValueForm::Attached));
    }

    /// Whether the branch takes the next word as the value.
    fn takes_next(&self, names: &[String], branch: &str, reading: &mut ScriptReading) -> bool {
        let shifts = shifts(branch);
        let own = usize::from(self.subject.form == Form::Front);
        if self.subject.form == Form::Each && !shifts.is_empty() {
            reading.doubt(format!("whether `{}` takes a value is not clear", names[0]));
        }
        let is_always = shifts
            .iter()
            .zip(depths(branch, &shifts))
            .any(|(index, depth)| depth <= 0 || depth == 1 && branch[..*index].ends_with('{'));
        if shifts.len() > own && !is_always || shifts.len() > own + 1 {
            reading.doubt(format!("whether `{}` takes a value is not clear", names[0]));
        }
        shifts.len() > own || branch.contains("$ARGV[1]")
    }

    /// The words that are no options: `push @files, $word`, `$file = $word`.
    fn words(&self, others: &str, words: &mut Words) {
        let variable = self.subject.variable;
        for line in others.split(';') {
            let line = line.trim();
            let Some(index) = line.find(variable).filter(|index| {
                !line[index + variable.len()..]
                    .starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
            }) else {
                continue;
            };
            let before = line[..index].trim_end();
            let after = line[index + variable.len()..].trim_start();
            // `$seen{$word} = …` collects words as keys.
            let is_key = after.strip_prefix('}').is_some_and(|rest| {
                let rest = rest.trim_start();
                rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=~")
            });
            if let Some(name) = before.strip_suffix('{').filter(|_| is_key).and_then(last_variable) {
                words.list = Some(name[1..].to_owned());
                continue;
            }
            let has_end = after.is_empty()
                || after.starts_with(')')
                || after.starts_with("if")
                || after.starts_with("unless");
            if !has_end {
                continue;
            }
            if let Some(push) = words_at(before, "push").next() {
                let array = before[push + 4..].trim_start_matches(['(', ' ']).trim_end_matches([',', ' ']);
                words.list = Some(array.trim_start_matches(['@', '{', '$']).to_owned());
            } else if let Some(target) = before.strip_suffix('=')
                && let Some(name) = last_variable(target)
                && name.starts_with('$')
            {
                words.slots.push(name[1..].to_owned());
            } else if before.ends_with("} =") || before.ends_with("}=") {
                words.is_unclear = true;
            }
        }
        if self.subject.form == Form::Taken && others.contains("unshift") {
            words.is_unclear |= !others.contains("unshift @ARGV") && !others.contains("unshift(@ARGV");
        }
    }
}

/// Whether a branch for all other words with a dash only complains.
fn is_refusal(branch: &str) -> bool {
    const REFUSALS: [&str; 9] = ["die", "usage", "error", "warn(", "warn ", "exit", "nknown", "help", "fail"];
    REFUSALS.iter().any(|word| branch.contains(word))
}

/// Whether a branch for all words with a dash compares them again, or leaves the loop.
fn looks_closer(branch: &str) -> bool {
    branch.contains("if") || branch.contains("last") || branch.contains("return")
}

fn add_choices(option: ScriptOption, choices: Vec<String>, reading: &mut ScriptReading) {
    let name = &option.names[0];
    // `--percs=yes` and `--percs=no` may have branches of their own.
    if let Some(known) =
        reading.options.iter_mut().find(|known| known.names.contains(name) && known.value.is_some())
    {
        if let ArgumentKind::OneOf(all) = &mut known.kind {
            all.extend(choices);
        }
        return;
    }
    let kind = if choices.is_empty() { option.kind.clone() } else { ArgumentKind::OneOf(choices) };
    reading.add(ScriptOption { kind, ..option });
}

/// Whether names in one condition mean the same.
fn are_synonyms(names: &[String], branch: &str, variable: &str) -> bool {
    let long: Vec<&String> = names.iter().filter(|name| name.starts_with("--")).collect();
    let is_abbreviated =
        |name: &&String| long.iter().all(|other| other.starts_with(&***name) || name.starts_with(&**other));
    let looks_again = branch.contains("$1") || branch.contains(variable);
    long.iter().all(is_abbreviated) && (!looks_again || long.len() == 1 && names.len() == 2)
        || names.len() == 1
}

fn literal_word(text: &str) -> Option<String> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let rest = &text[1..];
    let word = &rest[..rest.find(quote)?];
    (!word.contains(['$', '@', '\\'])).then(|| word.to_owned())
}

/// The text of `/…/` or `m{…}`.
fn delimited(text: &str) -> Option<&str> {
    let text = text.strip_prefix('m').unwrap_or(text);
    let open = text.chars().next().filter(char::is_ascii_punctuation)?;
    let close = match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '$' | '\\' | '@' => return None,
        same => same,
    };
    let rest = &text[1..];
    let mut is_escaped = false;
    for (index, letter) in rest.char_indices() {
        if letter == close && !is_escaped {
            return (!holds_variable(&rest[..index])).then(|| &rest[..index]);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    None
}

/// Whether a pattern holds a variable: `$name`, `${name}`.
fn holds_variable(pattern: &str) -> bool {
    pattern.match_indices('$').any(|(index, _)| {
        pattern[index + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '_' | '{'))
    })
}
