//! Words of `@ARGV` besides options: assigned by position, taken with `shift`, or used as a list.

use super::code::{depths, first_part, last_part, last_variable, outside_of_functions, shifts, words_at};
use crate::argument::ArgumentKind;
use crate::help_text::HelpFacts;
use crate::scripts::reading::{ScriptPositional, ScriptReading};

/// As many places where a script uses its words as are looked at.
const MOST_USES: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Words {
    /// Words that have a place.
    pub(super) slots: Vec<String>,
    /// The name of a list that takes all others.
    pub(super) list: Option<String>,
    /// How many must be there, if the code says so.
    pub(super) least: Option<usize>,
    pub(super) is_unclear: bool,
}

impl Words {
    /// Adds what the code says outside of the loops that read options.
    pub(super) fn read(&mut self, code: &str) {
        // A copy that is made before the options are taken out is kept for later, and says nothing.
        let table = ["GetOptions(", "GetOptions (", "getopts("]
            .iter()
            .filter_map(|call| code.find(call))
            .min()
            .unwrap_or(0);
        let mut found = Self { is_unclear: code.matches("ARGV").count() > MOST_USES, ..Self::default() };
        for (index, _) in code.match_indices("ARGV").take(MOST_USES) {
            let (before, after) = (last_part(&code[..index]), first_part(&code[index + 4..]));
            if before.ends_with("$#")
                || before.ends_with('$') && !after.starts_with('[')
                || after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
            {
                continue;
            }
            if before.ends_with('$') {
                found.indexed(before, after);
            } else if let Some(before) = before.strip_suffix('@').map(str::trim_end)
                && (index > table || !before.ends_with('='))
            {
                found.whole(before, after.trim_start());
            }
        }
        if words_in_input(code) {
            found.list.get_or_insert_with(|| "files".to_owned());
        }
        found.shifted(code);
        if found.list.is_none() && self.list.is_none() {
            found.least = least(code);
        } else if !found.slots.is_empty() {
            // Places and a list of the same words.
            found.is_unclear |= found.list.is_some();
        }
        let both = !found.slots.is_empty() && !self.slots.is_empty();
        self.slots.append(&mut found.slots);
        self.list = self.list.take().or(found.list);
        self.least = self.least.or(found.least);
        self.is_unclear |= found.is_unclear || both;
    }

    /// `$ARGV[0]`
    fn indexed(&mut self, before: &str, after: &str) {
        let number = after[1..].split(']').next().unwrap_or_default();
        let Ok(number) = number.parse::<usize>() else {
            self.is_unclear = true;
            return;
        };
        let tested = after.split_once(']').map_or("", |(_, rest)| rest).trim_start();
        let line = tested.split([';', '{', '\n']).next().unwrap_or_default();
        if line.contains("'-") || line.contains("\"-") || line.contains("^-") || number > 8 {
            self.is_unclear = true;
            return;
        }
        while self.slots.len() <= number {
            self.slots.push(format!("arg{}", self.slots.len() + 1));
        }
        let target = before[..before.len() - 1]
            .trim_end()
            .strip_suffix('=')
            .map(|target| target.trim_end().trim_end_matches(')'));
        if let Some(name) = target.and_then(last_variable).filter(|name| name.starts_with('$')) {
            name[1..].clone_into(&mut self.slots[number]);
        }
    }

    /// `@ARGV`
    fn whole(&mut self, before: &str, after: &str) {
        let is_compared = ["==", "!=", "<", ">"].iter().any(|sign| after.starts_with(sign));
        let is_counted = before.ends_with("scalar")
            || before.ends_with("scalar(")
            || before.ends_with('!')
            || before.ends_with('+')
            || ["if", "unless", "not", "while", "until", "and", "or"]
                .iter()
                .any(|word| before.trim_end_matches(['(', ' ', '!']).ends_with(word));
        let ends_here = after.starts_with([';', ')'])
            || after.starts_with('\n')
            || after.starts_with("or ")
            || after.starts_with("if ")
            || after.starts_with("and ")
            || after.starts_with("&&");
        if before.ends_with("shift")
            || before.ends_with("shift(")
            || before.ends_with("shift (")
            || before.ends_with("qw")
            || before.ends_with("push")
            || before.ends_with("push(")
        {
            return;
        }
        // `@ARGV = …` changes the words.
        if after.starts_with('=') && !after.starts_with("==") {
            let is_known = after.contains("normalize_options")
                || after[1..].trim_start().starts_with("()")
                || after[1..].trim_start().starts_with("(\"-\")")
                || after[1..].trim_start().starts_with("('-')");
            self.is_unclear |= !is_known;
            return;
        }
        if is_compared || is_counted && ends_here || before.ends_with("args => \\") {
            return;
        }
        if let Some(target) = before.strip_suffix('=').map(str::trim_end) {
            if let Some(list) =
                target.strip_suffix(')').and_then(|list| list.rfind('(').map(|open| &list[open + 1..]))
            {
                for name in list.split(',').map(str::trim) {
                    match (name.strip_prefix('$'), name.strip_prefix('@')) {
                        (Some(name), _) => self.slots.push(name.to_owned()),
                        (None, Some(name)) => self.list = Some(name.to_owned()),
                        _ => self.is_unclear = true,
                    }
                }
                return;
            }
            match last_variable(target) {
                Some(name) if name.starts_with('@') => self.list = Some(name[1..].to_owned()),
                // A count.
                Some(_) => {}
                None => self.is_unclear = true,
            }
            return;
        }
        let line = before.rsplit([';', '{', '}']).next().unwrap_or_default();
        let is_loop = before.ends_with('(')
            && ["for", "foreach"].iter().any(|word| words_at(line, word).next().is_some());
        let is_pushed = words_at(line, "push").next().is_some() && before.ends_with(',');
        let is_mapped = ["map", "grep", "sort"]
            .iter()
            .any(|word| words_at(before.lines().next_back().unwrap_or_default(), word).next().is_some());
        if is_loop || is_pushed || is_mapped {
            self.list.get_or_insert_with(|| "args".to_owned());
        } else {
            self.is_unclear = true;
        }
    }

