//! Calls in Python and JavaScript: `add_argument("--name", type=int)`, read from tokens, without running anything.

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    /// A text with parts that only the program knows.
    Formatted(String),
    Number(String),
    Sign(char),
    /// The number of spaces a line begins with.
    Line(usize),
}

/// How many times a token may be read, as part of calls inside each other.
const MOST_TIMES: usize = 10;

/// A value, as far as it is written out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(String),
    /// `True`, `int`, `argparse.REMAINDER`.
    Name(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
    /// `name(…)`: the name and the arguments.
    Call(String, Vec<Argument>),
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    pub(super) key: Option<String>,
    pub(super) value: Value,
}

impl Value {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self.name(), Some("True" | "true"))
    }

    pub(super) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::List(values) => values.iter().map(|value| value.text().map(str::to_owned)).collect(),
            _ => None,
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// As one would write a default.
    pub(super) fn shown(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }
}

pub(super) fn argument<'a>(arguments: &'a [Argument], key: &str) -> Option<&'a Value> {
    arguments.iter().find(|argument| argument.key.as_deref() == Some(key)).map(|argument| &argument.value)
}

/// The tokens of a text in Python or JavaScript.
pub(super) fn tokens(text: &str, is_python: bool) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut is_line_start = true;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        if is_line_start {
            let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            found.push(Token::Line(indent));
            is_line_start = false;
        }
        if letter == '\n' {
            is_line_start = true;
            at += 1;
        } else if letter.is_whitespace() {
            at += letter.len_utf8();
        } else if is_python && letter == '#'
            || !is_python && (rest.starts_with("//") || rest.starts_with("#!"))
        {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if !is_python && rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if matches!(letter, '"' | '\'') || letter == '`' && !is_python {
            let (value, length) = quoted(rest, is_python);
            at += length;
            let prefix = match found.last() {
                Some(Token::Name(prefix))
                    if is_python && prefix.len() <= 2 && text[..at - length].ends_with(&**prefix) =>
                {
                    Some(prefix.to_ascii_lowercase())
                }
                _ => None,
            };
            let is_prefix =
                prefix.as_deref().is_some_and(|prefix| prefix.chars().all(|letter| "rbfu".contains(letter)));
            if is_prefix {
                found.pop();
            }
            let is_formatted =
                is_prefix && prefix.is_some_and(|prefix| prefix.contains('f')) && value.contains('{')
                    || letter == '`' && value.contains("${");
            found.push(if is_formatted { Token::Formatted(value) } else { Token::Text(value) });
        } else if letter.is_alphabetic() || matches!(letter, '_' | '$') {
            let end = rest
                .find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '$'))
                .unwrap_or(rest.len());
            found.push(Token::Name(rest[..end].to_owned()));
            at += end;
        } else if letter.is_ascii_digit() {
            let end = rest
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
                .unwrap_or(rest.len());
            found.push(Token::Number(rest[..end].to_owned()));
            at += end;
        } else {
            found.push(Token::Sign(letter));
            at += letter.len_utf8();
        }
    }
    found
}

/// The value of a quoted text, and its length.
fn quoted(text: &str, is_python: bool) -> (String, usize) {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let is_triple = is_python && text.starts_with(&triple);
    let close: &str = if is_triple { &triple } else { quote };
    let mut at = close.len();
    let mut value = String::new();
    while let Some(letter) = text[at..].chars().next() {
        if text[at..].starts_with(close) {
            return (value, at + close.len());
        }
        if letter == '\n' && !is_triple && quote != "`" {
            break;
        }
        at += letter.len_utf8();
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        let Some(next) = text[at..].chars().next() else { break };
        at += next.len_utf8();
        match next {
            'n' => value.push('\n'),
            't' => value.push_str("    "),
            '\n' => {}
            other => value.push(other),
        }
    }
    (value, at)
}

/// Whether one of these names is called.
pub(super) fn has_call(tokens: &[Token], names: &[&str]) -> bool {
    (0..tokens.len()).any(|index| call_at(tokens, index, names).is_some())
}

/// The name at an index, if it is one of these and is called, not defined.
fn call_at<'t>(tokens: &'t [Token], index: usize, names: &[&str]) -> Option<&'t str> {
    let [Token::Name(name), Token::Sign('('), ..] = &tokens[index..] else { return None };
    let is_defined = matches!(index.checked_sub(1).map(|before| &tokens[before]), Some(Token::Name(before)) if before == "def" || before == "function");
    (names.contains(&&**name) && !is_defined).then_some(name)
}

/// All calls of names that end with one of these (`parser.add_argument`): where they begin, the name, and the arguments.
pub(super) fn calls(tokens: &[Token], names: &[&str]) -> Vec<(usize, String, Vec<Argument>)> {
    let mut found = Vec::new();
    // A call inside others is read with each of them.
    let mut room = MOST_TIMES * tokens.len();
    for index in 0..tokens.len() {
        let Some(name) = call_at(tokens, index, names) else { continue };
        let mut reader = Reader { tokens, at: index + 2, depth: 0 };
        found.push((index, name.to_owned(), reader.arguments(')')));
        let Some(left) = room.checked_sub(reader.at - index) else { break };
        room = left;
    }
    found
}

