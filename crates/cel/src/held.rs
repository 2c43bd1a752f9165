//! Borrowed or shared text and bytes: copying one costs nothing.

use std::ops::Deref;
use std::rc::Rc;

#[derive(Debug)]
pub enum Held<'a, T: ?Sized> {
    Borrowed(&'a T),
    Shared(Rc<T>),
}

impl<T: ?Sized> Clone for Held<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(value) => Self::Borrowed(value),
            Self::Shared(value) => Self::Shared(Rc::clone(value)),
        }
    }
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Shared(value) => value,
        }
    }
}
