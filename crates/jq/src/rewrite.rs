//! Rewriting: brings a parsed program into the form in which the interpreter does what jq does.
//!
//! The interpreter evaluates the left side of an operator first, has no choice of patterns, and updates values in its
//! own way. Here operators with several results on both sides get their right side bound first, as in jq; assignments
//! become calls that change a value along paths (`natives/paths.rs`); `reduce` and `foreach` continue with the last
//! result of an update; objects are built in one go.

use std::cell::RefCell;

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::{Opt, Part, Path};

use crate::calls::calls;
use crate::natives::{self, MEMBERS};
use crate::offset::offset_in;
use crate::tokens::CHOICE;

/// The name of a variable that no program can name.
const RIGHT: &str = "$ right";
const INPUT: &str = "$ input";
/// Names for the results inside a string or of arguments, of which there are rarely many.
const PARTS: [&str; 8] = ["$ 0", "$ 1", "$ 2", "$ 3", "$ 4", "$ 5", "$ 6", "$ 7"];
const COUNTS: [&str; MEMBERS + 1] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

pub(crate) struct Rewriter<'s> {
    /// The text of the program, for `$__loc__`.
    code: &'s str,
    /// The names of the program's own filters, which may have any number of results.
    own: Vec<&'s str>,
    /// Certain mistakes, and where in the text they are.
    pub(crate) flaws: RefCell<Vec<(String, &'s str)>>,
}

type T<'s> = Term<&'s str>;

impl<'s> Rewriter<'s> {
    pub(crate) fn new(code: &'s str, own: Vec<&'s str>) -> Self {
        Self { code, own, flaws: RefCell::default() }
    }

