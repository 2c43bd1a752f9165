//! Token rewriting: replaces notations that the parser does not know with ones it knows.
//!
//! - `{$name: pattern}` binds a member and takes it apart: it becomes `{$name, name: pattern}`.
//! - A choice of patterns, `as A ?// B |`, becomes a single pattern with a key that no program contains, which
//!   `rewrite.rs` finds again.
//! - The source of a fold may be an operation, as in `reduce .[] + 1 as $x`: it gets parentheses.

use std::iter::Peekable;
use std::vec::IntoIter;

use jaq_core::load::lex::{StrPart, Tok, Token};

/// The key that marks a choice of patterns.
pub(crate) const CHOICE: &str = "?//";

type Tokens<'s> = Vec<Token<&'s str>>;
type Rest<'s> = Peekable<IntoIter<Token<&'s str>>>;

/// Brings the tokens of a program into the parser's notation.
pub(crate) fn normalised(tokens: Tokens<'_>) -> Tokens<'_> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token.0 {
            "as" => {
                out.push(token);
                pattern(&mut tokens, &mut out);
            }
            "reduce" | "foreach" if matches!(token.1, Tok::Word) => {
                out.push(token);
                source(&mut tokens, &mut out);
            }
            _ => out.push(nested(token)),
        }
    }
    out
}

/// Finds the names that definitions give to filters and their parameters.
pub(crate) fn find_names<'s>(tokens: &[Token<&'s str>], names: &mut Vec<&'s str>) {
    for (at, Token(text, kind)) in tokens.iter().enumerate() {
        if *text == "def"
            && let Some(Token(name, Tok::Word)) = tokens.get(at + 1)
        {
            names.push(name);
            if let Some(Token(_, Tok::Block(parameters))) = tokens.get(at + 2) {
                names.extend(
                    parameters.iter().filter(|token| matches!(token.1, Tok::Word)).map(|token| token.0),
                );
            }
        }
        match kind {
            Tok::Block(tokens) => find_names(tokens, names),
            Tok::Str(parts) => {
                for part in parts {
                    if let StrPart::Term(token) = part {
                        find_names(std::slice::from_ref(token), names);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Takes the pattern after `as`, or a choice of them, which ends before `|` or the arguments of a fold.
fn pattern<'s>(tokens: &mut Rest<'s>, out: &mut Tokens<'s>) {
    let mut choice = Vec::new();
    while let Some(pattern) = tokens.next_if(|token| token.0 != "|" && !token.0.starts_with('(')) {
        match pattern.0 {
            "?" if tokens.next_if(|token| token.0 == "//").is_some() => choice.push(Token(",", Tok::Sym)),
            _ => choice.push(pattern_token(pattern)),
        }
        if choice.len() == 1 && tokens.peek().is_none_or(|token| token.0 != "?") {
            break;
        }
    }
    if choice.len() > 1 {
        out.push(choice_token(choice));
    } else {
        out.extend(choice);
    }
}

/// Takes the source of a fold, up to the `as` that belongs to it.
fn source<'s>(tokens: &mut Rest<'s>, out: &mut Tokens<'s>) {
    let mut source = Vec::new();
    // Constructs that have begun inside the source and may have an `as` of their own.
    let mut open = Vec::new();
    let mut is_operation = false;
    while let Some(token) = tokens.peek() {
        match token.0 {
            "as" if open.is_empty() => break,
            "as" if open.last() != Some(&"if") => drop(open.pop()),
            "end" => drop(open.pop()),
            "if" | "reduce" | "foreach" => open.push(token.0),
            // These bind less tightly than `as`, so that anything before them is not part of the source.
            "|" | "," if open.is_empty() => return out.extend(normalised(source)),
            operator => is_operation |= OPERATORS.contains(&operator),
        }
        source.extend(tokens.next());
    }
    let mut source = normalised(source);
    if is_operation && tokens.peek().is_some() {
        source.push(Token(")", Tok::Sym));
        out.push(Token("(", Tok::Block(source)));
    } else {
        out.extend(source);
    }
}

/// The operators that bind more tightly than `as`.
const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "//", "and", "or"];

fn choice_token(mut choice: Tokens<'_>) -> Token<&str> {
    choice.push(Token("]", Tok::Sym));
    let entry = vec![
        Token(CHOICE, Tok::Str(vec![StrPart::Str(CHOICE)])),
        Token(":", Tok::Sym),
        Token("[", Tok::Block(choice)),
        Token("}", Tok::Sym),
    ];
    Token("{", Tok::Block(entry))
}

fn nested(token: Token<&str>) -> Token<&str> {
    let Token(text, kind) = token;
    let kind = match kind {
        Tok::Block(tokens) => Tok::Block(normalised(tokens)),
        Tok::Str(parts) => {
            let parts = parts.into_iter().map(|part| match part {
                StrPart::Term(token) => StrPart::Term(nested(token)),
                other => other,
            });
            Tok::Str(parts.collect())
        }
        other => other,
    };
    Token(text, kind)
}

/// A pattern with every `$name: pattern` in it written out.
fn pattern_token(token: Token<&str>) -> Token<&str> {
    let Token(text, kind) = token;
    let Tok::Block(tokens) = kind else { return Token(text, kind) };
    if text.starts_with('(') {
        return nested(Token(text, Tok::Block(tokens)));
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let name = token.0;
        let binds_and_opens = matches!(token.1, Tok::Var) && tokens.peek().is_some_and(|next| next.0 == ":");
        out.push(pattern_token(token));
        if binds_and_opens {
            out.push(Token(",", Tok::Sym));
            out.push(Token(&name[1..], Tok::Word));
        }
    }
    Token(text, Tok::Block(out))
}
