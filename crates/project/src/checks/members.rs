//! Struct members, as the struct's own `Deserialize` names them: no second list can go stale.

use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor, value::Error};
use serde::forward_to_deserialize_any;

/// The names of the members of `T`, which is a struct.
pub(crate) fn known<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It gets nothing to read, so it stops after naming its fields.
    let _ = T::deserialize(Asked(&mut fields));
    fields
}

struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("there is nothing to read"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("only a struct says what it wants"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::known;
    use crate::declarations::metadata::Metadata;

    #[test]
    fn a_struct_names_its_members_as_they_are_written() {
        let known = known::<Metadata>();
        for name in ["name", "inputSchema", "_meta", "timeoutSecs", "uriTemplate", "metadata", "path"] {
            assert!(known.contains(&name), "{name}");
        }
        assert!(!known.contains(&"input_schema"));
    }
}
