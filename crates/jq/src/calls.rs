//! Filter calls: which filters a program calls.

#![expect(clippy::needless_for_each, reason = "one line for each kind of term keeps the walk easy to check")]

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::path::Part;

type T<'s> = Term<&'s str>;

/// Whether a term calls a filter without arguments by this name.
pub(crate) fn calls(term: &T, wanted: &str) -> bool {
    let mut found = false;
    each_call(term, &mut |name, arity| found |= name == wanted && arity == 0);
    found
}

/// Visits all calls in a term, with their number of arguments.
pub(crate) fn each_call<'s>(term: &T<'s>, visit: &mut dyn FnMut(&'s str, usize)) {
    match term {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Var(_) | Term::Break(_) | Term::Arr(None) => {}
        Term::Str(format, parts) => {
            format.iter().for_each(|format| visit(format, 0));
            for part in parts {
                if let StrPart::Term(term) = part {
                    each_call(term, visit);
                }
            }
        }
        Term::Arr(Some(term)) | Term::Neg(term) | Term::Label(_, term) => each_call(term, visit),
        Term::Obj(members) => {
            for (key, value) in members {
                each_call(key, visit);
                value.iter().for_each(|value| each_call(value, visit));
            }
        }
        Term::BinOp(left, operator, right) => {
            each_call(left, visit);
            if let BinaryOp::Pipe(Some(pattern)) = operator {
                each_call_in_pattern(pattern, visit);
            }
            each_call(right, visit);
        }
        Term::Fold(_, source, pattern, arguments) => {
            each_call(source, visit);
            each_call_in_pattern(pattern, visit);
            arguments.iter().for_each(|argument| each_call(argument, visit));
        }
        Term::TryCatch(body, handler) => {
            each_call(body, visit);
            handler.iter().for_each(|handler| each_call(handler, visit));
        }
        Term::IfThenElse(cases, otherwise) => {
            for (test, then) in cases {
                each_call(test, visit);
                each_call(then, visit);
            }
            otherwise.iter().for_each(|otherwise| each_call(otherwise, visit));
        }
        Term::Def(definitions, body) => {
            definitions.iter().for_each(|definition| each_call(&definition.body, visit));
            each_call(body, visit);
        }
        Term::Call(name, arguments) => {
            visit(name, arguments.len());
            arguments.iter().for_each(|argument| each_call(argument, visit));
        }
        Term::Path(base, path) => {
            each_call(base, visit);
            for (part, _) in &path.0 {
                match part {
                    Part::Index(index) => each_call(index, visit),
                    Part::Range(from, to) => from.iter().chain(to).for_each(|bound| each_call(bound, visit)),
                }
            }
        }
    }
}

fn each_call_in_pattern<'s>(pattern: &Pattern<&'s str>, visit: &mut dyn FnMut(&'s str, usize)) {
    match pattern {
        Pattern::Var(_) => {}
        Pattern::Arr(items) => items.iter().for_each(|item| each_call_in_pattern(item, visit)),
        Pattern::Obj(members) => {
            for (key, member) in members {
                each_call(key, visit);
                each_call_in_pattern(member, visit);
            }
        }
    }
}
