//! Dispatch: whatever a client sends, each request gets one answer, and nothing else does.

mod oracle;

use oracle::{Before, judge};
use proptest::prelude::*;

fn before() -> impl Strategy<Value = Before> {
    prop_oneof![Just(Before::Nothing), Just(Before::Batches), Just(Before::Session), Just(Before::Shutdown)]
}

/// Pieces of the protocol, right and wrong.
fn method() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("\"ping\""),
        Just("\"initialize\""),
        Just("\"notifications/initialized\""),
        Just("\"notifications/cancelled\""),
        Just("\"logging/setLevel\""),
        Just("\"tools/list\""),
        Just("\"tools/call\""),
        Just("\"prompts/list\""),
        Just("\"prompts/get\""),
        Just("\"completion/complete\""),
        Just("\"server/discover\""),
        Just("\"shutdown\""),
        Just("\"no/such\""),
        Just("\"p\\u0069ng\""),
        Just("\"\\ud800\""),
        Just("5"),
        Just("null"),
    ]
}

fn params() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("{}"),
        Just("null"),
        Just("[1]"),
        Just("\"x\""),
        Just(r#"{"protocolVersion":"2025-06-18"}"#),
        Just(r#"{"protocolVersion":7}"#),
        Just(r#"{"name":"x","arguments":{}}"#),
        Just(r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}}"#),
        Just(r#"{"requestId":1}"#),
        Just(r#"{"level":"debug"}"#),
        Just(r#"{"_meta":{"progressToken":true}}"#),
        Just(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#
        ),
        Just(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2020-01-01","io.modelcontextprotocol/clientCapabilities":{}}}"#
        ),
        Just(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..4_u8).prop_map(|number| number.to_string()),
        Just("\"a\"".to_owned()),
        Just("\"\\u0061\"".to_owned()),
        Just("null".to_owned()),
        Just("1.5".to_owned()),
        Just("[]".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
    ]
}

fn object() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        4 => Just("\"jsonrpc\":\"2.0\"".to_owned()),
        1 => Just("\"jsonrpc\":\"1.0\"".to_owned()),
        4 => id().prop_map(|id| format!("\"id\":{id}")),
        4 => method().prop_map(|method| format!("\"method\":{method}")),
        3 => params().prop_map(|params| format!("\"params\":{params}")),
        1 => Just("\"result\":{}".to_owned()),
        1 => Just("\"error\":{\"code\":1}".to_owned()),
        1 => Just("\"other\":[1,{\"a\":null}]".to_owned()),
        1 => Just("\"\\ud800\":1".to_owned()),
    ];
    proptest::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")))
}

fn request() -> impl Strategy<Value = String> {
    (id(), method(), params()).prop_map(|(id, method, params)| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![3 => request(), 2 => object(), 1 => Just("7".to_owned())].boxed();
    let batch =
        proptest::collection::vec(one.clone(), 0..5).prop_map(|elements| format!("[{}]", elements.join(",")));
    prop_oneof![
        6 => one.prop_map(String::into_bytes),
        2 => batch.prop_map(String::into_bytes),
        1 => Just(b"\xEF\xBB\xBF \r".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_request_gets_one_answer(before in before(), lines in proptest::collection::vec(line(), 0..8)) {
        judge(before, &lines.join(&b'\n'));
    }
}
