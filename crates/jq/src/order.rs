//! The order of values: kinds first, then what they hold.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::value::{Object, Value};

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

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.order(right),
            (Self::String(left), Self::String(right)) => left.cmp(right),
            (Self::Array(left), Self::Array(right)) => left.cmp(right),
            (Self::Object(left), Self::Object(right)) => compare_objects(left, right),
            _ => self.rank().cmp(&other.rank()),
        }
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
fn compare_objects(left: &Object, right: &Object) -> Ordering {
    let (left_keys, right_keys) = (sorted_keys(left), sorted_keys(right));
    left_keys.cmp(&right_keys).then_with(|| {
        let orders = left_keys.iter().map(|key| left[*key].cmp(&right[*key]));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

pub(crate) fn sorted_keys(object: &Object) -> Vec<&Rc<str>> {
    let mut keys: Vec<_> = object.keys().collect();
    keys.sort_unstable();
    keys
}
