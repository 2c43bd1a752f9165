//! The names of functions and macros: how they are called, and with how many arguments.

use crate::tree::{Function, Macro, TimePart};
use std::ops::RangeInclusive;

pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    /// The number of arguments as `f(…)`, if it may be called so.
    pub(crate) global: Option<RangeInclusive<usize>>,
    /// The number of arguments as `x.f(…)`, without `x`.
    pub(crate) member: Option<RangeInclusive<usize>>,
    pub(crate) usage: &'static str,
}

const fn global(name: &'static str, function: Function, usage: &'static str) -> Signature {
    Signature { name, function, global: Some(1..=1), member: None, usage }
}

const fn member(
    name: &'static str,
    function: Function,
    arguments: RangeInclusive<usize>,
    usage: &'static str,
) -> Signature {
    Signature { name, function, global: None, member: Some(arguments), usage }
}

const fn time(name: &'static str, part: TimePart, usage: &'static str) -> Signature {
    member(name, Function::Time(part), 0..=1, usage)
}

pub(crate) const FUNCTIONS: &[Signature] = &[
    Signature {
        name: "size",
        function: Function::Size,
        global: Some(1..=1),
        member: Some(0..=0),
        usage: "size(x) or x.size()",
    },
    Signature {
        name: "matches",
        function: Function::Matches,
        global: Some(2..=2),
        member: Some(1..=1),
        usage: "text.matches(pattern)",
    },
    member("contains", Function::Contains, 1..=1, "text.contains(part)"),
    member("startsWith", Function::StartsWith, 1..=1, "text.startsWith(start)"),
    member("endsWith", Function::EndsWith, 1..=1, "text.endsWith(end)"),
    member("lowerAscii", Function::LowerAscii, 0..=0, "text.lowerAscii()"),
    member("upperAscii", Function::UpperAscii, 0..=0, "text.upperAscii()"),
    member("trim", Function::Trim, 0..=0, "text.trim()"),
    member("split", Function::Split, 1..=2, "text.split(separator[, limit])"),
    member("join", Function::Join, 0..=1, "list.join([separator])"),
    member("replace", Function::Replace, 2..=3, "text.replace(old, new[, limit])"),
    member("indexOf", Function::IndexOf, 1..=2, "text.indexOf(part[, start])"),
    member("substring", Function::Substring, 1..=2, "text.substring(start[, end])"),
    global("string", Function::ToString, "string(x)"),
    global("int", Function::ToInt, "int(x)"),
    global("uint", Function::ToUint, "uint(x)"),
    global("double", Function::ToDouble, "double(x)"),
    global("bytes", Function::ToBytes, "bytes(x)"),
    global("bool", Function::ToBool, "bool(x)"),
    global("timestamp", Function::ToTimestamp, "timestamp(text)"),
    global("duration", Function::ToDuration, "duration(text)"),
    global("type", Function::TypeOf, "type(x)"),
    global("dyn", Function::Dyn, "dyn(x)"),
    time("getFullYear", TimePart::FullYear, "time.getFullYear([zone])"),
    time("getMonth", TimePart::Month, "time.getMonth([zone])"),
    time("getDayOfMonth", TimePart::DayOfMonth, "time.getDayOfMonth([zone])"),
    time("getDate", TimePart::Date, "time.getDate([zone])"),
    time("getDayOfWeek", TimePart::DayOfWeek, "time.getDayOfWeek([zone])"),
    time("getDayOfYear", TimePart::DayOfYear, "time.getDayOfYear([zone])"),
    time("getHours", TimePart::Hours, "time.getHours([zone])"),
    time("getMinutes", TimePart::Minutes, "time.getMinutes([zone])"),
    time("getSeconds", TimePart::Seconds, "time.getSeconds([zone])"),
    time("getMilliseconds", TimePart::Milliseconds, "time.getMilliseconds([zone])"),
];

pub(crate) struct MacroSignature {
    pub(crate) name: &'static str,
    pub(crate) kind: Macro,
    pub(crate) arguments: RangeInclusive<usize>,
    pub(crate) usage: &'static str,
}

pub(crate) const MACROS: &[MacroSignature] = &[
    MacroSignature { name: "all", kind: Macro::All, arguments: 2..=2, usage: "list.all(x, condition)" },
    MacroSignature {
        name: "exists",
        kind: Macro::Exists,
        arguments: 2..=2,
        usage: "list.exists(x, condition)",
    },
    MacroSignature {
        name: "exists_one",
        kind: Macro::ExistsOne,
        arguments: 2..=2,
        usage: "list.exists_one(x, condition)",
    },
    MacroSignature {
        name: "map",
        kind: Macro::Map,
        arguments: 2..=3,
        usage: "list.map(x, [condition,] value)",
    },
    MacroSignature {
        name: "filter",
        kind: Macro::Filter,
        arguments: 2..=2,
        usage: "list.filter(x, condition)",
    },
];

/// Words that cannot be names, because other languages use them.
pub(crate) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_language_has_an_example_of_each() {
        let page = include_str!("../../../docs/cel.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.ends_with("| yes |")).collect();
        let names = FUNCTIONS.iter().map(|function| function.name).chain(MACROS.iter().map(|one| one.name));
        for name in names.chain(["has"]) {
            let is_used =
                |row: &&str| row.contains(&format!("`{name}`")) && row.contains(&format!("{name}("));
            assert!(rows.iter().any(is_used), "{name}");
        }
    }
}