    pub(crate) fn definition(&self, definition: Def<&'s str>) -> Def<&'s str> {
        let Def { name, args, body } = definition;
        let mut body = self.term(body);
        // A parameter `$name` can also be called as `name`.
        for variable in args.iter().rev().copied().filter(|arg| arg.starts_with('$')) {
            if calls(&body, &variable[1..]) {
                let alias = Def { name: &variable[1..], args: Vec::new(), body: Term::Var(variable) };
                body = Term::Def(vec![alias], Box::new(body));
            }
        }
        Def { name, args, body }
    }

    #[expect(clippy::boxed_local, reason = "what comes in a box goes on in one")]
    fn boxed(&self, term: Box<T<'s>>) -> Box<T<'s>> {
        Box::new(self.term(*term))
    }

    fn terms(&self, terms: Vec<T<'s>>) -> Vec<T<'s>> {
        terms.into_iter().map(|term| self.term(term)).collect()
    }

    pub(crate) fn term(&self, term: T<'s>) -> T<'s> {
        match term {
            Term::Var(name) if name == "$__loc__" => self.location(name),
            Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) => term,
            Term::Str(format, parts) => self.string(format, parts),
            Term::Arr(items) => Term::Arr(items.map(|items| self.boxed(items))),
            Term::Obj(members) => self.object(members),
            Term::Neg(term) => Term::Neg(self.boxed(term)),
            Term::BinOp(left, operator, right) => self.operation(*left, operator, *right),
            Term::Label(name, body) => Term::Label(name, self.boxed(body)),
            Term::Fold(name, source, pattern, arguments) => self.fold(name, *source, pattern, arguments),
            Term::TryCatch(body, handler) => {
                Term::TryCatch(self.boxed(body), handler.map(|handler| self.boxed(handler)))
            }
            Term::IfThenElse(cases, otherwise) => Term::IfThenElse(
                cases.into_iter().map(|(test, then)| (self.term(test), self.term(then))).collect(),
                otherwise.map(|otherwise| self.boxed(otherwise)),
            ),
            Term::Def(definitions, body) => Term::Def(
                definitions.into_iter().map(|definition| self.definition(definition)).collect(),
                self.boxed(body),
            ),
            Term::Call(name, arguments) if name.starts_with('@') && !natives::is_function(name, 0) => {
                let message = vec![StrPart::Str(&name[1..]), StrPart::Str(" is not a valid format")];
                debug_assert!(arguments.is_empty());
                Term::Call("error", vec![Term::Str(None, message)])
            }
            Term::Call(name, arguments) => self.call(name, arguments),
            Term::Path(base, path) => {
                let parts = path.0.into_iter().map(|(part, opt)| (self.part(part), opt));
                Term::Path(self.boxed(base), Path(parts.collect()))
            }
        }
    }

    /// A call, in which the last argument varies slowest.
    fn call(&self, name: &'s str, arguments: Vec<T<'s>>) -> T<'s> {
        let varying = arguments.iter().filter(|argument| self.may_vary(argument)).count();
        if !(2..=PARTS.len()).contains(&varying)
            || name.starts_with('_')
            || !self.is_function(name, arguments.len())
        {
            return Term::Call(name, self.terms(arguments));
        }
        let arguments = arguments.into_iter().zip(PARTS).map(|(argument, part)| (part, self.term(argument)));
        let (names, arguments): (Vec<_>, Vec<_>) = arguments.unzip();
        let call = Term::Call(name, names.iter().map(|name| Term::Var(*name)).collect());
        names.into_iter().zip(arguments).fold(call, |body, (name, argument)| bind(argument, name, body))
    }

    fn part(&self, part: Part<T<'s>>) -> Part<T<'s>> {
        match part {
            Part::Index(index) => Part::Index(self.term(index)),
            Part::Range(from, to) => {
                Part::Range(from.map(|from| self.term(from)), to.map(|to| self.term(to)))
            }
        }
    }

    fn operation(&self, left: T<'s>, operator: BinaryOp<&'s str>, right: T<'s>) -> T<'s> {
        match operator {
            BinaryOp::Pipe(Some(pattern)) => self.binding(left, pattern, right),
            BinaryOp::Comma => self.list(left, right),
            BinaryOp::Math(_) | BinaryOp::Cmp(_) if self.may_vary(&right) && self.may_vary(&left) => {
                let operation = binary(self.term(left), operator, Term::Var(RIGHT));
                bind(self.term(right), RIGHT, operation)
            }
            BinaryOp::Update => Term::Call("_modify", vec![self.term(left), self.term(right)]),
            BinaryOp::Assign => Term::Call("_assign", vec![self.term(right), self.term(left)]),
            BinaryOp::UpdateMath(operator) => self.update(left, BinaryOp::Math(operator), right),
            BinaryOp::UpdateAlt => self.update(left, BinaryOp::Alt, right),
            operator => binary(self.term(left), operator, self.term(right)),
        }
    }

    /// `a, b, c` as a tree that is as flat as possible: each result passes through all the branches above it.
    fn list(&self, mut left: T<'s>, right: T<'s>) -> T<'s> {
        let mut items = vec![self.term(right)];
        while let Term::BinOp(first, BinaryOp::Comma, last) = left {
            items.push(self.term(*last));
            left = *first;
        }
        items.push(self.term(left));
        while items.len() > 1 {
            let mut pairs = items.into_iter();
            items = std::iter::from_fn(|| {
                let later = pairs.next()?;
                Some(match pairs.next() {
                    Some(earlier) => binary(earlier, BinaryOp::Comma, later),
                    None => later,
                })
            })
            .collect();
        }
        items.pop().unwrap_or_default()
    }

    fn update(&self, left: T<'s>, operator: BinaryOp<&'s str>, right: T<'s>) -> T<'s> {
        let change = binary(Term::Id, operator, Term::Var(RIGHT));
        bind(self.term(right), RIGHT, Term::Call("_modify", vec![self.term(left), change]))
    }

    /// `source as pattern | body`, where the pattern may be a choice.
    fn binding(&self, source: T<'s>, pattern: Pattern<&'s str>, body: T<'s>) -> T<'s> {
        let source = self.term(source);
        let body = self.term(body);
        match choices(pattern) {
            Ok(patterns) => bind(source, RIGHT, self.choice(patterns, &body)),
            Err(pattern) => binary(source, BinaryOp::Pipe(Some(self.pattern(pattern))), body),
        }
    }

    /// Tries each pattern in turn until one fits and its body does not fail. Names of the other patterns are null.
    fn choice(&self, patterns: Vec<Pattern<&'s str>>, body: &T<'s>) -> T<'s> {
        let names: Vec<&str> = patterns.iter().flat_map(names).collect();
        let value = || Box::new(Term::Var(RIGHT));
        let attempts = patterns.into_iter().map(|pattern| {
            let bound = BinaryOp::Pipe(Some(self.pattern(pattern)));
            let attempt = Term::BinOp(value(), bound, Box::new(body.clone()));
            names.iter().fold(attempt, |attempt, name| bind(Term::Call("null", Vec::new()), name, attempt))
        });
        let mut attempts: Vec<_> = attempts.collect();
        let last = attempts.pop().unwrap_or_default();
        // The body sees the original value, not the message of the pattern that failed.
        let chain = attempts.into_iter().rev().fold(last, |next, attempt| {
            let handler = binary(Term::Var(INPUT), BinaryOp::Pipe(None), next);
            Term::TryCatch(Box::new(attempt), Some(Box::new(handler)))
        });
        bind(Term::Id, INPUT, chain)
    }

    fn pattern(&self, pattern: Pattern<&'s str>) -> Pattern<&'s str> {
        match pattern {
            Pattern::Var(_) => pattern,
            Pattern::Arr(items) => Pattern::Arr(items.into_iter().map(|item| self.pattern(item)).collect()),
            Pattern::Obj(members) => Pattern::Obj(
                members.into_iter().map(|(key, member)| (self.key(key), self.pattern(member))).collect(),
            ),
        }
    }

    fn fold(
        &self,
        name: &'s str,
        source: T<'s>,
        pattern: Pattern<&'s str>,
        mut arguments: Vec<T<'s>>,
    ) -> T<'s> {
        let (source, pattern) = self.fold_source(source, pattern);
        let unsteady = arguments.get(1).is_some_and(|update| self.may_vary(update));
        if name == "foreach" && unsteady && arguments.len() == 2 {
            arguments.push(Term::Id);
        }
        let mut arguments = self.terms(arguments);
        if unsteady && name == "reduce" {
            let update = std::mem::take(&mut arguments[1]);
            arguments[1] = Term::Call("_last_or_null", vec![update]);
        } else if unsteady {
            // The state is the last result of the update, beside all its results.
            let state = Term::Arr(Some(Box::new(binary(Term::Id, BinaryOp::Comma, Term::Arr(None)))));
            let results = Path(vec![
                (Part::Index(Term::Num("1")), Opt::Essential),
                (Part::Range(None, None), Opt::Essential),
            ]);
            let results = Term::Path(Box::new(Term::Id), results);
            for (at, argument) in arguments.iter_mut().enumerate() {
                let old = std::mem::take(argument);
                *argument = match at {
                    0 => binary(old, BinaryOp::Pipe(None), state.clone()),
                    1 => Term::Call("_advance", vec![old]),
                    _ => binary(results.clone(), BinaryOp::Pipe(None), old),
                };
            }
        }
        Term::Fold(name, source, pattern, arguments)
    }

    /// The source of a fold, and the pattern that takes its results apart. With a choice of patterns, the source makes
    /// the choice and gives the values of all the names.
    fn fold_source(&self, source: T<'s>, pattern: Pattern<&'s str>) -> (Box<T<'s>>, Pattern<&'s str>) {
        let patterns = match choices(pattern) {
            Err(pattern) => return (Box::new(self.term(source)), self.pattern(pattern)),
            Ok(patterns) => patterns,
        };
        let mut names: Vec<&str> = patterns.iter().flat_map(names).collect();
        names.sort_unstable();
        names.dedup();
        let values = names.iter().map(|name| Term::Var(*name));
        let values = values.reduce(|left, right| binary(left, BinaryOp::Comma, right));
        let chosen = self.choice(patterns, &Term::Arr(values.map(Box::new)));
        let pattern = Pattern::Arr(names.into_iter().map(Pattern::Var).collect());
        (Box::new(bind(self.term(source), RIGHT, chosen)), pattern)
    }

    /// A string in which the last part varies slowest.
    fn string(&self, format: Option<&'s str>, parts: Vec<StrPart<&'s str, T<'s>>>) -> T<'s> {
        let varying =
            |part: &StrPart<&'s str, T<'s>>| matches!(part, StrPart::Term(term) if self.may_vary(term));
        let reorder = (2..=PARTS.len()).contains(&parts.iter().filter(|part| varying(part)).count());
        let mut bound = Vec::new();
        let mut rewritten = Vec::with_capacity(parts.len());
        for part in parts {
            let moved = reorder && varying(&part);
            rewritten.push(match part {
                StrPart::Term(term) if moved => {
                    let name = PARTS[bound.len()];
                    bound.push((name, self.term(term)));
                    StrPart::Term(Term::Var(name))
                }
                StrPart::Term(term) => StrPart::Term(self.term(term)),
                other => other,
            });
        }
        let string = Term::Str(format, rewritten);
        bound.into_iter().fold(string, |body, (name, term)| bind(term, name, body))
    }

    fn object(&self, members: Vec<(T<'s>, Option<T<'s>>)>) -> T<'s> {
        let members: Vec<_> = members.into_iter().map(|(key, value)| self.member(key, value)).collect();
        let mut members = members.into_iter();
        let mut groups = std::iter::from_fn(|| {
            let group: Vec<_> = members.by_ref().take(MEMBERS).collect();
            let count = Term::Num(COUNTS[group.len()]);
            let arguments = group.into_iter().flat_map(|(key, value)| [key, value]);
            let arguments: Vec<_> = arguments.chain([count]).collect();
            (arguments.len() > 1).then_some(Term::Call("{}", arguments))
        });
        let first = groups.next().unwrap_or_else(|| Term::Obj(Vec::new()));
        groups.fold(first, |object, group| binary(object, BinaryOp::Math(jaq_core::ops::Math::Add), group))
    }

    /// The key and value of a member, either of which may stand for the other.
    fn member(&self, key: T<'s>, value: Option<T<'s>>) -> (T<'s>, T<'s>) {
        match (key, value) {
            (Term::Var(name), None) => (text(&name[1..]), self.term(Term::Var(name))),
            (Term::Var(name), Some(value)) => (Term::Var(name), self.term(value)),
            (key, None) => {
                let key = self.key(key);
                let path = Path(vec![(Part::Index(key.clone()), Opt::Essential)]);
                (key, Term::Path(Box::new(Term::Id), path))
            }
            (key, Some(value)) => (self.key(key), self.term(value)),
        }
    }

    /// A key, which is an error if it is a constant and not a string.
    fn key(&self, key: T<'s>) -> T<'s> {
        let constant = match &key {
            Term::Num(number) => Some(("number", *number)),
            Term::Call(name @ ("true" | "false"), arguments) if arguments.is_empty() => {
                Some(("boolean", *name))
            }
            Term::Call(name @ "null", arguments) if arguments.is_empty() => Some(("null", *name)),
            _ => None,
        };
        if let Some((kind, text)) = constant {
            self.flaws.borrow_mut().push((format!("Cannot use {kind} ({text}) as object key"), text));
        }
        self.term(key)
    }

    fn location(&self, name: &'s str) -> T<'s> {
        let line = 1 + offset_in(self.code, name)
            .map_or(0, |at| self.code[..at].bytes().filter(|byte| *byte == b'\n').count());
        let parts =
            line.to_string().bytes().map(|digit| StrPart::Str(COUNTS[usize::from(digit - b'0')])).collect();
        let number = binary(Term::Str(None, parts), BinaryOp::Pipe(None), Term::Call("tonumber", Vec::new()));
        Term::Call("{}", vec![text("file"), text("<top-level>"), text("line"), number, Term::Num(COUNTS[2])])
    }

    /// Whether a term might have a number of results other than one.
    fn may_vary(&self, term: &T<'s>) -> bool {
        match term {
            Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(_) => false,
            Term::Str(_, parts) => {
                parts.iter().any(|part| matches!(part, StrPart::Term(term) if self.may_vary(term)))
            }
            Term::Obj(members) => members.iter().any(|(key, value)| {
                self.may_vary(key) || value.as_ref().is_some_and(|value| self.may_vary(value))
            }),
            Term::Neg(term) => self.may_vary(term),
            Term::BinOp(left, operator, right) => match operator {
                BinaryOp::Update => false,
                BinaryOp::Assign | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => self.may_vary(right),
                BinaryOp::Comma | BinaryOp::Alt | BinaryOp::Pipe(Some(Pattern::Arr(_) | Pattern::Obj(_))) => {
                    true
                }
                _ => self.may_vary(left) || self.may_vary(right),
            },
            Term::IfThenElse(cases, otherwise) => {
                cases.iter().any(|(test, then)| self.may_vary(test) || self.may_vary(then))
                    || otherwise.as_ref().is_some_and(|otherwise| self.may_vary(otherwise))
            }
            Term::Call(name, arguments) => {
                !self.is_function(name, arguments.len())
                    || arguments.iter().any(|argument| self.may_vary(argument))
            }
            Term::Path(base, path) => {
                self.may_vary(base)
                    || path.0.iter().any(|(part, opt)| {
                        matches!(opt, Opt::Optional)
                            || match part {
                                Part::Index(index) => self.may_vary(index),
                                Part::Range(None, None) => true,
                                Part::Range(from, to) => {
                                    from.iter().chain(to).any(|bound| self.may_vary(bound))
                                }
                            }
                    })
            }
            Term::Recurse
            | Term::Label(..)
            | Term::Break(_)
            | Term::Fold(..)
            | Term::TryCatch(..)
            | Term::Def(..) => true,
        }
    }

    /// Whether a call has exactly one result for each of its arguments' results.
    fn is_function(&self, name: &str, arity: usize) -> bool {
        natives::is_function(name, arity) && !self.own.contains(&name)
    }
}

fn text(text: &str) -> T<'_> {
    Term::Str(None, vec![StrPart::Str(text)])
}

fn binary<'s>(left: T<'s>, operator: BinaryOp<&'s str>, right: T<'s>) -> T<'s> {
    Term::BinOp(Box::new(left), operator, Box::new(right))
}

fn bind<'s>(value: T<'s>, name: &'s str, body: T<'s>) -> T<'s> {
    binary(value, BinaryOp::Pipe(Some(Pattern::Var(name))), body)
}

/// The patterns of a choice, or the pattern itself if it is not a choice.
fn choices(pattern: Pattern<&str>) -> Result<Vec<Pattern<&str>>, Pattern<&str>> {
    let Pattern::Obj(mut members) = pattern else { return Err(pattern) };
    let marked = matches!(&members[..], [(Term::Str(None, key), Pattern::Arr(_))]
        if matches!(&key[..], [StrPart::Str(key)] if *key == CHOICE));
    match members.pop() {
        Some((_, Pattern::Arr(patterns))) if marked => Ok(patterns),
        last => {
            members.extend(last);
            Err(Pattern::Obj(members))
        }
    }
}

fn names<'s>(pattern: &Pattern<&'s str>) -> Vec<&'s str> {
    match pattern {
        Pattern::Var(name) => vec![name],
        Pattern::Arr(items) => items.iter().flat_map(names).collect(),
        Pattern::Obj(members) => members.iter().flat_map(|(_, member)| names(member)).collect(),
    }
}
