//! The compiled tree of an expression.

use crate::error::Position;
use crate::pattern::Pattern;
use crate::value::Type;
use crate::zone::Zone;

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) at: Position,
    pub(crate) node: Node,
    /// The number of levels below and including this one.
    pub(crate) height: usize,
}

#[derive(Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Type(Type),
    /// A variable of the environment, by its number.
    Variable(usize),
    /// A variable of a macro, by its number from the outermost.
    Local(usize),
    Select(Box<Expr>, Box<str>),
    Has(Box<Expr>, Box<str>),
    Index(Box<[Expr; 2]>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Choice(Box<[Expr; 3]>),
    Binary(Operator, Box<[Expr; 2]>),
    Call(Function, Vec<Expr>),
    /// `matches` with a literal pattern.
    Matches(Box<Expr>, Box<Pattern>),
    /// A part of a time in a literal zone.
    Zoned(TimePart, Box<Expr>, Zone),
    Macro(Macro, Box<Range>),
}

/// A macro over the elements of a list or the keys of a map.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) over: Expr,
    /// The condition, if there is one.
    pub(crate) condition: Option<Expr>,
    /// The new value, for `map`.
    pub(crate) result: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Macro {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

impl Operator {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    ToString,
    ToInt,
    ToUint,
    ToDouble,
    ToBytes,
    ToBool,
    ToTimestamp,
    ToDuration,
    TypeOf,
    Dyn,
    LowerAscii,
    UpperAscii,
    Trim,
    Split,
    Join,
    Replace,
    IndexOf,
    Substring,
    Time(TimePart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimePart {
    FullYear,
    Month,
    /// The day of the month, from 0.
    DayOfMonth,
    /// The day of the month, from 1.
    Date,
    DayOfWeek,
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

impl Expr {
    pub(crate) fn new(at: Position, node: Node) -> Self {
        let mut below = 0;
        let mut expr = Self { at, node, height: 0 };
        expr.for_each_child(&mut |child| below = below.max(child.height));
        expr.height = below + 1;
        expr
    }

    pub(crate) fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        match &self.node {
            Node::Select(of, _)
            | Node::Has(of, _)
            | Node::Not(of)
            | Node::Negate(of)
            | Node::Matches(of, _)
            | Node::Zoned(_, of, _) => visit(of),
            Node::Index(both) | Node::Binary(_, both) => both.iter().for_each(visit),
            Node::Choice(three) => three.iter().for_each(visit),
            Node::List(items) | Node::And(items) | Node::Or(items) | Node::Call(_, items) => {
                items.iter().for_each(visit);
            }
            Node::Map(entries) => entries.iter().for_each(|(key, value)| {
                visit(key);
                visit(value);
            }),
            Node::Macro(_, range) => {
                visit(&range.over);
                range.condition.iter().chain(&range.result).for_each(visit);
            }
            Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::Uint(_)
            | Node::Double(_)
            | Node::String(_)
            | Node::Bytes(_)
            | Node::Type(_)
            | Node::Variable(_)
            | Node::Local(_) => {}
        }
    }

    /// Visits the expression and everything below it.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        self.for_each_child(&mut |child| child.visit(visit));
    }
}
