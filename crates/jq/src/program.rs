//! Compilation: turns the text of a program into a filter that can run.
//!
//! Only the definitions that a program needs are parsed and compiled, which keeps the start quick: most programs need a
//! handful.

use jaq_core::Filter;
use std::borrow::Cow;
use std::fmt::Write as _;

use jaq_core::compile::{Compiler, Undefined};
use jaq_core::load::lex::Token;
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Lexer, Loader, Parser};
use jaq_core::native::Fun;

use crate::calls::each_call;
use crate::definitions;
use crate::engine::FilterTypes;
use crate::natives;
use crate::numerals;
use crate::offset::offset_in;
use crate::rewrite::Rewriter;
use crate::tokens;

/// The name under which the program itself is compiled.
const MAIN: &str = "__program__";

/// What is wrong with a program, in the words of the message.
#[derive(Debug)]
pub(crate) struct ProgramError(pub(crate) String);

/// Compiles a program in which the named variables are known.
pub(crate) fn compile(code: &str, variables: &[String]) -> Result<Filter<FilterTypes>, ProgramError> {
    if code.trim_start().starts_with("import ") || code.trim_start().starts_with("include ") {
        return Err(ProgramError("jq: error: modules cannot be imported here\njq: 1 compile error\n".into()));
    }
    let joined = escapes_joined(code);
    let code = numerals::without_trailing_points(&joined);
    let code = &*numerals::without_leading_points(&code);
    let tokens = Lexer::new(code).lex().map_err(|errors| {
        let mut report = Report::new(code);
        for (expected, found) in errors {
            let found = found.char_indices().nth(1).map_or(found, |(end, _)| &found[..end]);
            report.add(
                &format!("syntax error, unexpected {}, expecting {}", shown(found), expected.as_str()),
                found,
            );
        }
        report.finish()
    })?;
    let mut own = Vec::new();
    tokens::find_names(&tokens, &mut own);
    let tokens = tokens::normalised(tokens);
    let body = Parser::new(&tokens).parse(Parser::term).map_err(|errors| {
        let mut report = Report::new(code);
        for (expected, found) in errors {
            let found = Token::opt_as_str(found, code);
            report.add(
                &format!("syntax error, unexpected {}, expecting {}", shown(found), expected.as_str()),
                found,
            );
        }
        report.finish()
    })?;

    let rewriter = Rewriter::new(code, own);
    let main = rewriter.definition(Def { name: MAIN, args: Vec::new(), body });
    let flaws = rewriter.flaws.into_inner();
    if !flaws.is_empty() {
        let mut report = Report::new(code);
        for (what, found) in flaws {
            report.add(&what, found);
        }
        return Err(report.finish());
    }
    let mut needs = Needs::default();
    needs.collect(&main);
    needs.definitions.push(main);

    let arena = Arena::default();
    let file = File { path: (), code: MAIN };
    let modules = Loader::new(needs.definitions)
        .load(&arena, file)
        .map_err(|_| ProgramError("jq: error: the program could not be loaded\n".into()))?;
    Compiler::default()
        .with_funs(needs.functions)
        .with_global_vars(variables.iter().map(String::as_str))
        .compile(modules)
        .map_err(|errors| {
            let mut report = Report::new(code);
            for (name, undefined) in errors.into_iter().flat_map(|(_, errors)| errors) {
                let what = match undefined {
                    Undefined::Filter(arity) => format!("{name}/{arity}"),
                    Undefined::Label => format!("$*label-{}", &name[1..]),
                    _ => name.to_owned(),
                };
                report.add(&format!("{what} is not defined"), name);
            }
            report.finish()
        })
}

/// The program with each pair of surrogate escapes replaced by its character, because the lexer knows only escapes that
/// are characters by themselves. A lone second half of a pair is replaced like invalid bytes.
fn escapes_joined(code: &str) -> Cow<'_, str> {
    let mut joined = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("\\u") {
        // A backslash that is escaped itself does not begin an escape.
        let before = code[..code.len() - rest.len() + at].bytes().rev().take_while(|byte| *byte == b'\\');
        let is_escape = before.count().is_multiple_of(2);
        let unit = |from| u16::from_str_radix(rest.get(from..from + 4)?, 16).ok().filter(|_| is_escape);
        let pair = unit(at + 2).zip(unit(at + 8).filter(|_| rest[at + 6..].starts_with("\\u")));
        let char = pair.and_then(|(high, low)| char::decode_utf16([high, low]).next()?.ok());
        let lone = matches!(unit(at + 2), Some(0xdc00..=0xdfff));
        let end = if let Some(char) = char.filter(|char| u32::from(*char) > 0xffff) {
            joined.push_str(&rest[..at]);
            joined.push(char);
            at + 12
        } else if lone {
            joined.push_str(&rest[..at]);
            joined.push_str("\\ufffd");
            at + 6
        } else {
            joined.push_str(&rest[..at + 2]);
            at + 2
        };
        rest = &rest[end..];
    }
    if joined.is_empty() { Cow::Borrowed(code) } else { Cow::Owned(joined + rest) }
}

/// The definitions and functions that a program needs, each after those it needs itself.
#[derive(Default)]
struct Needs<'s> {
    definitions: Vec<Def<&'s str>>,
    functions: Vec<Fun<FilterTypes>>,
    known: Vec<(&'s str, usize)>,
}

impl<'s> Needs<'s> {
    fn collect(&mut self, definition: &Def<&'s str>) {
        let mut calls = Vec::new();
        each_call(&definition.body, &mut |name, arity| calls.push((name, arity)));
        for (name, arity) in calls {
            if self.known.contains(&(name, arity)) {
                continue;
            }
            self.known.push((name, arity));
            if let Some(source) = definitions::find(name, arity) {
                let parsed = jaq_core::load::parse(source, |parser| parser.defs()).unwrap_or_default();
                for needed in parsed {
                    let needed = Rewriter::new(source, Vec::new()).definition(needed);
                    self.collect(&needed);
                    self.definitions.push(needed);
                }
            } else if let Some(function) = natives::find(name, arity) {
                self.functions.push(function);
            }
        }
    }
}

fn shown(found: &str) -> String {
    match found {
        "" => "end of file".into(),
        found => format!("'{}'", found.lines().next().unwrap_or_default()),
    }
}

/// Collects the problems of a program, and shows where they are.
struct Report<'c> {
    code: &'c str,
    text: String,
    count: usize,
}

impl<'c> Report<'c> {
    fn new(code: &'c str) -> Self {
        Self { code, text: String::new(), count: 0 }
    }

    fn add(&mut self, what: &str, found: &str) {
        let at = offset_in(self.code, found).unwrap_or(0);
        let before = &self.code[..at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let source = self.code[start..].lines().next().unwrap_or_default();
        let marked = found.lines().next().unwrap_or_default().chars().count().max(1);
        let _ = writeln!(
            self.text,
            "jq: error: {what} at <top-level>, line {line}, column {}:\n    {source}\n    {}{}",
            column + 1,
            " ".repeat(column),
            "^".repeat(marked),
        );
        self.count += 1;
    }

    fn finish(self) -> ProgramError {
        let plural = if self.count == 1 { "" } else { "s" };
        ProgramError(format!("{}jq: {} compile error{plural}\n", self.text, self.count))
    }
}
