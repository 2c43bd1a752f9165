//! Shell syntax tree, as far as it is needed to see how a script reads its words: commands, conditions, loops, cases and
//! functions. Redirections of a loop or a block are a command without words after it, in a block with it.

use super::lexer::{Token, tokens_with_lines};

/// What joins a node with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Next,
    And,
    Or,
    Pipe,
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) joint: Joint,
    pub(super) node: Node,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Command(Command),
    Case {
        subject: String,
        arms: Vec<Arm>,
        line: usize,
    },
    Function {
        name: String,
        body: Vec<Item>,
    },
    If {
        branches: Vec<(Vec<Item>, Vec<Item>)>,
        otherwise: Vec<Item>,
    },
    While {
        head: Vec<Item>,
        body: Vec<Item>,
    },
    /// Without words, it runs over all words of the script.
    For {
        variable: String,
        words: Option<Vec<String>>,
        body: Vec<Item>,
        /// Whether it is a `select`, which asks for one of the words.
        asks: bool,
        line: usize,
    },
    Block(Vec<Item>),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Operator and target.
    pub(super) redirections: Vec<(String, String)>,
    pub(super) here_document: Option<String>,
    /// The line on which it begins, from 1; 0 if it is not known.
    pub(super) line: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Arm {
    pub(super) patterns: Vec<String>,
    pub(super) body: Vec<Item>,
}

/// Deeper than anyone nests.
const DEEPEST: usize = 60;

/// The tree of a script; `None` if it cannot be read to its end.
pub(super) fn parse(text: &str) -> Option<Vec<Item>> {
    let (tokens, lines) = tokens_with_lines(text)?;
    let mut parser = Parser { tokens: &tokens, lines: &lines, at: 0, depth: 0 };
    let items = parser.list(&[])?;
    (parser.at == tokens.len()).then_some(items)
}

