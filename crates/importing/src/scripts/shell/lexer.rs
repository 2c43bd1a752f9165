//! Shell tokens: words as they are written, with their quotes and substitutions whole, operators, and here-documents.

/// A token of a shell script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// `;`, `;;`, `|`, `&&`, `(`, `>`, `<<` and the like.
    Operator(&'static str),
    /// The text of a here-document, after its delimiter.
    HereDocument(String),
    LineEnd,
}

/// How many brackets, or quotes and substitutions, may be inside each other: `"$("$(…`.
const DEEPEST: usize = 40;

/// Longest first.
const OPERATORS: [&str; 25] = [
    ";;&", "<<<", "<<-", "&>>", ";;", ";&", "&&", "||", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "|&", "<(",
    ">(", ";", "&", "|", "(", ")", "<", ">",
];

/// The tokens of a script; `None` if a quote or a substitution is not closed.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    tokens_with_lines(text).map(|(tokens, _)| tokens)
}

/// The tokens, and the line on which each begins; the first line is 1.
pub(super) fn tokens_with_lines(text: &str) -> Option<(Vec<Token>, Vec<usize>)> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), lines: Vec::new(), awaited: Vec::new() };
    lexer.run()?;
    Some((lexer.tokens, lexer.lines))
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    lines: Vec<usize>,
    /// Here-documents that begin after this line: the index of their token, the delimiter, and whether tabs are stripped.
    awaited: Vec<(usize, String, bool)>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn run(&mut self) -> Option<()> {
        let (mut line, mut counted) = (1, 0);
        while let Some(letter) = self.rest().chars().next() {
            line += self.text[counted..self.at].matches('\n').count();
            counted = self.at;
            match letter {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.rest()[1..].starts_with('\n') => self.at += 2,
                '\n' => {
                    self.at += 1;
                    self.tokens.push(Token::LineEnd);
                    self.read_here_documents();
                }
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => self.token()?,
            }
            self.lines.resize(self.tokens.len(), line);
        }
        Some(())
    }

    fn token(&mut self) -> Option<()> {
        let follows_for = matches!(self.tokens.last(), Some(Token::Word(word)) if word == "for");
        if self.rest().starts_with("((") && (follows_for || self.begins_command()) {
            let end = self.at + balanced(self.rest(), '(', ')', 0)?;
            self.tokens.push(Token::Word(self.text[self.at..end].to_owned()));
            self.at = end;
            return Some(());
        }
        if let Some(operator) = OPERATORS.into_iter().find(|operator| self.rest().starts_with(operator)) {
            if matches!(operator, "<(" | ">(") {
                let end = self.at + 1 + balanced(&self.rest()[1..], '(', ')', 0)?;
                self.tokens.push(Token::Word(self.text[self.at..end].to_owned()));
                self.at = end;
                return Some(());
            }
            self.at += operator.len();
            self.tokens.push(Token::Operator(operator));
            if matches!(operator, "<<" | "<<-") {
                self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
                let end = word_end(self.rest())?;
                let delimiter: String = self.rest()[..end].replace(['\'', '"', '\\'], "");
                self.at += end;
                self.tokens.push(Token::HereDocument(String::new()));
                self.awaited.push((self.tokens.len() - 1, delimiter, operator == "<<-"));
            }
            return Some(());
        }
        let end = word_end(self.rest())?;
        let mut word = self.rest()[..end].to_owned();
        self.at += end;
        // `NAME=(a b)`
        if word.ends_with('=') && self.rest().starts_with('(') {
            let length = balanced(self.rest(), '(', ')', 0)?;
            word.push_str(&self.rest()[..length]);
            self.at += length;
        }
        if word == "[[" && self.begins_command() {
            let length = self.rest().find("]]")? + 2;
            word.push_str(&self.rest()[..length]);
            self.at += length;
        }
        self.tokens.push(Token::Word(word));
        Some(())
    }

    fn begins_command(&self) -> bool {
        match self.tokens.last() {
            None | Some(Token::LineEnd | Token::HereDocument(_)) => true,
            Some(Token::Operator(operator)) => !operator.contains(['<', '>']),
            Some(Token::Word(word)) => {
                matches!(&**word, "if" | "elif" | "while" | "until" | "then" | "do" | "else" | "!" | "{")
            }
        }
    }

    fn read_here_documents(&mut self) {
        for (token, delimiter, strips) in std::mem::take(&mut self.awaited) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let end = self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
                let line = &self.text[self.at..self.at + end];
                self.at += end;
                let line = if strips { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\n', '\r']) == delimiter {
                    break;
                }
                body.push_str(line);
            }
            self.tokens[token] = Token::HereDocument(body);
        }
    }
}

/// Where a word ends.
fn word_end(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match letter {
            ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => return Some(at),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' => 2 + rest[1..].find('\'')?,
            '"' => double_quoted(rest, 0)?,
            '`' => 2 + rest[1..].find('`')?,
            '$' => substitution(rest)?,
            _ => letter.len_utf8(),
        };
    }
    Some(at)
}

/// The length of `"…"`.
fn double_quoted(text: &str, depth: usize) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = &text[at..];
        let letter = rest.chars().next()?;
        at += match letter {
            '"' => return Some(at + 1),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '$' if !rest.starts_with("$'") && !rest.starts_with("$\"") => substitution_within(rest, depth)?,
            '`' => 2 + rest[1..].find('`')?,
            _ => letter.len_utf8(),
        };
    }
}

/// The length of what begins with `$`.
pub(super) fn substitution(text: &str) -> Option<usize> {
    substitution_within(text, 0)
}

fn substitution_within(text: &str, depth: usize) -> Option<usize> {
    let rest = &text[1..];
    match rest.chars().next() {
        Some('(') => Some(1 + balanced(rest, '(', ')', depth)?),
        Some('{') => Some(1 + balanced(rest, '{', '}', depth)?),
        // An old form of `$((…))`, or a dollar sign of a pattern.
        Some('[') => Some(1 + balanced(rest, '[', ']', depth).unwrap_or(0)),
        Some('\'') => {
            let mut at = 1;
            loop {
                let letter = rest[at..].chars().next()?;
                at += letter.len_utf8();
                match letter {
                    '\\' => at += rest[at..].chars().next()?.len_utf8(),
                    '\'' => return Some(1 + at),
                    _ => {}
                }
            }
        }
        _ => Some(1),
    }
}

/// The length of a text in brackets, which may hold quotes and brackets.
fn balanced(text: &str, open: char, close: char, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let (mut at, mut brackets) = (0, 0_usize);
    loop {
        let rest = &text[at..];
        let letter = rest.chars().next()?;
        at += match letter {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' if open == '(' => 2 + rest[1..].find('\'')?,
            '"' => double_quoted(rest, depth + 1)?,
            '#' if open == '(' && text[..at].ends_with(['\n', ' ', '\t']) => {
                rest.find('\n').unwrap_or(rest.len())
            }
            _ => letter.len_utf8(),
        };
        if letter == open {
            brackets += 1;
            if brackets > DEEPEST {
                return None;
            }
        } else if letter == close {
            brackets -= 1;
            if brackets == 0 {
                return Some(at);
            }
        }
    }
}