/// Where a name is used, each with the tokens before it on its line.
pub(super) fn uses_of<'t>(tokens: &'t [Token], name: &str) -> Vec<(usize, &'t [Token])> {
    let (mut found, mut line) = (Vec::new(), 0);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Line(_) => line = index + 1,
            Token::Name(used) if used == name => found.push((index, &tokens[line..index])),
            _ => {}
        }
    }
    found
}

/// The value that begins at an index.
pub(super) fn value_at(tokens: &[Token], at: usize) -> Value {
    Reader { tokens, at, depth: 0 }.value()
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn skip_lines(&mut self) {
        while matches!(self.tokens.get(self.at), Some(Token::Line(_))) {
            self.at += 1;
        }
    }

    fn arguments(&mut self, close: char) -> Vec<Argument> {
        let mut arguments = Vec::new();
        loop {
            self.skip_lines();
            match self.tokens.get(self.at) {
                None => break,
                Some(Token::Sign(sign)) if *sign == close => {
                    self.at += 1;
                    break;
                }
                Some(Token::Sign(',')) => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let key = match (
                self.tokens.get(self.at),
                self.tokens.get(self.at + 1),
                self.tokens.get(self.at + 2),
            ) {
                (Some(Token::Name(key)), Some(Token::Sign('=')), next)
                    if !matches!(next, Some(Token::Sign('=' | '>'))) =>
                {
                    Some(key.clone())
                }
                _ => None,
            };
            if key.is_some() {
                self.at += 2;
            }
            let before = self.at;
            let value = self.value();
            // A bracket that closes nothing here.
            self.at += usize::from(self.at == before);
            arguments.push(Argument { key, value });
        }
        arguments
    }

    /// A value, up to a comma or a closing bracket. What is more than one literal, name or call is `Other`.
    fn value(&mut self) -> Value {
        self.depth += 1;
        self.skip_lines();
        let mut value = if self.depth > 30 { self.skip() } else { self.first() };
        // Texts side by side are one text; anything else after a value makes it unknown.
        loop {
            self.skip_lines();
            match self.tokens.get(self.at) {
                None | Some(Token::Sign(',' | ')' | ']' | '}' | ';' | ':')) => break,
                Some(Token::Text(more)) => {
                    self.at += 1;
                    value = match value {
                        Value::Text(text) => Value::Text(text + more),
                        _ => Value::Other,
                    };
                }
                Some(Token::Sign('+')) if matches!(value, Value::Text(_)) => self.at += 1,
                _ => {
                    self.skip();
                    value = Value::Other;
                }
            }
        }
        self.depth -= 1;
        value
    }

    fn first(&mut self) -> Value {
        let Some(token) = self.tokens.get(self.at) else { return Value::Other };
        self.at += 1;
        match token {
            Token::Text(text) => Value::Text(text.clone()),
            Token::Number(number) => Value::Number(number.clone()),
            Token::Sign('-') => match self.tokens.get(self.at) {
                Some(Token::Number(number)) => {
                    self.at += 1;
                    Value::Number(format!("-{number}"))
                }
                _ => Value::Other,
            },
            Token::Sign('[') => {
                Value::List(self.arguments(']').into_iter().map(|argument| argument.value).collect())
            }
            Token::Sign('(') => {
                let values: Vec<Value> =
                    self.arguments(')').into_iter().map(|argument| argument.value).collect();
                match <[Value; 1]>::try_from(values) {
                    Ok([one]) => one,
                    Err(values) => Value::List(values),
                }
            }
            Token::Sign('{') => self.object(),
            Token::Name(name) => {
                let mut name = name.clone();
                while let (Some(Token::Sign('.')), Some(Token::Name(next))) =
                    (self.tokens.get(self.at), self.tokens.get(self.at + 1))
                {
                    name.push('.');
                    name.push_str(next);
                    self.at += 2;
                }
                if let Some(Token::Sign('(')) = self.tokens.get(self.at) {
                    self.at += 1;
                    let arguments = self.arguments(')');
                    return match (&*name, &*arguments) {
                        // Translations, and texts without their indentation.
                        (
                            "_" | "gettext" | "N_" | "dedent" | "textwrap.dedent",
                            [Argument { value: Value::Text(text), .. }],
                        ) => Value::Text(text.clone()),
                        _ => Value::Call(name, arguments),
                    };
                }
                Value::Name(name)
            }
            _ => Value::Other,
        }
    }

    fn object(&mut self) -> Value {
        let mut members = Vec::new();
        loop {
            self.skip_lines();
            let key = match self.tokens.get(self.at) {
                None => break,
                Some(Token::Sign('}')) => {
                    self.at += 1;
                    break;
                }
                Some(Token::Name(key) | Token::Text(key)) => key.clone(),
                Some(_) => {
                    self.at += 1;
                    continue;
                }
            };
            self.at += 1;
            if let Some(Token::Sign(':')) = self.tokens.get(self.at) {
                self.at += 1;
                members.push((key, self.value()));
            } else {
                members.push((key, Value::Other));
            }
        }
        Value::Object(members)
    }

    /// Skips to the end of a value; brackets inside it are skipped whole.
    fn skip(&mut self) -> Value {
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}' | ',') if depth == 0 => break,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Value::Other
    }
}
