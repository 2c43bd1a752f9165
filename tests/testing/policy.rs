//! Cases about the policy: who may do what, decided without a server.

use super::{Ran, passes, problems, test, tool};
use crate::harness::Project;

const POLICY: &str = "version: 1\ndefault: allow\nrules:\n  - name: sre-only\n    when: args.env == 'production' && !('sre' in caller.groups)\n    deny: Only SREs.\n  - name: late\n    when: now.getHours() >= 18\n    confirm: It is late. Go on?\n";

fn project(cases: &str) -> Project {
    tool("#!/bin/sh\ntouch ran\n", cases).file("server.d/policy.yaml", POLICY)
}

#[test]
fn a_case_names_the_caller_and_the_decision() {
    let project = project(
        r#"
- name: bob may not
  arguments: { env: production }
  as: { name: bob, groups: [dev] }
  expect: { policy: deny sre-only }
- name: ada may
  arguments: { env: production }
  as: { name: ada, groups: [sre] }
  at: "2026-07-01T06:00:00Z"
  expect: { policy: allow }
- name: but not late
  arguments: { env: production }
  as: { name: ada, groups: [sre] }
  at: "2026-07-01T20:00:00Z"
  expect: { policy: confirm late }
"#,
    );
    passes(&project);
    assert!(!project.path("ran").exists());
}

#[test]
fn a_wrong_decision_fails_with_both() {
    let case = |expect: &str| {
        problems(&project(&format!(
            "arguments: {{ env: production }}\nas: {{ name: bob }}\nexpect: {{ policy: {expect} }}\n"
        )))
    };
    assert_eq!(case("allow"), ["the policy should `allow`, and decides `deny sre-only`: Only SREs."]);
    assert_eq!(case("deny late"), ["the policy should `deny late`, and decides `deny sre-only`: Only SREs."]);
    let none = tool("#!/bin/sh\n", "expect: { policy: allow }\n");
    assert_eq!(problems(&none), ["the project has no server.d/policy.yaml"]);
}

#[test]
fn cases_that_make_no_sense_are_refused() {
    for (case, problem) in [
        ("as: { name: bob }\nexpect: { text: x }\n", "`as` needs `expect: {policy: …}`"),
        ("expect: { policy: maybe }\n", "`policy` is `allow`, `deny RULE` or `confirm RULE`, not `maybe`"),
        ("expect: { policy: allow, text: x }\n", "make"),
        ("as: { nmae: bob }\nexpect: { policy: allow }\n", "did you mean `name`?"),
        ("at: yesterday\nexpect: { policy: allow }\n", "`at` is a time such as"),
    ] {
        let Ran { code, stdout, stderr } = test(&project(case), &[]);
        assert_ne!(code, Some(0), "{case}");
        assert!(stdout.contains(problem) || stderr.contains(problem), "{case}: {stdout}{stderr}");
    }
}
