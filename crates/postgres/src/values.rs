//! Values of a statement, with their types: a statement that names them needs no preparation, and so a single round trip.

use tokio_postgres::types::{ToSql, Type};

#[derive(Default)]
pub(crate) struct Values(Vec<(Box<dyn ToSql + Send + Sync>, Type)>);

impl Values {
    pub(crate) fn text(self, text: &str) -> Self {
        self.with(text.to_owned(), Type::TEXT)
    }

    pub(crate) fn optional_text(self, text: Option<&str>) -> Self {
        self.with(text.map(str::to_owned), Type::TEXT)
    }

    pub(crate) fn bytes(self, bytes: Vec<u8>) -> Self {
        self.with(bytes, Type::BYTEA)
    }

    pub(crate) fn optional_bytes(self, bytes: Option<Vec<u8>>) -> Self {
        self.with(bytes, Type::BYTEA)
    }

    pub(crate) fn list_of_bytes(self, list: Vec<Vec<u8>>) -> Self {
        self.with(list, Type::BYTEA_ARRAY)
    }

    pub(crate) fn list_of_texts(self, list: Vec<Option<String>>) -> Self {
        self.with(list, Type::TEXT_ARRAY)
    }

    pub(crate) fn list_of_flags(self, list: Vec<bool>) -> Self {
        self.with(list, Type::BOOL_ARRAY)
    }

    pub(crate) fn list_of_numbers(self, list: impl Iterator<Item = u64>) -> Self {
        self.with(list.map(signed).collect::<Vec<_>>(), Type::INT8_ARRAY)
    }

    /// Numbers of ours are far smaller than the largest.
    pub(crate) fn number(self, number: u64) -> Self {
        self.with(signed(number), Type::INT8)
    }

    pub(crate) fn fraction(self, number: f64) -> Self {
        self.with(number, Type::FLOAT8)
    }

    pub(crate) fn is(self, flag: bool) -> Self {
        self.with(flag, Type::BOOL)
    }

    fn with(mut self, value: impl ToSql + Send + Sync + 'static, kind: Type) -> Self {
        self.0.push((Box::new(value), kind));
        self
    }

    /// As the library takes them.
    pub(crate) fn borrowed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.0.iter().map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
