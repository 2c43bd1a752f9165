//! Header values: compares HTTP headers with the JSON values that they repeat.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_wire::Raw;
use std::borrow::Cow;

/// Marks a Base64 value, for text that a header cannot contain as it is.
const ENCODED: (&[u8], &[u8]) = (b"=?base64?", b"?=");

/// Larger integers, positive or negative, are not exact in all languages, and clients leave them out of headers.
const LARGEST_SAFE: f64 = 9_007_199_254_740_991.0;

/// Why a header cannot be read. The messages complete "the header … ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Characters,
    Base64,
    Text,
}

impl Unreadable {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Characters => "holds characters that must be encoded as `=?base64?…?=`",
            Self::Base64 => {
                "is no Base64 of the standard alphabet with its padding between `=?base64?` and `?=`"
            }
            Self::Text => "encodes what is no UTF-8",
        }
    }
}

/// The text of a header value, decoded if it is encoded.
pub(crate) fn decode(value: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    let encoded = value.strip_prefix(ENCODED.0).and_then(|rest| rest.strip_suffix(ENCODED.1));
    if let Some(encoded) = encoded {
        let bytes = STANDARD.decode(encoded).map_err(|_| Unreadable::Base64)?;
        return String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Unreadable::Text);
    }
    let is_plain = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let text = std::str::from_utf8(value).ok().filter(|_| is_plain);
    text.map(Cow::Borrowed).ok_or(Unreadable::Characters)
}

/// Whether a client has to repeat the value in a header: every value that a header can represent.
pub(crate) fn must_be_repeated(value: Raw<'_>) -> bool {
    match value.kind() {
        "a string" => value.string().is_some(),
        "a boolean" => true,
        "a number" => value.text().parse().is_ok_and(is_safe),
        _ => false,
    }
}

fn is_safe(number: f64) -> bool {
    number.is_finite() && (number.fract() != 0.0 || number.abs() <= LARGEST_SAFE)
}

/// Whether a header equals the value. Numbers are compared by value, not by notation.
pub(crate) fn repeats(said: &str, value: Raw<'_>) -> bool {
    match value.kind() {
        "a string" => value.string().is_some_and(|text| text == said),
        "a boolean" => value.text() == said,
        "a number" => value.text() == said || is_decimal(said) && same_number(said, value.text()),
        _ => false,
    }
}

/// Whether the text is a number as written in headers: digits, with an optional sign and an optional fraction.
fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    digits(whole.strip_prefix('-').unwrap_or(whole)) && digits(fraction)
}

fn same_number(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(Number::read);
    one.is_some() && one == other
}

