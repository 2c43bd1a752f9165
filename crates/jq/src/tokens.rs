//! Two notations for patterns that the parser does not know, brought into ones it knows before it sees them.
//!
//! `{$name: pattern}` binds a member and takes it apart: it becomes `{$name, name: pattern}`. A choice of patterns,
//! `as A ?// B |`, becomes a single pattern with a key no one writes, which `rewrite.rs` finds again.

use jaq_core::load::lex::{StrPart, Tok, Token};

/// The key that marks a choice of patterns.
pub(crate) const CHOICE: &str = "?//";

type Tokens<'s> = Vec<Token<&'s str>>;

pub(crate) fn normalised(tokens: Tokens<'_>) -> Tokens<'_> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let begins_pattern = token.0 == "as";
        out.push(nested(token));
        if !begins_pattern {
            continue;
        }
        let mut choice = Vec::new();
        while let Some(pattern) = tokens.next_if(|token| token.0 != "|") {
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
    out
}

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
