//! Keys are replaced one server after the other: the new one below the old one, then above it, then alone.

use super::sessions::{begin, call};
use super::states::{self, ASKS};
use super::{FIRST_KEY, Fleet};
use crate::harness::{Project, code};
use serde_json::{Value, json};

const SECOND_KEY: &str = "2:bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldyA=\n";

/// The state of a call that has asked at that server.
fn asked(fleet: &Fleet, server: usize) -> Value {
    let asked = states::call(fleet, server, None);
    let state = asked["result"]["requestState"].clone();
    assert!(state.is_string(), "{asked}");
    state
}

#[test]
fn while_keys_are_replaced_nothing_that_an_old_one_has_sealed_is_lost() {
    let project = Project::new().tool("asks", ASKS).tool("hi", "#!/bin/sh\necho hi\n");
    let metadata = json!({ "name": "asks", "description": "Asks", "replay": true });
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    let mut fleet = Fleet::start(&project, 1);
    for keys in [[FIRST_KEY, SECOND_KEY], [SECOND_KEY, FIRST_KEY], [SECOND_KEY, ""]] {
        fleet.write_keys(&keys);
        fleet.add(&project);
    }
    // Side by side at any time: each server and the next one.
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)] {
        let session = begin(&fleet, from);
        let status = call(&fleet, to, &session).status;
        let answer = states::call(&fleet, to, Some(&asked(&fleet, from)));
        assert_eq!(status, 200, "{from} to {to}");
        assert_eq!(answer["result"]["content"][0]["text"], "Hello Ada", "{from} to {to}: {answer}");
    }
    // A server without the old key knows nothing that it has sealed.
    let session = begin(&fleet, 0);
    assert_eq!(call(&fleet, 3, &session).status, 404);
    let refused = states::call(&fleet, 3, Some(&asked(&fleet, 0)));
    assert_eq!(code(&refused), -32602, "{refused}");
}
