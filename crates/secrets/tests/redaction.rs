//! Redaction: no secret is left in a text, however it is written there, and nothing else changes.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcp_bash_secrets::{Pieces, Redactor, Secret};
use proptest::prelude::*;
use serde_json::Value;
use std::borrow::Cow;

fn secret(text: &str) -> Secret {
    Secret::new(text.into()).unwrap()
}

fn redactor(texts: &[&str]) -> Redactor {
    Redactor::new(&texts.iter().map(|text| secret(text)).collect::<Vec<_>>())
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(digit.into(), 16).unwrap())
        .collect()
}

fn percent(text: &str, keep: &[u8]) -> String {
    let one =
        |byte: u8| if keep.contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

fn lower_percent(text: &str, keep: &[u8]) -> String {
    let one = |byte: u8| {
        if keep.contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }
    };
    text.bytes().map(one).collect()
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// JSON as Python writes it: only ASCII.
fn ascii_json(text: &str) -> String {
    let one = |unit: u16| match unit {
        0x22 => "\\\"".to_owned(),
        0x5c => "\\\\".to_owned(),
        0x20..0x7f => char::from_u32(unit.into()).unwrap().to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    text.encode_utf16().map(one).collect()
}

/// As bash quotes what is not ASCII: `$'\303\251'`.
fn octal(text: &str) -> String {
    let one = |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("\\{byte:03o}") };
    text.replace('\\', r"\\").replace('\'', r"\'").bytes().map(one).collect()
}

/// Base64 in lines, as `base64` prints it.
fn wrapped(text: &str, width: usize) -> String {
    let lines: Vec<_> =
        text.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join("\n")
}

/// The ways to write a secret, each of which must be found.
fn writings(secret: &str) -> Vec<(&'static str, String)> {
    let shifted = |shift: usize| STANDARD.encode([&b"ab"[..shift], secret.as_bytes(), b"xyz"].concat());
    let json = serde_json::to_string(secret).unwrap();
    let keep = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let shell: String = secret
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() || letter == '\n' {
                letter.to_string()
            } else {
                format!("\\{letter}")
            }
        })
        .collect();
    vec![
        ("whole", secret.to_owned()),
        ("base64", STANDARD.encode(secret)),
        ("base64 shifted by 1", shifted(1)),
        ("base64 shifted by 2", shifted(2)),
        ("base64 for URLs", URL_SAFE_NO_PAD.encode(secret)),
        ("base64 in lines", wrapped(&STANDARD.encode(secret), 76)),
        ("hex", hex(secret.as_bytes())),
        ("upper hex", hex(secret.as_bytes()).to_uppercase()),
        ("hex in lines", wrapped(&hex(secret.as_bytes()), 60)),
        ("percent", percent(secret, keep)),
        ("lower percent", lower_percent(secret, keep)),
        ("percent, all", percent(secret, b"")),
        ("a form", percent(&secret.replace(' ', "\u{1}"), keep).replace("%01", "+")),
        ("JSON", json[1..json.len() - 1].to_owned()),
        ("ASCII JSON", ascii_json(secret)),
        ("JSON with escaped slashes", json[1..json.len() - 1].replace('/', "\\/")),
        ("XML", xml(secret)),
        ("shell", shell),
        ("shell in quotes", secret.replace('\'', r"'\''")),
        ("shell in ASCII", octal(secret)),
    ]
}

/// Whether some of a secret is left: any eight bytes in a row of one of its writings.
fn is_left(text: &str, writing: &str) -> bool {
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != b'\n').collect();
    let writing: Vec<u8> = writing.bytes().filter(|byte| *byte != b'\n').collect();
    writing.windows(8).any(|part| text.windows(8).any(|window| window == part))
}

#[test]
fn a_secret_is_gone_in_every_writing() {
    for value in [
        "hunter2-hunter2",
        r#"q"u\o/t&e<d>'s %41 +x"#,
        "päß wörd: 😀 €uro",
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nab\nx+/yz0123456789ABCDEF\n-----END KEY-----",
        &"0123456789abcdefXYZ+/=".repeat(40),
    ] {
        let redactor = redactor(&[value]);
        for (how, writing) in writings(value) {
            let text = format!("before {writing} after");
            let redacted = redactor.redact_text(&text);
            let is_shifted = how.starts_with("base64");
            assert!(redacted.contains("***"), "{how}: {redacted}");
            // Base64 beside the secret shares a character with it.
            if !is_shifted {
                assert!(!is_left(&redacted, &writing), "{how} of {value:?}: {redacted}");
                assert!(redacted.starts_with("before ") && redacted.ends_with(" after"), "{how}: {redacted}");
            }
            let left = redacted.replace("***", "").replace("before ", "").replace(" after", "");
            assert!(left.trim().len() <= 12, "{how} of {value:?}: {redacted}");
        }
    }
}