struct Parser<'t> {
    tokens: &'t [Token],
    lines: &'t [usize],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn line(&self) -> usize {
        self.lines.get(self.at).copied().unwrap_or_default()
    }

    fn word(&self) -> Option<&str> {
        match self.peek()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn operator(&self) -> Option<&'static str> {
        match self.peek()? {
            Token::Operator(operator) => Some(operator),
            _ => None,
        }
    }

    fn take_word(&mut self, expected: &str) -> Option<()> {
        (self.word()? == expected).then(|| self.at += 1)
    }

    fn skip_line_ends(&mut self) {
        while matches!(self.peek(), Some(Token::LineEnd)) || self.operator() == Some(";") {
            self.at += 1;
        }
    }

    /// Enters a list or a function, if it is not too deep inside others.
    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    /// Items up to one of these words, or to an operator that ends a list.
    fn list(&mut self, ends: &[&str]) -> Option<Vec<Item>> {
        self.enter()?;
        let (mut items, mut joint) = (Vec::new(), Joint::Next);
        loop {
            match self.peek() {
                None => break,
                Some(Token::LineEnd) => {
                    self.at += 1;
                    continue;
                }
                Some(Token::Operator(operator)) => match *operator {
                    ";" | "&" => {
                        self.at += 1;
                        joint = Joint::Next;
                        continue;
                    }
                    "&&" | "||" | "|" | "|&" => {
                        joint = match *operator {
                            "&&" => Joint::And,
                            "||" => Joint::Or,
                            _ => Joint::Pipe,
                        };
                        self.at += 1;
                        continue;
                    }
                    ")" | ";;" | ";&" | ";;&" => break,
                    _ => {}
                },
                Some(Token::Word(word)) if ends.contains(&&**word) => break,
                Some(_) => {}
            }
            let before = self.at;
            let node = self.node()?;
            if self.at == before {
                return None;
            }
            items.push(Item { joint, node });
            joint = Joint::Next;
        }
        self.depth -= 1;
        Some(items)
    }

    fn node(&mut self) -> Option<Node> {
        let node = match self.word() {
            Some("{") => {
                self.at += 1;
                let items = self.list(&["}"])?;
                self.take_word("}")?;
                Node::Block(items)
            }
            Some("if") => self.condition()?,
            Some("while" | "until") => {
                self.at += 1;
                let head = self.list(&["do"])?;
                self.take_word("do")?;
                let body = self.list(&["done"])?;
                self.take_word("done")?;
                Node::While { head, body }
            }
            Some("for" | "select") => self.repetition()?,
            Some("case") => self.case()?,
            Some("function") => {
                self.at += 1;
                let name = self.word()?.to_owned();
                self.at += 1;
                if self.operator() == Some("(") {
                    self.at += 2;
                }
                self.function(name)?
            }
            Some("!") => {
                // As a block, so that no check of the script is read the wrong way round.
                while self.word() == Some("!") {
                    self.at += 1;
                }
                let node = self.node()?;
                return Some(Node::Block(vec![Item { joint: Joint::Next, node }]));
            }
            Some(word) if self.is_definition() => {
                let name = word.to_owned();
                self.at += 3;
                self.function(name)?
            }
            Some("}" | "then" | "fi" | "do" | "done" | "esac" | "elif" | "else") => return None,
            None if self.operator() == Some("(") => {
                self.at += 1;
                let items = self.list(&[])?;
                (self.operator()? == ")").then_some(())?;
                self.at += 1;
                Node::Block(items)
            }
            _ => return self.command().map(Node::Command),
        };
        // Redirections of the whole.
        let mut after = Command::default();
        while self.redirection(&mut after)? {}
        if after.redirections.is_empty() && after.here_document.is_none() {
            return Some(node);
        }
        let items = [node, Node::Command(after)];
        Some(Node::Block(items.map(|node| Item { joint: Joint::Next, node }).into()))
    }

    fn is_definition(&self) -> bool {
        let operator = |offset: usize| match self.tokens.get(self.at + offset) {
            Some(Token::Operator(operator)) => Some(*operator),
            _ => None,
        };
        operator(1) == Some("(") && operator(2) == Some(")")
    }

    fn function(&mut self, name: String) -> Option<Node> {
        self.enter()?;
        self.skip_line_ends();
        let node = self.node()?;
        self.depth -= 1;
        let body = match node {
            Node::Block(items) => items,
            other => vec![Item { joint: Joint::Next, node: other }],
        };
        Some(Node::Function { name, body })
    }

    fn condition(&mut self) -> Option<Node> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        self.at += 1;
        loop {
            let head = self.list(&["then"])?;
            self.take_word("then")?;
            let body = self.list(&["elif", "else", "fi"])?;
            branches.push((head, body));
            match self.word()? {
                "elif" => self.at += 1,
                "else" => {
                    self.at += 1;
                    otherwise = self.list(&["fi"])?;
                    self.take_word("fi")?;
                    break;
                }
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        Some(Node::If { branches, otherwise })
    }

    fn repetition(&mut self) -> Option<Node> {
        let asks = self.word() == Some("select");
        let line = self.line();
        self.at += 1;
        let variable = self.word()?.to_owned();
        self.at += 1;
        self.skip_line_ends();
        let mut words = None;
        if self.word() == Some("in") {
            self.at += 1;
            let mut all = Vec::new();
            while let Some(word) = self.word() {
                all.push(word.to_owned());
                self.at += 1;
            }
            words = Some(all);
        }
        self.skip_line_ends();
        let closing = if self.word() == Some("{") { "}" } else { "done" };
        self.at += 1;
        let body = self.list(&[closing])?;
        self.take_word(closing)?;
        // `for ((i = 0; i < n; i++))`
        if variable.starts_with("((") {
            let node = Node::Command(Command { words: vec![variable], line, ..Command::default() });
            return Some(Node::While { head: vec![Item { joint: Joint::Next, node }], body });
        }
        Some(Node::For { variable, words, body, asks, line })
    }

    fn case(&mut self) -> Option<Node> {
        let line = self.line();
        self.at += 1;
        let subject = self.word()?.to_owned();
        self.at += 1;
        self.skip_line_ends();
        self.take_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_line_ends();
            if self.word() == Some("esac") {
                self.at += 1;
                break;
            }
            if self.operator() == Some("(") {
                self.at += 1;
            }
            let mut patterns = Vec::new();
            loop {
                let mut pattern = self.word()?.to_owned();
                self.at += 1;
                // `@(a|b)`
                if self.operator() == Some("(") && pattern.ends_with(['@', '+', '?', '*', '!']) {
                    while self.operator() != Some(")") {
                        pattern.push_str(self.word().unwrap_or("|"));
                        self.at += 1;
                        self.peek()?;
                    }
                    self.at += 1;
                    pattern.push('*');
                }
                patterns.push(pattern);
                match self.operator()? {
                    "|" => self.at += 1,
                    ")" => break,
                    _ => return None,
                }
            }
            self.at += 1;
            let body = self.list(&["esac"])?;
            if matches!(self.operator(), Some(";;" | ";&" | ";;&")) {
                self.at += 1;
            }
            arms.push(Arm { patterns, body });
        }
        Some(Node::Case { subject, arms, line })
    }

    fn command(&mut self) -> Option<Command> {
        let mut command = Command { line: self.line(), ..Command::default() };
        loop {
            if self.redirection(&mut command)? {
                continue;
            }
            let Some(word) = self.word() else { break };
            let word = word.to_owned();
            self.at += 1;
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            // `2>file`
            if is_number && self.operator().is_some_and(|operator| operator.starts_with(['<', '>'])) {
                continue;
            }
            command.words.push(word);
        }
        Some(command)
    }

    /// Takes one redirection, if there is one.
    fn redirection(&mut self, command: &mut Command) -> Option<bool> {
        let is_number = self.word().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let follows = |token: Option<&Token>| matches!(token, Some(Token::Operator(operator)) if operator.contains(['<', '>']));
        if is_number && follows(self.tokens.get(self.at + 1)) && command.words.is_empty() {
            self.at += 1;
        }
        let Some(operator) = self.operator().filter(|operator| operator.contains(['<', '>'])) else {
            return Some(false);
        };
        self.at += 1;
        match self.peek()? {
            Token::HereDocument(body) => command.here_document = Some(body.clone()),
            Token::Word(target) => command.redirections.push((operator.to_owned(), target.clone())),
            _ => return None,
        }
        self.at += 1;
        Some(true)
    }
}
