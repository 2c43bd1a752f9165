//! Parser: tokens become a tree in which every name is resolved.

use crate::error::{CompileError, Mistake, Position};
use crate::lexer::{Token, tokens};
use crate::names::{FUNCTIONS, MACROS, MacroSignature, RESERVED};
use crate::pattern::Pattern;
use crate::tree::{Expr, Function, Macro, Node, Operator, Range};
use crate::value::Type;
use crate::variable::Variable;
use crate::zone::Zone;
use mcp_bash_spelling::nearest;

/// How deeply parentheses, brackets, arguments and choices may be nested.
const DEEPEST: usize = 48;
/// How many levels the tree may have.
const HIGHEST: usize = 100;

type Parsed = Result<Expr, CompileError>;

pub(crate) struct Parser<'v> {
    tokens: std::vec::IntoIter<(Token, Position)>,
    variables: &'v [Variable],
    /// The variables of the macros around.
    locals: Vec<String>,
    depth: usize,
}

/// The operators of each level, from the loosest.
const LEVELS: [&[(&str, Operator)]; 3] = [
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("in", Operator::In),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

fn wrong<T>(at: Position, mistake: Mistake) -> Result<T, CompileError> {
    Err(CompileError { at, mistake })
}

/// An expression over others, unless the tree would become too high.
fn made(at: Position, node: Node) -> Parsed {
    let expr = Expr::new(at, node);
    if expr.height > HIGHEST { wrong(at, Mistake::TooDeep { most: HIGHEST }) } else { Ok(expr) }
}

impl<'v> Parser<'v> {
    pub(crate) fn new(source: &str, variables: &'v [Variable]) -> Result<Self, CompileError> {
        Ok(Self { tokens: tokens(source)?.into_iter(), variables, locals: Vec::new(), depth: 0 })
    }

    pub(crate) fn whole(mut self) -> Parsed {
        if self.peek() == &Token::End {
            return wrong(self.at(), Mistake::Empty);
        }
        let expr = self.expression()?;
        if self.peek() == &Token::End { Ok(expr) } else { self.unexpected("an operator or the end") }
    }

    fn peek(&self) -> &Token {
        self.tokens.as_slice().first().map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> Position {
        self.tokens.as_slice().first().map_or(Position { line: 1, column: 1 }, |(_, at)| *at)
    }

    /// Takes the next token. The last one, which says that the text ends, stays.
    fn next(&mut self) -> Token {
        if self.peek() == &Token::End {
            return Token::End;
        }
        self.tokens.next().map_or(Token::End, |(token, _)| token)
    }

    fn is(&self, sign: &str) -> bool {
        match self.peek() {
            Token::Sign(found) => *found == sign,
            Token::Name(name) => sign == "in" && name == "in",
            _ => false,
        }
    }

    fn accept(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.next();
        }
        is
    }

    fn expect(&mut self, sign: &'static str, expected: &'static str) -> Result<(), CompileError> {
        if self.accept(sign) { Ok(()) } else { self.unexpected(expected) }
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, CompileError> {
        let found = match self.peek() {
            Token::Name(name) | Token::Quoted(name) => format!("`{name}`"),
            Token::Int(_) | Token::Uint(_) | Token::Double(_) => "a number".to_owned(),
            Token::String(_) => "a string".to_owned(),
            Token::Bytes(_) => "bytes".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the expression".to_owned(),
        };
        wrong(self.at(), Mistake::Unexpected { expected, found })
    }

    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return wrong(self.at(), Mistake::TooDeep { most: DEEPEST });
        }
        let condition = self.or()?;
        let at = self.at();
        let expr = if self.accept("?") {
            let yes = self.or()?;
            self.expect(":", "`:` and the other value")?;
            let no = self.expression()?;
            made(at, Node::Choice(Box::new([condition, yes, no])))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn or(&mut self) -> Parsed {
        let at = self.at();
        let mut all = vec![self.and()?];
        while self.accept("||") {
            all.push(self.and()?);
        }
        if all.len() > 1 { made(at, Node::Or(all)) } else { Ok(all.remove(0)) }
    }

    fn and(&mut self) -> Parsed {
        let at = self.at();
        let mut all = vec![self.binary(&LEVELS)?];
        while self.accept("&&") {
            all.push(self.binary(&LEVELS)?);
        }
        if all.len() > 1 { made(at, Node::And(all)) } else { Ok(all.remove(0)) }
    }

    fn binary(&mut self, levels: &[&[(&str, Operator)]]) -> Parsed {
        let Some((level, tighter)) = levels.split_first() else { return self.unary() };
        let mut left = self.binary(tighter)?;
        loop {
            let at = self.at();
            let Some((_, operator)) = level.iter().find(|(sign, _)| self.is(sign)) else { return Ok(left) };
            self.next();
            let right = self.binary(tighter)?;
            left = made(at, Node::Binary(*operator, Box::new([left, right])))?;
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        let sign = if self.is("!") { "!" } else { "-" };
        let mut signs = 0;
        while self.accept(sign) {
            signs += 1;
        }
        let mut expr = match self.peek() {
            // The smallest int has no positive counterpart.
            Token::Int(value) if sign == "-" && signs > 0 => {
                let value = *value;
                self.next();
                signs -= 1;
                let Ok(value) = i64::try_from(-i128::from(value)) else {
                    return wrong(at, Mistake::Number(format!("-{value}")));
                };
                let literal = Expr::new(at, Node::Int(value));
                self.members(literal)?
            }
            _ => {
                let primary = self.primary()?;
                self.members(primary)?
            }
        };
        for _ in 0..signs {
            let node = if sign == "!" { Node::Not(Box::new(expr)) } else { Node::Negate(Box::new(expr)) };
            expr = made(at, node)?;
        }
        Ok(expr)
    }

    /// The fields, indices and methods after a value.
    fn members(&mut self, mut expr: Expr) -> Parsed {
        loop {
            let at = self.at();
            if self.accept("[") {
                let index = self.expression()?;
                self.expect("]", "`]`")?;
                expr = made(at, Node::Index(Box::new([expr, index])))?;
            } else if self.accept(".") {
                let at = self.at();
                let name = match self.next() {
                    Token::Name(name) if !["in", "true", "false", "null"].contains(&&*name) => name,
                    Token::Quoted(field) => {
                        expr = self.select(at, expr, &field)?;
                        continue;
                    }
                    _ => {
                        return wrong(
                            at,
                            Mistake::Unexpected { expected: "a field", found: "no name".to_owned() },
                        );
                    }
                };
                expr = if self.accept("(") {
                    self.method(at, expr, &name)?
                } else {
                    self.select(at, expr, &name)?
                };
            } else {
                return Ok(expr);
            }
        }
    }

    fn select(&self, at: Position, of: Expr, field: &str) -> Parsed {
        if let Node::Variable(number) = of.node
            && let Some(Variable { name, fields: Some(fields) }) = self.variables.get(number)
            && !fields.contains(&field)
        {
            let nearest = nearest(field, fields.iter().copied()).map(str::to_owned);
            let (variable, field) = ((*name).to_owned(), field.to_owned());
            return wrong(at, Mistake::UnknownField { variable, field, nearest, known: fields.join(", ") });
        }
        made(at, Node::Select(Box::new(of), field.into()))
    }

    /// A call on a value, after its opening parenthesis.
    fn method(&mut self, at: Position, receiver: Expr, name: &str) -> Parsed {
        if let Some(signature) = MACROS.iter().find(|signature| signature.name == name) {
            return self.range(at, receiver, signature);
        }
        let Some(signature) = FUNCTIONS.iter().find(|signature| signature.name == name) else {
            let members = FUNCTIONS.iter().filter(|signature| signature.member.is_some());
            let known =
                members.map(|signature| signature.name).chain(MACROS.iter().map(|signature| signature.name));
            return wrong(at, unknown_function(name, known));
        };
        let Some(allowed) = &signature.member else { return wrong(at, Mistake::GlobalOnly(signature.name)) };
        let arguments = self.list(")", "`,` or `)`")?;
        if !allowed.contains(&arguments.len()) {
            return wrong(at, Mistake::Arguments { usage: signature.usage, given: arguments.len() });
        }
        let all = std::iter::once(receiver).chain(arguments).collect();
        call(at, signature.function, all)
    }

    /// A macro, after its opening parenthesis.
    fn range(&mut self, at: Position, over: Expr, signature: &MacroSignature) -> Parsed {
        let name_at = self.at();
        let Token::Name(name) = self.next() else {
            return wrong(name_at, Mistake::MacroVariable(signature.name));
        };
        if !self.accept(",") {
            return wrong(name_at, Mistake::MacroVariable(signature.name));
        }
        refuse_reserved(name_at, &name)?;
        self.locals.push(name);
        let mut bodies = self.list(")", "`,` or `)`")?;
        self.locals.pop();
        if !signature.arguments.contains(&(bodies.len() + 1)) {
            return wrong(at, Mistake::Arguments { usage: signature.usage, given: bodies.len() + 1 });
        }
        let last = bodies.pop();
        let first = bodies.pop();
        let range = match signature.kind {
            Macro::Map => Range { over, condition: first, result: last },
            _ => Range { over, condition: last, result: None },
        };
        made(at, Node::Macro(signature.kind, Box::new(range)))
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        if self.accept("(") {
            let expr = self.expression()?;
            self.expect(")", "`)`")?;
            return Ok(expr);
        }
        if self.accept("[") {
            let items = self.list("]", "`,` or `]`")?;
            return made(at, Node::List(items));
        }
        if self.accept("{") {
            return self.map(at);
        }
        // The variable of a macro cannot hide a name with a dot before it.
        let is_outermost = self.accept(".");
        let node = match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                return self.name(at, &name, is_outermost);
            }
            _ if is_outermost => return self.unexpected("a name"),
            Token::Int(value) => match i64::try_from(value) {
                Ok(value) => Node::Int(value),
                Err(_) => return wrong(at, Mistake::Number(value.to_string())),
            },
            Token::Uint(value) => Node::Uint(value),
            Token::Double(value) => Node::Double(value),
            Token::String(text) => Node::String(text.into()),
            Token::Bytes(bytes) => Node::Bytes(bytes.into()),
            Token::Quoted(_) | Token::Sign(_) | Token::End => return self.unexpected("a value"),
        };
        self.next();
        Ok(Expr::new(at, node))
    }

    fn map(&mut self, at: Position) -> Parsed {
        let mut entries = Vec::new();
        while !self.accept("}") {
            let key = self.expression()?;
            self.expect(":", "`:` and a value")?;
            entries.push((key, self.expression()?));
            if !self.accept(",") {
                self.expect("}", "`,` or `}`")?;
                break;
            }
        }
        made(at, Node::Map(entries))
    }

    /// Expressions up to a closing sign. A comma may follow the last one.
    fn list(&mut self, close: &'static str, expected: &'static str) -> Result<Vec<Expr>, CompileError> {
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(self.expression()?);
            if !self.accept(",") {
                self.expect(close, expected)?;
                break;
            }
        }
        Ok(items)
    }

    /// A name: a literal word, a call, a variable or a type.
    fn name(&mut self, at: Position, name: &str, is_outermost: bool) -> Parsed {
        let word = match name {
            "true" => Some(Node::Bool(true)),
            "false" => Some(Node::Bool(false)),
            "null" => Some(Node::Null),
            _ => None,
        };
        if let Some(node) = word {
            return Ok(Expr::new(at, node));
        }
        refuse_reserved(at, name)?;
        if self.accept("(") {
            return self.call(at, name);
        }
        if let Some(local) = self.locals.iter().rposition(|local| local == name)
            && !is_outermost
        {
            return Ok(Expr::new(at, Node::Local(local)));
        }
        if let Some(variable) = self.variables.iter().position(|variable| variable.name == name) {
            return Ok(Expr::new(at, Node::Variable(variable)));
        }
        let mut whole = name.to_owned();
        while name == "google" && self.accept(".") {
            match self.next() {
                Token::Name(part) => whole = format!("{whole}.{part}"),
                _ => return self.unexpected("a name"),
            }
        }
        if let Some((_, kind)) = Type::ALL.iter().find(|(known, _)| *known == whole) {
            return Ok(Expr::new(at, Node::Type(*kind)));
        }
        let known = self.variables.iter().map(|variable| variable.name);
        let locals = self.locals.iter().map(|local| &**local);
        let nearest = nearest(name, known.clone().chain(locals)).map(str::to_owned);
        let known = known.collect::<Vec<_>>().join(", ");
        wrong(at, Mistake::UnknownName { name: name.to_owned(), nearest, known })
    }

    /// A call without a receiver, after its opening parenthesis.
    fn call(&mut self, at: Position, name: &str) -> Parsed {
        if name == "has" {
            let argument = self.expression()?;
            self.expect(")", "`)`")?;
            return match argument.node {
                Node::Select(of, field) => made(at, Node::Has(of, field)),
                _ => wrong(at, Mistake::HasField),
            };
        }
        let Some(signature) = FUNCTIONS.iter().find(|signature| signature.name == name) else {
            let globals = FUNCTIONS.iter().filter(|signature| signature.global.is_some());
            return wrong(at, unknown_function(name, globals.map(|signature| signature.name).chain(["has"])));
        };
        let Some(allowed) = &signature.global else { return wrong(at, Mistake::MemberOnly(signature.name)) };
        let arguments = self.list(")", "`,` or `)`")?;
        if !allowed.contains(&arguments.len()) {
            return wrong(at, Mistake::Arguments { usage: signature.usage, given: arguments.len() });
        }
        call(at, signature.function, arguments)
    }
}