#[test]
fn lines_of_a_secret_are_taken_out_alone_if_they_are_long_enough() {
    let redactor = redactor(&["first-line-of-it\nab\nsecond-line-of-it"]);
    assert_eq!(redactor.redact_text("a second-line-of-it b ab c first-line-of-it"), "a *** b ab c ***");
    let encoded = STANDARD.encode("second-line-of-it");
    assert!(redactor.redact_text(&encoded).starts_with("***"));
}

#[test]
fn text_without_a_secret_is_not_copied() {
    let redactor = redactor(&["hunter2-hunter2"]);
    for text in ["", "hunter2", "hunter2-hunter", "50% & \\ more\nlines", "hunter2-\u{fffd}hunter2"] {
        assert!(matches!(redactor.redact_text(text), Cow::Borrowed(_)), "{text}");
    }
    assert!(matches!(redactor.redact(&[0xff; 100]), Cow::Borrowed(_)));
}

#[test]
fn a_document_stays_one() {
    let redactor = redactor(&[r#"a"b\c","d"#, "ends-with-\\", "12345678901"]);
    for document in [
        serde_json::json!({ r#"a"b\c","d"#: "x", "y": [r#"a"b\c","d"#, "ends-with-\\", "ends-with-\\\""] }),
        serde_json::json!({ "number": 12_345_678_901_u64, "more": -12_345_678_901.5, "small": 7 }),
    ] {
        let text = serde_json::to_string(&document).unwrap();
        let redacted = redactor.redact_text(&text);
        let value: Value =
            serde_json::from_str(&redacted).unwrap_or_else(|error| panic!("{error}: {redacted}"));
        assert!(redacted.contains("***"));
        assert_eq!(value.as_object().unwrap().len(), document.as_object().unwrap().len());
    }
    let redacted = redactor.redact_text(r#"{"n": 12345678901, "s": "\u0065nds-with-\\", "k": 1}"#);
    assert_eq!(redacted, r#"{"n": "***", "s": "***", "k": 1}"#);
}

#[test]
fn a_secret_over_several_strings_goes_even_if_the_document_breaks() {
    let redactor = redactor(&[r#"one","two"#]);
    assert_eq!(redactor.redact_text(r#"["one","two"]"#), r#"["***"]"#);
}

#[test]
fn a_part_at_the_edge_of_cut_text_is_taken_out() {
    let redactor = redactor(&["hunter2-hunter2"]);
    assert_eq!(&*redactor.redact_tail(b"ter2-hunter2 and more"), b"*** and more");
    assert_eq!(&*redactor.redact_tail(b"nothing of it"), b"nothing of it");
    assert_eq!(&*redactor.redact_head(b"more and hunter2-hunt"), b"more and ***");
    assert_eq!(&*redactor.redact_head(b"hunter2-hunter2 hun"), b"*** ***");
}

/// What is shown of texts that come one after another.
fn shown_in_pieces<'t>(redactor: &Redactor, texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut pieces = Pieces::default();
    texts.into_iter().map(|text| pieces.next(redactor, text).into_owned()).collect()
}

#[test]
fn a_secret_in_pieces_is_taken_out_of_each_of_them() {
    let redactor = redactor(&["swordfish-4711-and-more"]);
    for (texts, expected) in [
        (&["key swordfish-4711", "-and-more, done"][..], &["key ***", "***, done"][..]),
        (&["key sword", "fish-4711-and-more"], &["key sword", "***"]),
        (&["sword", "fish", "", "-47", "11-and-more", "!"], &["sword", "***", "", "***", "***", "!"]),
        // Hexadecimal digits, and a value with escapes.
        (&["73776f7264666973682d3437", "31312d616e642d6d6f7265"], &["***", "***"]),
        (&["swordfish%2D47", "11%2Dand%2Dmore."], &["swordfish%2D47", "***."]),
        // What only begins like it, or goes on differently, is left from there on.
        (&["a swordfish", "-47 fish"], &["a ***", "-47 fish"]),
        (&["a swordfis", "x", "h-4711-and-more"], &["a ***", "x", "h-4711-and-more"]),
        (&["words", "fish", "swordf", "done"], &["words", "fish", "swordf", "done"]),
    ] {
        assert_eq!(shown_in_pieces(&redactor, texts.iter().copied()), expected, "{texts:?}");
    }
    let characters = Redactor::new(&[secret("pässwörd-ünter-uns")]);
    assert_eq!(shown_in_pieces(&characters, ["é pässwörd-ü", "nter-uns é"]), ["é ***", "*** é"]);
}

#[test]
fn text_that_almost_matches_everywhere_takes_linear_time() {
    let redactor = redactor(&["a".repeat(60_000).as_str(), &format!("{}b", "a".repeat(63))]);
    let text = "ab".repeat(500_000) + &"a".repeat(7) + "c";
    assert!(matches!(redactor.redact_text(&text), Cow::Borrowed(_)));
}

/// The bytes of the longest writing of a line end, such as `&#x0a;` and `\\u000a`.
const LONGEST_LINE_END: usize = 7;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_secret_is_gone_and_other_text_is_unchanged(
        value in "[!-~äß€😀][ -~äß€😀\n]{8,90}[!-~äß€😀]",
        before in "[ -~é\n]{0,40}",
        after in "[ -~é\n]{0,40}",
    ) {
        prop_assume!(value.bytes().filter(|byte| *byte != b'\n').count() >= 8);
        let redactor = redactor(&[&value]);
        // Chance must not make text beside it part of an escape or of the secret.
        let (before, after) = (format!("{before} | "), format!(" | {after}"));
        prop_assume!(matches!(redactor.redact_text(&before), Cow::Borrowed(_)));
        prop_assume!(matches!(redactor.redact_text(&after), Cow::Borrowed(_)));
        for (how, writing) in writings(&value) {
            let text = format!("{before}{writing}{after}");
            let redacted = redactor.redact_text(&text);
            prop_assert!(redacted.starts_with(&before) && redacted.ends_with(&after), "{}: {}", how, redacted);
            if !how.starts_with("base64") {
                // A secret of several lines may go line by line, which leaves what separates them.
                let between = (value.lines().count() - 1) * (3 + LONGEST_LINE_END);
                let most = before.len() + 3 + between + after.len();
                prop_assert!(redacted.len() <= most, "{}: {}", how, redacted);
            }
        }
    }

    #[test]
    fn any_document_stays_one(value in "[!-~é]{8,40}", other in "[ -~é😀\n]{0,60}", number in any::<i64>()) {
        let document = serde_json::json!({ "a": format!("{other}{value}{other}"), &value: [number, value], "o": other });
        let redactor = redactor(&[&value]);
        for text in [serde_json::to_string(&document).unwrap(), serde_json::to_string_pretty(&document).unwrap()] {
            let redacted = redactor.redact_text(&text);
            prop_assert!(redacted.contains("***"));
            prop_assert!(serde_json::from_str::<Value>(&redacted).is_ok(), "{}", redacted);
            prop_assert!(!serde_json::from_str::<Value>(&redacted).unwrap().to_string().contains(&serde_json::to_string(&value).unwrap()));
        }
    }

    #[test]
    fn at_most_seven_bytes_of_a_secret_in_pieces_are_shown(
        value in "[a-z0-9]{8,64}", before in "[A-Z ]{0,20}", sizes in proptest::collection::vec(1_usize..20, 70),
    ) {
        let (redactor, whole) = (redactor(&[&value]), format!("{before}{value}"));
        let mut rest = &*whole;
        let texts = sizes.iter().map(|size| {
            let (text, after) = rest.split_at((*size).min(rest.len()));
            rest = after;
            text
        });
        let shown = shown_in_pieces(&redactor, texts).concat().replace('*', "");
        prop_assert!(rest.is_empty());
        let of_secret = shown.trim_start_matches(|letter: char| letter.is_ascii_uppercase() || letter == ' ');
        prop_assert!(shown.starts_with(&before) && of_secret.len() < 8, "{} is shown", shown);
    }

    #[test]
    fn text_without_the_secret_is_unchanged(value in "[a-z0-9]{12,40}", text in "[A-Z %&;\\\\\"\n]{0,300}") {
        prop_assert!(matches!(redactor(&[&value]).redact_text(&text), Cow::Borrowed(_)));
    }
}
