//! Value order: by kind first, then by content.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::number::Number;
use crate::value::{Object, Value};

/// How deep sorted arrays and objects may be nested.
const MAX_DEPTH: usize = 10_001;

impl Value {
    /// The rank of the value's kind among all kinds.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Number(_) => 3,
            Self::String(_) => 4,
            Self::Array(_) => 5,
            Self::Object(_) => 6,
        }
    }
}

impl Value {
    /// The order in which values are sorted; `None` if they are nested too deeply.
    pub(crate) fn sort_order(&self, other: &Self) -> Option<Ordering> {
        compare(self, other, Number::sort_order, MAX_DEPTH)
    }
}

/// How values compare, for `<` and `==`.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self, other, Number::order, usize::MAX).unwrap_or(Ordering::Equal)
    }
}

type OrderOfNumbers = fn(&Number, &Number) -> Ordering;

/// Compares values that may be nested `depth` times; `None` if they are deeper.
fn compare(left: &Value, right: &Value, numbers: OrderOfNumbers, depth: usize) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Some(numbers(left, right)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Array(left), Value::Array(right)) => {
            let depth = depth.checked_sub(1)?;
            for (left, right) in left.iter().zip(right.iter()) {
                let order = compare(left, right, numbers, depth)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
            Some(left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            compare_objects(left, right, numbers, depth.checked_sub(1)?)
        }
        _ => Some(left.rank().cmp(&right.rank())),
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(left), Self::Array(right)) => left == right,
            (Self::Object(left), Self::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, value)| right.get(key).is_some_and(|found| found == value))
            }
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Value {}

/// Objects are compared by their sets of keys, then by their values in the order of the keys.
fn compare_objects(left: &Object, right: &Object, numbers: OrderOfNumbers, depth: usize) -> Option<Ordering> {
    let (left_keys, right_keys) = (sorted_keys(left), sorted_keys(right));
    let order = left_keys.cmp(&right_keys);
    if order.is_ne() {
        return Some(order);
    }
    for key in left_keys {
        let order = compare(&left[key], &right[key], numbers, depth)?;
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

pub(crate) fn sorted_keys(object: &Object) -> Vec<&Rc<str>> {
    let mut keys: Vec<_> = object.keys().collect();
    keys.sort_unstable();
    keys
}