    /// `my $name = shift;` outside of functions.
    fn shifted(&mut self, code: &str) {
        let outside = outside_of_functions(code);
        let found = shifts(&outside);
        if found.is_empty() {
            self.is_unclear |= shifts(code).iter().any(|index| {
                code[index + 5..].trim_start().trim_start_matches('(').trim_start().starts_with("@ARGV")
            });
            return;
        }
        if !self.slots.is_empty() || found.len() > MOST_USES {
            self.is_unclear = true;
        }
        for (index, depth) in found.iter().zip(depths(&outside, &found)).take(MOST_USES) {
            let before = last_part(&outside[..*index]).trim_end().trim_end_matches('(').trim_end();
            let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
            let is_nested = line.contains(['{', '}']) || depth != 0;
            match before
                .strip_suffix('=')
                .and_then(|target| last_variable(target.trim_end().trim_end_matches(')')))
            {
                Some(name) if !is_nested => self.slots.push(name[1..].to_owned()),
                _ => self.is_unclear = true,
            }
        }
        // Words with a place, then all others.
        if let Some(list) = self.list.take() {
            self.list = Some(list);
            self.is_unclear = true;
        }
    }

    fn positionals(&self) -> Vec<ScriptPositional> {
        let least = self.least.unwrap_or(0);
        let slots = self.slots.iter().enumerate();
        let slots =
            slots.map(|(index, name)| ScriptPositional::new(name.clone(), ArgumentKind::Text, index < least));
        let list = self
            .list
            .iter()
            .map(|name| ScriptPositional::new(name.clone(), ArgumentKind::List(Vec::new()), false));
        slots.chain(list).collect()
    }

    /// Whether a usage text knows more about the words than the code shows.
    pub(super) fn leaves_to(&self, usage: &HelpFacts) -> bool {
        let shows = !self.is_unclear && (!self.slots.is_empty() || self.list.is_some());
        !usage.is_unclear && (!usage.words.is_empty() || !shows)
    }

    /// Adds the words to a reading. Names come from the usage text if it agrees.
    pub(super) fn add(self, usage: Option<&HelpFacts>, reading: &mut ScriptReading) {
        let clear = usage.filter(|facts| !facts.is_unclear);
        let agrees = clear.is_some_and(|facts| {
            let slots = facts.words.iter().filter(|word| !word.is_list).count();
            self.list.is_some() || slots == self.slots.len() && slots == facts.words.len()
        });
        if self.is_unclear && clear.is_none_or(|facts| facts.words.is_empty()) {
            return take_one_list(clear, reading);
        }
        if !self.is_unclear && clear.is_some() && !agrees {
            reading.doubt("which words it takes besides its options is not clear");
        } else if self.slots.len() > 1 && self.least.is_none() && !agrees {
            reading.doubt("which of its words it requires is not clear");
        }
        reading.positionals = match clear {
            Some(facts) if !facts.words.is_empty() => {
                facts.words.iter().map(crate::scripts::usage::positional).collect()
            }
            _ => self.positionals(),
        };
    }
}

/// Takes all words as one list. It may be one too many if a usage text names no words.
pub(super) fn take_one_list(usage: Option<&HelpFacts>, reading: &mut ScriptReading) {
    reading.take_one_list();
    if usage.is_some() {
        reading.doubt("it reads words besides its options, and its usage text names none");
    }
}

/// Whether `<>` reads the files that the words name.
fn words_in_input(code: &str) -> bool {
    code.contains("<>") || code.contains("<ARGV>")
}

/// How many words the code insists on: `die unless @ARGV == 2`, `usage() if @ARGV < 1`.
fn least(code: &str) -> Option<usize> {
    let mut least = None;
    for (index, _) in code.match_indices("@ARGV").take(MOST_USES) {
        let after = first_part(&code[index + 5..]).trim_start();
        let number = |sign: &str| {
            let rest = after.strip_prefix(sign)?.trim_start();
            rest[..rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())]
                .parse::<usize>()
                .ok()
        };
        let line = last_part(&code[..index]).rsplit([';', '{', '}']).next().unwrap_or_default();
        let is_unless = line.contains("unless") || line.contains("not ");
        let found = if is_unless {
            number("==").or_else(|| number(">=")).or(after.starts_with([';', ')']).then_some(1))
        } else {
            number("!=").or_else(|| number("<=").map(|most| most.saturating_add(1))).or_else(|| number("<"))
        };
        // `if (@ARGV >= 1)` uses a word that need not be there.
        let is_optional = line.contains("if") && (number(">=").is_some() || number(">") == Some(0));
        least = least.or(found).or(is_optional.then_some(0));
    }
    least
}
