use super::*;
use crate::grant::{Hindrance, ToolFacts};
use std::time::SystemTime;

const FILE: &str = r#"
toolsets:
  deploys: [deploy_*, rollback]
roles:
  viewer:
    readOnly: true
    rate: 60/min
    concurrency: 1
    given: {tokens: [alice], groups: [staff]}
  deployer:
    tools: ["@deploys", status]
    resources: ["runbook://*"]
    prompts: []
    rate: 10/s
    concurrency: 4
    given: {groups: [ops], scopes: ["tools:deploy"], certificates: [deploy-bot], callers: ["*@example.com"]}
  owner:
    given: {groups: [owners]}
default: viewer
"#;

fn boxed(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

fn roles_of(roles: &Roles, name: &str, groups: &[&str], scopes: &[&str]) -> Arc<Granted> {
    let (groups, scopes) = (boxed(groups), boxed(scopes));
    let subject = Subject { name, token: None, certificate: None, groups: &groups, scopes: &scopes };
    roles.of(&subject)
}

fn names(granted: &Granted) -> Vec<&str> {
    granted.roles.iter().map(|name| &**name).collect()
}

fn may_call(granted: &Granted, name: &str, is_read_only: bool) -> bool {
    let facts = ToolFacts { name, is_read_only: Some(is_read_only) };
    granted.grants.iter().any(|grant| grant.hindrance(facts, SystemTime::now()).is_none())
}

#[test]
fn roles_are_given_by_group_scope_certificate_token_and_name() {
    let roles = Roles::parse(FILE).unwrap();
    assert_eq!(names(&roles_of(&roles, "x", &["ops"], &[])), ["deployer"]);
    assert_eq!(names(&roles_of(&roles, "x", &["staff", "ops"], &[])), ["viewer", "deployer"]);
    assert_eq!(names(&roles_of(&roles, "x", &[], &["tools:deploy"])), ["deployer"]);
    assert_eq!(names(&roles_of(&roles, "ada@example.com", &[], &[])), ["deployer"]);
    // A name counts only for the kind of credential that gave it.
    let of_kind = |token, certificate| {
        let subject = Subject { name: "x", token, certificate, groups: &[], scopes: &[] };
        names(&roles.of(&subject)).join(" ")
    };
    assert_eq!(of_kind(None, Some("deploy-bot")), "deployer");
    assert_eq!(of_kind(Some("deploy-bot"), None), "viewer", "the default");
    let without_default = Roles::parse(&FILE.replace("default: viewer", "")).unwrap();
    let nobody = roles_of(&without_default, "deploy-bot", &["Ops"], &["tools:deploy2"]);
    assert!(names(&nobody).is_empty() && nobody.grants.is_empty());
}

#[test]
fn one_role_is_enough_and_limits_are_those_of_the_widest() {
    let roles = Roles::parse(FILE).unwrap();
    let deployer = roles_of(&roles, "x", &["ops"], &[]);
    assert!(may_call(&deployer, "deploy_api", false) && may_call(&deployer, "status", true));
    assert!(!may_call(&deployer, "delete", false) && !may_call(&deployer, "list", true));
    assert!(!deployer.grants[0].allows_prompt("any"));
    assert!(deployer.grants[0].allows_resource("x", "runbook://a"));
    assert!(
        !deployer.grants[0].allows_resource("runbook", "file:///a")
            && !deployer.grants[0].allows_other_uris()
    );

    let both = roles_of(&roles, "x", &["staff", "ops"], &[]);
    assert!(may_call(&both, "list", true) && may_call(&both, "deploy_api", false));
    assert!(!may_call(&both, "delete", false), "neither role allows it");
    assert_eq!((both.rate.unwrap().to_string().as_str(), both.concurrency), ("10/s", Some(4)));
    let owner = roles_of(&roles, "x", &["owners", "staff"], &[]);
    assert!(owner.rate.is_none() && owner.concurrency.is_none() && may_call(&owner, "delete", false));
}

#[test]
fn of_equal_rates_the_one_with_more_requests_at_once_counts() {
    let role = |name: &str, rate: &str| format!("  {name}: {{rate: {rate}, given: {{tokens: [t]}}}}\n");
    for (first, second) in [("60/min", "3600/h"), ("3600/h", "60/min")] {
        let roles = Roles::parse(&format!("roles:\n{}{}", role("a", first), role("b", second))).unwrap();
        let subject = Subject { name: "x", token: Some("t"), certificate: None, groups: &[], scopes: &[] };
        assert_eq!(roles.of(&subject).rate.unwrap().to_string(), "3600/h");
    }
}

#[test]
fn a_hindrance_says_what_is_in_the_way() {
    let file = "roles:\n  r:\n    tools: [a]\n    readOnly: true\n    hours: Mon 08:00-09:00 UTC\n    given: {tokens: [t]}\n";
    let roles = Roles::parse(file).unwrap();
    let grant = &roles.iter().next().unwrap().grant;
    let monday = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(4 * 86_400 + 8 * 3600);
    let why = |name, is_read_only, now| grant.hindrance(ToolFacts { name, is_read_only }, now);
    assert_eq!(why("b", Some(true), monday), Some(Hindrance::NotListed));
    assert_eq!(why("a", Some(false), monday), Some(Hindrance::NotReadOnly));
    assert_eq!(why("a", Some(true), monday), None);
    assert_eq!(why("a", None, monday), None, "what it says of itself is not known yet");
    let closed = why("a", Some(true), SystemTime::UNIX_EPOCH);
    assert_eq!(closed, Some(Hindrance::Closed("Mon 08:00-09:00 UTC".to_owned())));
    assert!(grant.shows(ToolFacts { name: "a", is_read_only: Some(true) }));
}

#[test]
fn a_file_that_is_wrong_says_where_and_what() {
    let given = "given: {tokens: [t]}";
    let many: Vec<String> = (0..65).map(|number| format!("  r{number}: {{{given}}}")).collect();
    let many = many.join("\n");
    for (file, words) in [
        (String::new(), "line 1"),
        ("default: a".to_owned(), "missing field `roles`"),
        ("roles: {}".to_owned(), "there are no roles"),
        ("roles: [a]".to_owned(), "expected"),
        ("roles:\n  r: {given: {tokens: [t]}, tool: [a]}".to_owned(), "unknown field `tool`"),
        (format!("roles:\n  r: {{{given}, tools: a}}"), "expected"),
        (format!("roles:\n  r: {{{given}, readOnly: maybe}}"), "line 2"),
        ("roles:\n  r: {given: {token: [t]}}".to_owned(), "unknown field `token`"),
        ("roles:\n  r: {}".to_owned(), "role `r` is given to nobody"),
        (
            format!("roles:\n  r: {{{given}, tools: ['@x']}}"),
            "`@x` is no toolset of this file; there are none",
        ),
        (format!("toolsets: {{y: [a]}}\nroles:\n  r: {{{given}, tools: ['@x']}}"), "there are `@y`"),
        (format!("toolsets: {{y: ['@z']}}\nroles:\n  r: {{{given}}}"), "toolset `y`"),
        (format!("roles:\n  r: {{{given}}}\ndefault: s"), "`default: s` is no role"),
        (format!("roles:\n  r: {{{given}, rate: 5}}"), "role `r`: `5` is no rate"),
        (format!("roles:\n  r: {{{given}, concurrency: 0}}"), "at least 1"),
        (format!("roles:\n  r: {{{given}, concurrency: -1}}"), "line 2"),
        (format!("roles:\n  r: {{{given}, hours: always}}"), "role `r`: `always` are no hours"),
        (format!("roles:\n{many}"), "there are 65 roles"),
        (format!("roles:\n  r: {{{given}}}\n  r: {{{given}}}"), "duplicate"),
        ("roles: &a {r: *a}".to_owned(), "line 1"),
        ("{".repeat(1000), "line 1"),
    ] {
        let refused = Roles::parse(&file).unwrap_err().to_string();
        assert!(refused.contains(words), "{file:.80}: {refused}");
    }
}
