//! Task ids: unguessable, and safe as the name of a file.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::{self, Display};

/// The id of a task: 128 random bits, as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TaskId(Box<str>);

const LENGTH: usize = 32;

impl TaskId {
    /// An id made of random bits.
    pub fn of_random(bits: [u8; LENGTH / 2]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bits)).into())
    }

    /// Parses an id that a client sent. `None` for anything else, such as a path.
    pub fn parse(text: &str) -> Option<Self> {
        let is_id =
            text.len() == LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("`id` is not the id of a task"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hexadecimal_digits_are_an_id() {
        let id = TaskId::of_random([0xab; 16]);
        assert_eq!(TaskId::parse(id.as_str()), Some(id.clone()));
        let hostile = [
            "",
            "..",
            "../../../../../../etc/passwd/aaaaaa",
            &"A".repeat(32),
            &"g".repeat(32),
            &"a".repeat(33),
        ];
        for text in
            hostile.into_iter().chain([&*format!("{}\0", "a".repeat(31)), &*format!("{}/", "a".repeat(31))])
        {
            assert_eq!(TaskId::parse(text), None, "{text:?}");
        }
    }
}
