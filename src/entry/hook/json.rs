//! JSON in which every key stands once. Of two, one reader takes the first and another the last, so that what was decided
//! need not be what is used.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The value of a text; None where it is none, or a key stands twice in it.
#[must_use]
pub fn value(bytes: &[u8]) -> Option<Value> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Once.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON in which every key stands once")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Once)? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key_seed(std::marker::PhantomData::<String>)? {
            let value = entries.next_value_seed(Once)?;
            if all.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_stands_once() {
        for (text, expected) in [
            (
                r#"{"a":[1,-2,0.5,null,true,"x\u00e9"],"b":{"a":{}}}"#,
                Some(json!({"a": [1, -2, 0.5, null, true, "x\u{e9}"], "b": {"a": {}}})),
            ),
            (r#"{"a":1,"a":2}"#, None),
            (r#"{"a":1,"\u0061":2}"#, None),
            (r#"{"a":[{"b":1,"b":1}]}"#, None),
            ("{} x", None),
            ("{}{}", None),
            ("", None),
        ] {
            assert_eq!(value(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(value(b"{\"a\":\"\xff\"}"), None);
        assert_eq!(value(&[b"[".repeat(4000), b"]".repeat(4000)].concat()), None);
    }
}
