//! Policy files: what is accepted, and what is refused with its place.

use mcp_bash_policy::{Action, LONGEST_FILE, Policy};
use proptest::prelude::*;

/// The errors of a file, one on each line.
fn errors(file: &str) -> String {
    let errors = Policy::parse(file.as_bytes()).expect_err(file);
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn with_rules(rules: &str) -> String {
    format!("version: 1\ndefault: allow\nrules:\n{rules}")
}

#[test]
fn a_file_becomes_rules() {
    let policy = Policy::parse(
        br#"version: 1
default: deny
rules:
  - name: no-production-deletes
    when: tool.annotations.destructiveHint && args.env == "production" && !("sre" in caller.groups)
    deny: Only SREs may delete in production.
  - name: office-hours
    when: |
      now.getHours("Europe/Berlin") < 8 ||
      now.getHours("Europe/Berlin") > 18
    confirm: It is late. Run {tool.name}?
  - when: resource.uri.startsWith("file:///public/")
    allow: true
  - redact: ["/rows/*/email", {pattern: "[0-9]{16}"}]
"#,
    )
    .expect("a policy");
    assert!(!policy.allows_by_default());
    let rules: Vec<_> = policy
        .rules()
        .iter()
        .map(|rule| (rule.name(), rule.line(), rule.action(), rule.kinds().collect()))
        .collect();
    let expected: [(&str, usize, Action, Vec<&str>); 4] = [
        ("no-production-deletes", 4, Action::Deny, vec!["tool"]),
        ("office-hours", 7, Action::Confirm, vec!["tool"]),
        ("rule 3", 12, Action::Allow, vec!["resource"]),
        ("rule 4", 14, Action::Redact, vec!["tool", "resource", "prompt"]),
    ];
    assert_eq!(rules, expected);
}

#[test]
fn mistakes_name_their_line_and_column() {
    for (rules, error) in [
        (
            "  - when: tool.nmae == 'x'\n    allow: true\n",
            "4:16: rule 1: `tool` has no field `nmae`; did you mean `name`?",
        ),
        ("  - when: \"true && x\"\n    allow: true\n", "4:20: rule 1: unknown name `x`"),
        (
            "  - when: |\n      true &&\n      args.x = 1\n    allow: true\n",
            "6:14: rule 1: `=` is no operator",
        ),
        ("  - when: >\n      true &&\n      y\n    allow: true\n", "rule 1: unknown name `y`"),
        ("  - nmae: x\n    allow: true\n", "4:5: a rule has no key `nmae`; did you mean `name`?"),
        ("  - name: x\n", "4:5: x has no effect"),
        ("  - allow: true\n    deny: no\n", "rule 1 has both `allow` and `deny`"),
        ("  - allow: false\n", "4:12: rule 1: write `allow: true`"),
        ("  - allow: caller.name == 'x'\n", "rule 1: write `allow: true`, and the condition under `when`"),
        ("  - deny: true\n", "rule 1: `deny` needs a message"),
        ("  - deny: ''\n", "rule 1: `deny` needs a message"),
        ("  - deny: [x]\n", "`deny` must be a text, and is a list"),
        ("  - deny: hello {args.x\n", "`{` begins a value"),
        ("  - deny: hello {arg.x}\n", "unknown name `arg`; did you mean `args`?"),
        (
            "  - name: a\n    allow: true\n  - name: a\n    allow: true\n",
            "6:5: a rule named `a` is already on line 4",
        ),
        ("  - name: 'a b'\n    allow: true\n", "`a b` is no name of a rule"),
        (
            "  - when: tool.name == prompt.name\n    allow: true\n",
            "rule 1 names tool and prompt, and no request has both",
        ),
        ("  - when: resource.uri == args.x\n    allow: true\n", "rule 1 names resource and args"),
        ("  - redact: /x\n", "`redact` is a list"),
        ("  - redact: []\n", "`redact` is a list"),
        ("  - redact: [x]\n", "`x` is no JSON pointer"),
        ("  - redact: [/a~2]\n", "`/a~2` is no JSON pointer"),
        ("  - redact: [{pattern: '('}]\n", "invalid regular expression: unclosed group"),
        ("  - redact: [{pattern: 'a*'}]\n", "matches the empty text"),
        ("  - redact: [{patern: 'a'}]\n", "did you mean `pattern`?"),
        ("  - just a text\n", "a rule is written as `key: value`; this is a text"),
        ("  - when: 1\n    when: 2\n    allow: true\n", "duplicate"),
        ("\t- allow: true\n", "tab"),
    ] {
        let found = errors(&with_rules(rules));
        assert!(found.to_lowercase().contains(&error.to_lowercase()), "{rules}: {found}");
    }
}

#[test]
fn the_head_of_a_file_is_strict() {
    for (file, error) in [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("[]", "a policy is written as `key: value`"),
        ("version: 2\ndefault: allow\nrules: []\n", "1:10: version 2 is not known"),
        ("default: allow\nrules: []\n", "`version` is missing"),
        ("version: 1\nrules: []\n", "`default` is missing"),
        ("version: 1\ndefault: yes\nrules: []\n", "2:10: `default` is `allow` or `deny`, not `yes`"),
        ("version: 1\ndefault: allow\n", "`rules` is missing"),
        ("version: 1\ndefault: allow\nrules: {}\n", "`rules` must be a list"),
        ("version: 1\ndefault: allow\nrule: []\n", "did you mean `rules`?"),
        ("version: 1\ndefault: allow\nrules: []\n---\nversion: 1\n", "document"),
    ] {
        let found = errors(file);
        assert!(found.contains(error), "{file}: {found}");
    }
    let both = errors("version: 1\ndefault: allow\nrules:\n  - deny: ''\n  - allow: 1\n");
    assert_eq!(both.lines().count(), 2, "{both}");
    assert!(Policy::parse(b"version: 1\ndefault: allow\nrules: []\n").is_ok());
}

#[test]
fn files_that_explode_are_refused() {
    let huge = with_rules(&"  - allow: true # ".repeat(20_000));
    assert!(huge.len() as u64 > LONGEST_FILE && errors(&huge).contains("at most 262144 are read"));
    assert!(errors(&with_rules(&"  - allow: true\n".repeat(501))).contains("at most 500 are allowed"));
    let long = "true || ".repeat(300) + "true";
    assert!(errors(&with_rules(&format!("  - when: {long}\n    allow: true\n"))).contains("at most 2000"));
    let deep = "[".repeat(100_000);
    assert!(errors(&deep).len() < 500);
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
    }
    assert!(errors(&bomb).len() < 500);
    let many = "'/a', ".repeat(60);
    assert!(errors(&with_rules(&format!("  - redact: [{many}]\n"))).contains("at most 50"));
    let errors = Policy::parse(b"version: 1\ndefault: \xff\n").expect_err("not UTF-8");
    assert!(errors[0].to_string().contains("not valid UTF-8"));
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "[-:a-z \\n'\"{}\\[\\]|>&*!#,0-9]{0,200}") {
        let _ = Policy::parse(text.as_bytes());
        let _ = Policy::parse(with_rules(&text).as_bytes());
    }
}
