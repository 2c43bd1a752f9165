//! Decisions on requests: the first match, failures that deny, redactions, messages.

use mcp_bash_policy::{CallerFacts, Decision, Policy, Request, RuleOutcome, Subject, Timestamp, tool_facts};
use serde_json::{Map, Value, json};

fn policy(default: &str, rules: &str) -> Policy {
    let file = format!("version: 1\ndefault: {default}\nrules:\n{rules}");
    Policy::parse(file.as_bytes()).unwrap_or_else(|errors| panic!("{file}: {errors:?}"))
}

fn tool() -> Value {
    tool_facts("deploy", None, "ops/deploy.sh", Some(r#"{"title": "x"}"#), Some(r#"{"tags": ["prod"]}"#))
}

fn caller(groups: &[&str]) -> Value {
    let groups: Vec<Box<str>> = groups.iter().map(|group| (*group).into()).collect();
    let claims = Map::new();
    CallerFacts { name: "bob", groups: &groups, scopes: &[], claims: &claims, known_by: "token", address: "" }
        .json()
}

fn ask(policy: &Policy, subject: Subject<'_>, args: &Value, then: impl FnOnce(Decision<'_>)) {
    let (caller, client, roots) =
        (caller(&["dev"]), json!({ "name": "c", "version": "1" }), json!(["/work"]));
    let now = Timestamp::parse("2026-02-03T04:05:06Z").expect("a time");
    then(policy.decide(&Request { subject, args, caller: &caller, client: &client, roots: &roots, now }));
}

/// The decision on a call of `deploy`, in a few words.
fn decided(policy: &Policy, args: &Value) -> String {
    let mut words = String::new();
    ask(policy, Subject::Tool(&tool()), args, |decision| {
        words = match decision {
            Decision::Allow { redactions, .. } if redactions.is_empty() => "allow".to_owned(),
            Decision::Allow { .. } => "allow redacted".to_owned(),
            Decision::Deny(refusal) => format!("deny {}: {refusal}", refusal.rule().unwrap_or("default")),
            Decision::Confirm { rule, message, .. } => format!("confirm {rule}: {message}"),
        };
    });
    words
}

#[test]
fn the_first_match_decides() {
    let rules = "  - {name: a, when: args.n > 10, deny: 'Too many: {args.n}.'}\n\
                 \x20 - {name: b, when: args.n > 5, confirm: 'Really {args.n} in {tool.folder}?'}\n\
                 \x20 - {name: c, when: args.n > 1, allow: true}\n\
                 \x20 - {name: d, when: 'args.n == 2', deny: never}\n";
    for default in ["allow", "deny"] {
        let policy = policy(default, rules);
        assert_eq!(decided(&policy, &json!({ "n": 11 })), "deny a: Too many: 11.");
        assert_eq!(decided(&policy, &json!({ "n": 6 })), "confirm b: Really 6 in ops?");
        assert_eq!(decided(&policy, &json!({ "n": 2 })), "allow");
    }
    let args = json!({ "n": 0 });
    assert_eq!(decided(&policy("allow", rules), &args), "allow");
    assert_eq!(
        decided(&policy("deny", rules), &args),
        "deny default: no rule of server.d/policy.yaml allows it"
    );
}

#[test]
fn a_rule_that_cannot_be_evaluated_denies() {
    for (rule, why) in [
        ("when: args.missing == 1, allow: true", "there is no `missing`"),
        ("when: args.n + 1.5 > 1.0, allow: true", "`+` does not take int and double"),
        ("when: args.n, allow: true", "expected a bool, found int"),
        ("when: args.missing == 1, redact: [/x]", "there is no `missing`"),
        ("when: 'args.list.all(a, args.list.all(b, args.list.all(c, true)))', allow: true", "costs too much"),
    ] {
        let policy = policy("allow", &format!("  - {{name: r, {rule}}}\n"));
        let list: Vec<u32> = (0..200).collect();
        let said = decided(&policy, &json!({ "n": 1, "list": list }));
        assert!(
            said.starts_with("deny r: rule `r` of server.d/policy.yaml could not be evaluated: "),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn all_rules_share_one_budget() {
    let list: Vec<u32> = (0..100).collect();
    let rule = "  - {when: 'args.list.exists(a, args.list.exists(b, a + b < 0))', deny: no}\n";
    assert_eq!(decided(&policy("allow", rule), &json!({ "list": list })), "allow");
    let said = decided(&policy("allow", &rule.repeat(20)), &json!({ "list": list }));
    assert!(said.contains("costs too much"), "{said}");
}

#[test]
fn annotations_have_the_defaults_of_the_protocol() {
    for (annotations, destructive) in [
        (None, true),
        (Some(r#"{"readOnlyHint": true}"#), false),
        (Some(r#"{"readOnlyHint": true, "destructiveHint": true}"#), false),
        (Some(r#"{"destructiveHint": false}"#), false),
        (Some(r#"{"destructiveHint": "no"}"#), true),
        (Some("[1]"), true),
    ] {
        let tool = tool_facts("x", None, "x.sh", annotations, None);
        assert_eq!(tool["annotations"]["destructiveHint"], destructive, "{annotations:?}");
    }
}

#[test]
fn rules_apply_to_the_requests_that_have_their_variables() {
    let policy = policy(
        "deny",
        "  - {when: tool.name == 'deploy', allow: true}\n\
         \x20 - {when: resource.uri.startsWith('file:///public/'), allow: true}\n\
         \x20 - {when: kind == 'prompt' && prompt.name == 'review' && args.depth == '1', allow: true}\n",
    );
    let allows = |subject: Subject<'_>, args: Value| {
        let mut allows = false;
        ask(&policy, subject, &args, |decision| allows = matches!(decision, Decision::Allow { .. }));
        allows
    };
    assert!(allows(Subject::Tool(&tool()), json!({})));
    assert!(allows(Subject::Resource("file:///public/a"), Value::Null));
    assert!(!allows(Subject::Resource("file:///etc/passwd"), Value::Null));
    assert!(allows(Subject::Prompt("review"), json!({ "depth": "1" })));
    assert!(!allows(Subject::Prompt("other"), json!({})));
}

#[test]
fn rules_about_folders_apply_to_calls_alone() {
    let policy = policy("allow", "  - {when: 'roots.exists(root, root == \"/work\")', deny: not there}\n");
    let mut denied = Vec::new();
    for subject in [Subject::Tool(&tool()), Subject::Resource("a:b"), Subject::Prompt("p")] {
        ask(&policy, subject, &json!({}), |decision| denied.push(matches!(decision, Decision::Deny(_))));
    }
    assert_eq!(denied, [true, false, false]);
    assert_eq!(policy.rules()[0].kinds().collect::<Vec<_>>(), ["tool"]);
}

#[test]
fn redactions_apply_wherever_their_rules_are() {
    let policy = policy(
        "deny",
        "  - {allow: true}\n  - {redact: [/rows/*/email, /a~1b]}\n  - {when: args.no, redact: [/kept]}\n\
         \x20 - {when: 'true', redact: [{pattern: '[0-9]{16}'}]}\n",
    );
    ask(&policy, Subject::Tool(&tool()), &json!({ "no": false }), |decision| {
        let Decision::Allow { redactions, .. } = decision else { panic!("{decision:?}") };
        let mut value = json!({
            "rows": [{ "email": "a@b.c", "card": "x 4111111111111111 y" }, { "email": null }, 7],
            "a/b": { "deep": 1 }, "kept": 4_111_111_111_111_111_u64, "4111111111111111": true,
        });
        assert!(redactions.value(&mut value));
        assert_eq!(
            value,
            json!({
                "rows": [{ "email": "[redacted]", "card": "x [redacted] y" }, { "email": "[redacted]" }, 7],
                "a/b": "[redacted]", "kept": "[redacted]", "[redacted]": true,
            })
        );
        assert_eq!(redactions.text("card 4111111111111111!"), "card [redacted]!");
        assert_eq!(redactions.text(r#"{"rows": [{"email": 1}]}"#), r#"{"rows":[{"email":"[redacted]"}]}"#);
        assert_eq!(redactions.text(r#"{"x": "\u0034111111111111111"}"#), r#"{"x":"[redacted]"}"#);
        assert_eq!(redactions.text("{ \"n\": 1 }"), "{ \"n\": 1 }");
    });
}

#[test]
fn values_in_messages_are_short_and_on_one_line() {
    let policy = policy("allow", "  - {deny: 'no {args.text}, {{x}} {args.none} {args.list}'}\n");
    let said = decided(&policy, &json!({ "text": "a\nb\u{1b}[31m\u{202e}", "list": [1, "x"] }));
    assert!(!said.contains(['\n', '\u{1b}', '\u{202e}']), "{said:?}");
    assert!(said.ends_with("{x} (unknown) [1, \"x\"]"), "{said}");
    let said = decided(&policy, &json!({ "text": "é".repeat(1_000_000), "list": [] }));
    assert!(said.chars().count() < 300, "{}", said.len());
}

#[test]
fn hostile_arguments_neither_panic_nor_pass() {
    let policy = policy("allow", "  - {name: r, when: args.path.startsWith('/etc'), deny: no}\n");
    let deep = (0..120).fold(json!(1), |inner, _| json!({ "path": inner }));
    for args in [deep, json!({ "path": 1 }), json!({ "PATH": "/etc" }), json!([]), Value::Null] {
        let said = decided(&policy, &args);
        assert!(said.starts_with("deny r"), "{args}: {said}");
    }
    assert_eq!(decided(&policy, &json!({ "path": "x".repeat(1_000_000), "a b": 1, "": 2 })), "allow");
}

#[test]
fn an_explanation_says_what_each_rule_saw() {
    let policy = policy(
        "allow",
        "  - {name: a, when: args.n > 10, deny: no}\n  - {name: b, when: args.n > 5, allow: true}\n\
         \x20 - {name: c, when: args.n > 1, deny: no}\n  - {name: d, redact: [/x]}\n\
         \x20 - {name: e, when: resource.uri == 'x', redact: [/x]}\n",
    );
    let (tool, caller, args) = (tool(), caller(&[]), json!({ "n": 7 }));
    let (client, roots) = (json!({}), json!([]));
    let request = Request {
        subject: Subject::Tool(&tool),
        args: &args,
        caller: &caller,
        client: &client,
        roots: &roots,
        now: Timestamp::parse("2026-02-03T04:05:06Z").expect("a time"),
    };
    let explained = policy.explain(&request);
    let outcomes: Vec<_> =
        explained.rules.iter().map(|trace| (trace.rule.name(), trace.outcome.clone())).collect();
    let expected = [
        ("a", RuleOutcome::NotMatched),
        ("b", RuleOutcome::Matched),
        ("c", RuleOutcome::NotReached),
        ("d", RuleOutcome::Matched),
        ("e", RuleOutcome::OtherKind),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(explained.rules[0].values, [("args.n".to_owned(), "7".to_owned())]);
    assert!(matches!(explained.decision, Decision::Allow { .. }));
}
