//! Engine: what the interpreter needs to know about our values, and what filters can reach while they run.

use std::fmt;

use jaq_core::data::HasLut;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{DataT, Error, Lut, ValR, ValT, ValX};

use crate::inputs::BadInput;
use crate::number::Number;
use crate::value::{Object, Value};

/// The kind of data that filters are compiled for.
pub(crate) struct FilterTypes;

impl DataT for FilterTypes {
    type V<'a> = Value;
    type Data<'a> = &'a World<'a>;
}

pub(crate) type Context<'a> = jaq_core::Ctx<'a, FilterTypes>;

/// Further inputs, and the destination of `debug`, `stderr` and last messages.
pub(crate) trait Outside {
    fn next_input(&self) -> Result<Option<Value>, BadInput>;
    fn filename(&self) -> Value;
    fn line(&self) -> usize;
    fn tell(&self, message: &str);
}

/// What filters can reach besides their input.
pub(crate) struct World<'a> {
    lut: &'a Lut<FilterTypes>,
    pub(crate) outside: &'a dyn Outside,
    /// The lowest address the stack may reach while filters call each other.
    stack_end: usize,
}

/// Unwinds the stack when filters have called each other too often.
pub(crate) struct TooManyCalls;

/// How much of a stack is reserved at least for the functions that filters call, and for values that are nested as deeply as
/// is allowed; of a large stack it is an eighth.
const RESERVE: usize = 16 * 1024 * 1024;

impl<'a> World<'a> {
    /// The world of a filter that is run from here, near the beginning of a stack of this size.
    pub(crate) fn new(lut: &'a Lut<FilterTypes>, outside: &'a dyn Outside, stack: usize) -> Self {
        let reserve = RESERVE.max(stack / 8);
        Self { lut, outside, stack_end: stack_address().saturating_sub(stack.saturating_sub(reserve)) }
    }
}

/// The address to which the stack has grown.
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

impl<'a> HasLut<'a, FilterTypes> for &'a World<'a> {
    /// The interpreter calls this at every step, so that no recursion escapes the check. A step cannot fail, so the
    /// stack is unwound as by a panic, but without its message.
    fn lut(&self) -> &'a Lut<FilterTypes> {
        if stack_address() < self.stack_end {
            std::panic::resume_unwind(Box::new(TooManyCalls));
        }
        self.lut
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.to_text())
    }
}

impl From<Range<Self>> for Value {
    fn from(range: Range<Self>) -> Self {
        let mut bounds = Object::default();
        bounds.insert("start".into(), range.start.unwrap_or_default());
        bounds.insert("end".into(), range.end.unwrap_or_default());
        Self::Object(bounds.into())
    }
}

type Items<T> = Box<dyn Iterator<Item = ValR<T, Value>>>;

fn not_iterable<T: 'static>(value: &Value) -> Items<T> {
    Box::new(std::iter::once(Value::fail(format!("Cannot iterate over {}", value.described()))))
}

impl ValT for Value {
    fn from_num(text: &str) -> ValR<Self> {
        Ok(Self::Number(Number::read(text)))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(members: I) -> ValR<Self> {
        let mut object = Object::default();
        for (key, value) in members {
            let Self::String(name) = key else {
                return Self::fail(format!("Object keys must be strings, not {}", key.described()));
            };
            object.insert(name, value);
        }
        Ok(Self::Object(object.into()))
    }

    fn key_values(self) -> Items<(Self, Self)> {
        match self {
            Self::Array(items) => {
                Box::new((0..items.len()).map(move |at| Ok((at.into(), items[at].clone()))))
            }
            Self::Object(members) => Box::new((0..members.len()).filter_map(move |at| {
                let (key, value) = members.get_index(at)?;
                Some(Ok((Self::String(key.clone()), value.clone())))
            })),
            other => not_iterable(&other),
        }
    }

    fn values(self) -> Items<Self> {
        match self {
            Self::Array(items) => Box::new((0..items.len()).map(move |at| Ok(items[at].clone()))),
            Self::Object(members) => {
                Box::new((0..members.len()).filter_map(move |at| Some(Ok(members.get_index(at)?.1.clone()))))
            }
            other => not_iterable(&other),
        }
    }

    fn index(self, key: &Self) -> ValR<Self> {
        self.at(key)
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        self.slice(range.start, range.end)
    }

    // Assignments are rewritten into changes along paths before a filter is compiled (`rewrite.rs`), so the interpreter
    // never updates a value by itself.

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Err(Error::path_expr(self).into())
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: &Self,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Err(Error::path_expr(self).into())
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: Range<&Self>,
        _: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        Err(Error::path_expr(self).into())
    }

    fn as_bool(&self) -> bool {
        self.is_true()
    }

    fn into_string(self) -> Self {
        Self::String(self.to_text())
    }
}