/// A call, with what can be prepared: a literal pattern, a literal zone.
fn call(at: Position, function: Function, mut arguments: Vec<Expr>) -> Parsed {
    let literal = match arguments.get(1) {
        Some(Expr { node: Node::String(text), .. }) => Some(text.clone()),
        _ => None,
    };
    match (function, literal) {
        (Function::Matches, Some(text)) => match Pattern::compile(&text) {
            Ok(pattern) => made(at, Node::Matches(Box::new(arguments.remove(0)), Box::new(pattern))),
            Err(error) => wrong(arguments[1].at, Mistake::Pattern(error.to_string())),
        },
        (Function::Time(part), Some(text)) => match Zone::load(&text) {
            Some(zone) => made(at, Node::Zoned(part, Box::new(arguments.remove(0)), zone)),
            None => wrong(arguments[1].at, Mistake::Zone(text.into())),
        },
        (function, _) => made(at, Node::Call(function, arguments)),
    }
}

fn unknown_function(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Mistake {
    let nearest = nearest(name, known.clone()).map(str::to_owned);
    Mistake::UnknownFunction { name: name.to_owned(), nearest, known: known.collect::<Vec<_>>().join(", ") }
}

fn refuse_reserved(at: Position, name: &str) -> Result<(), CompileError> {
    if name == "in" || RESERVED.contains(&name) {
        return wrong(at, Mistake::Reserved(name.to_owned()));
    }
    Ok(())
}