/// An exact number of any length: its significant digits, and the power of ten of the last one.
#[derive(PartialEq, Eq)]
struct Number {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

impl Number {
    /// Reads a JSON number; leading zeros are allowed. `None` if its power of ten is out of range.
    fn read(text: &str) -> Option<Self> {
        let (text, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (text, is_negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let counting = digits.trim_end_matches('0');
        if counting.is_empty() {
            return Some(Self { is_negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i64::try_from(digits.len() - counting.len()).ok()?;
        let exponent = power.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Some(Self { is_negative, digits: counting.to_owned(), exponent: exponent.checked_add(zeros)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kit::raw;
    use proptest::prelude::*;

    #[test]
    fn plain_values_stand_for_themselves_and_encoded_ones_for_what_they_hold() {
        let rows = [
            ("us-west1", Ok("us-west1")),
            ("a\tb c", Ok("a\tb c")),
            ("", Ok("")),
            ("=?base64??=", Ok("")),
            ("=?base64?w7ZzdA==?=", Ok("öst")),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", Ok("Hello, 世界")),
            ("=?base64?IHBhZGRlZCA=?=", Ok(" padded ")),
            ("=?base64?bGluZTEKbGluZTI=?=", Ok("line1\nline2")),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", Ok("=?base64?literal?=")),
            // Without both marks, or with another spelling of them, it is not encoded.
            ("SGVsbG8=", Ok("SGVsbG8=")),
            ("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            ("SGVsbG8=?=", Ok("SGVsbG8=?=")),
            ("=?BASE64?SGVsbG8=?=", Ok("=?BASE64?SGVsbG8=?=")),
            ("=?base64?=", Ok("=?base64?=")),
            ("=?base64?SGVsbG8?=", Err(Unreadable::Base64)),
            ("=?base64?SGVs!!!bG8=?=", Err(Unreadable::Base64)),
            ("=?base64?SGVsbG9=?=", Err(Unreadable::Base64)),
            ("=?base64?SGVs bG8=?=", Err(Unreadable::Base64)),
            ("=?base64?_-8=?=", Err(Unreadable::Base64)),
            ("=?base64?/w==?=", Err(Unreadable::Text)),
            ("öst", Err(Unreadable::Characters)),
            ("a\u{1}b", Err(Unreadable::Characters)),
            ("a\u{7f}b", Err(Unreadable::Characters)),
        ];
        for (value, expected) in rows {
            assert_eq!(decode(value.as_bytes()).as_deref(), expected.as_deref(), "{value:?}");
        }
        assert_eq!(decode(b"\xff"), Err(Unreadable::Characters));
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let same = [
            ("42", "42"),
            ("42.0", "42"),
            ("42", "42.00"),
            ("42", "4.2e1"),
            ("042", "42"),
            ("-7", "-7.0"),
            ("0", "-0"),
            ("-0", "0.0"),
            ("1000", "1E+3"),
            ("9007199254740993", "9007199254740993"),
            ("1e3", "1e3"),
            ("0.5", "5e-1"),
        ];
        for (said, value) in same {
            assert!(repeats(said, raw(value)), "{said} {value}");
        }
        let others = [
            ("43", "42"),
            ("-42", "42"),
            ("", "0"),
            ("0x2a", "42"),
            (" 42", "42"),
            ("+42", "42"),
            ("42.", "42"),
            (".5", "0.5"),
            ("1e3", "1000"),
            ("4_2", "42"),
            ("9007199254740992", "9007199254740993"),
            ("1", "1e99999999999999999999"),
            ("true", "1"),
        ];
        for (said, value) in others {
            assert!(!repeats(said, raw(value)), "{said} {value}");
        }
    }

    #[test]
    fn only_what_is_written_in_the_body_is_repeated() {
        for (said, value) in [("true", "true"), ("false", "false"), ("42", "\"42\""), ("é", r#""\u00e9""#)] {
            assert!(repeats(said, raw(value)) && must_be_repeated(raw(value)), "{said} {value}");
        }
        for (said, value) in [("True", "true"), ("1", "true"), ("null", "null"), ("{}", "{}"), ("a", "\"A\"")]
        {
            assert!(!repeats(said, raw(value)), "{said} {value}");
        }
        let optional = ["null", "{}", "[1]", "9007199254740992", "-1e300", "1e999", r#""\ud800""#];
        assert!(optional.into_iter().all(|value| !must_be_repeated(raw(value))));
        assert!(
            ["9007199254740991", "1.5", "0", "\"\""].into_iter().all(|value| must_be_repeated(raw(value)))
        );
    }

    /// How a client writes a value into a header, according to the specification.
    fn encode(value: &str) -> String {
        let is_plain = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
        let is_trimmed = value.trim_matches([' ', '\t']).len() == value.len();
        let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
        if is_plain && is_trimmed && !looks_encoded {
            return value.to_owned();
        }
        format!("=?base64?{}?=", STANDARD.encode(value))
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ -~\t]{0,20}",
            "(=\\?base64\\?)?[A-Za-z0-9+/=?]{0,12}(\\?=)?",
            "[ \t]?[a-zé]{0,5}[ \t\n]?",
        ]
    }

    proptest! {
        #[test]
        fn encoded_values_are_decoded_to_the_same(text in texts(), other in texts()) {
            let value = serde_json::Value::from(text.clone()).to_string();
            let header = encode(&text);
            prop_assert_eq!(&*decode(header.as_bytes()).unwrap(), &*text);
            prop_assert!(repeats(&decode(header.as_bytes()).unwrap(), raw(&value)));
            // And no other value encodes to the same text.
            if other != text {
                prop_assert_ne!(encode(&other), header);
            }
        }

        #[test]
        fn whatever_comes_is_decoded_or_refused(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = decode(&value);
        }

        #[test]
        fn integers_are_repeated_by_their_own_digits_only(one: i64, other: i64, zeros in 0..4_usize) {
            let written = format!("{one}.{}", "0".repeat(zeros + 1));
            prop_assert!(repeats(&one.to_string(), raw(&written)) && repeats(&written, raw(&one.to_string())));
            prop_assert_eq!(repeats(&one.to_string(), raw(&other.to_string())), one == other);
        }
    }
}
