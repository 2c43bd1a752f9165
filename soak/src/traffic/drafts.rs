//! Drafts: requests of every kind, with the expected answers.

use crate::draft::{Draft, Expect, Plan};
use crate::peer::Peer;
use crate::project::{HOSTILE, Hostile};
use crate::random::Random;
use serde_json::{Value, json};
use std::sync::PoisonError;

fn draft(method: &'static str, params: Value, expect: Expect) -> Draft {
    Draft { method, params, word: None, expect }
}

/// A call of a tool with its own word, and other arguments.
fn call(peer: &Peer, tool: &str, others: &[(&str, Value)], expect: Expect) -> Draft {
    let word = peer.new_word();
    let mut arguments = json!({ "word": word.to_string() });
    for (name, value) in others {
        arguments[*name] = value.clone();
    }
    let params = json!({ "name": tool, "arguments": arguments });
    Draft { method: "tools/call", params, word: Some(word), expect }
}

/// A call that must succeed.
pub(super) fn honest(peer: &Peer, random: &mut Random) -> Draft {
    match random.below(20) {
        0..=9 => call(peer, "honest", &[], Expect::Honest),
        10..=13 => call(peer, "plain", &[], Expect::Word),
        14 => call(peer, "whole-result", &[], Expect::Word),
        15 => call(peer, "tells-secret", &[], Expect::Word),
        16 => call(peer, "provided", &[], Expect::Word),
        17 => call(peer, "embeds", &[], Expect::Word),
        18 => call(peer, "reads-input", &[("padding", json!("x".repeat(size(random))))], Expect::Word),
        _ => call(peer, "sdk", &[], Expect::Word),
    }
}

/// The amount of padding for arguments: sometimes enough to pass them as a file.
fn size(random: &mut Random) -> usize {
    let most = *random.pick(&[10, 1000, 100_000, 400_000]);
    usize::try_from(random.below(most)).unwrap_or(0)
}

/// A call that takes a while, prints a lot or fails.
pub(super) fn other(peer: &Peer, random: &mut Random) -> Draft {
    match random.below(6) {
        // Sometimes more steps than its timeout allows.
        0 | 1 => call(peer, "slow", &[("steps", json!(random.between(1, 25)))], Expect::Anything),
        2 => {
            let lines = *random.pick(&[10, 1000, 12_000]);
            call(peer, "large", &[("lines", json!(lines))], Expect::Word)
        }
        3 => call(peer, "fails", &[], Expect::Anything),
        4 => call(peer, "error-file", &[], Expect::Error),
        _ => call(peer, &format!("extra-{}", random.below(6)), &[], Expect::Anything),
    }
}

pub(super) fn hostile(peer: &Peer, random: &mut Random) -> (Draft, &'static Hostile) {
    let hostile = random.pick(HOSTILE);
    let mut draft = call(peer, hostile.name, &[], Expect::Anything);
    if hostile.waits {
        draft.params["timeoutSecs"] = json!(random.between(1, 2));
    }
    if hostile.name == "reads-nothing" {
        draft.params["arguments"]["padding"] = json!("x".repeat(60_000));
    }
    (draft, hostile)
}

/// A call whose script asks the client.
pub(super) fn asking(peer: &Peer, random: &mut Random, stateless: bool) -> Draft {
    let plan = random.weighted(&Plan::ALL);
    let arguments = [("plan", json!(plan.name())), ("seconds", json!(plan.seconds()))];
    let has_forms = peer.revision.has_elicitation() || stateless;
    let can_ask = has_forms && peer.capabilities.get("elicitation").is_some();
    let told = if can_ask { Expect::Told(plan) } else { Expect::Word };
    match random.below(12) {
        0..=3 => call(peer, "ask", &arguments, told),
        4 | 5 => call(peer, "ask-twice", &arguments, told),
        6 => call(peer, "ask-at-once", &arguments, told),
        7 => call(peer, "ask-and-withdraw", &arguments, Expect::Anything),
        8 => call(peer, "ask-and-leave", &arguments, Expect::Anything),
        9 => call(peer, "ask-by-file", &arguments, Expect::Anything),
        10 => call(peer, "ask-nonsense", &arguments, Expect::Word),
        _ => {
            let can_ask = peer.capabilities.get("sampling").is_some();
            let is_answered = matches!(plan, Plan::Accept | Plan::Late | Plan::Again);
            let expect = if can_ask && is_answered { Expect::Told(plan) } else { Expect::Word };
            call(peer, "ask-model", &arguments, expect)
        }
    }
}

/// Reads a resource, gets a prompt, or completes an argument.
pub(super) fn reading(peer: &Peer, random: &mut Random) -> Draft {
    let word = peer.new_word();
    let named = |method, params| Draft { method, params, word: Some(word), expect: Expect::Word };
    match random.below(12) {
        0 | 1 => named("resources/read", json!({ "uri": format!("note://{word}") })),
        2 => named("resources/read", json!({ "uri": format!("echo://{word}") })),
        3 => named("resources/read", json!({ "uri": format!("wild://{word}") })),
        4 => draft("resources/read", json!({ "uri": "file://./resources/fixed.txt" }), Expect::Result),
        5 => {
            let uri = *random.pick(&["file://./resources/changing.txt", "status://now"]);
            draft("resources/read", json!({ "uri": uri }), Expect::Result)
        }
        6 => draft("resources/read", json!({ "uri": "file://./resources/odd.txt" }), Expect::Anything),
        7 | 8 => {
            let name = *random.pick(&["greet", "speak"]);
            named("prompts/get", json!({ "name": name, "arguments": { "word": word.to_string() } }))
        }
        9 => named("prompts/get", json!({ "name": "wild", "arguments": { "word": word.to_string() } })),
        _ => named(
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "greet" },
                "argument": { "name": "word", "value": word.to_string() },
            }),
        ),
    }
}

const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

pub(super) fn list(peer: &Peer, random: &mut Random) -> Draft {
    let method = *random.pick(&LISTS);
    let cursor = peer.cursors.lock().unwrap_or_else(PoisonError::into_inner).get(method).cloned();
    match (random.below(4), cursor) {
        (0, Some(cursor)) => draft(method, json!({ "cursor": cursor, "limit": 3 }), Expect::Anything),
        (1, _) => draft(method, json!({ "limit": random.between(1, 5) }), Expect::Result),
        _ => draft(method, json!({}), Expect::Result),
    }
}

/// The quickest request of the era.
pub(crate) fn ping(stateless: bool) -> Draft {
    draft(if stateless { "server/discover" } else { "ping" }, json!({}), Expect::Result)
}

pub(super) fn set_level(random: &mut Random) -> Draft {
    let level = *random.pick(&["debug", "info", "warning", "emergency"]);
    draft("logging/setLevel", json!({ "level": level }), Expect::Result)
}

/// Resources that can be subscribed to. Their URIs contain no words: they are read again after their request
/// is over.
const FOLLOWED: [&str; 3] =
    ["file://./resources/changing.txt", "file://./resources/fixed.txt", "status://now"];

pub(super) fn subscribe(random: &mut Random) -> Draft {
    let uri = *random.pick(&FOLLOWED);
    draft("resources/subscribe", json!({ "uri": uri }), Expect::Result)
}

pub(crate) fn subscribe_to(uri: &str) -> Draft {
    draft("resources/subscribe", json!({ "uri": uri }), Expect::Result)
}

pub(crate) fn unsubscribe(uri: &str) -> Draft {
    draft("resources/unsubscribe", json!({ "uri": uri }), Expect::Result)
}

pub(super) fn listen(random: &mut Random) -> Draft {
    let mut wanted = json!({});
    for kind in ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] {
        if random.chance(50) {
            wanted[kind] = json!(true);
        }
    }
    if random.chance(60) {
        wanted["resourceSubscriptions"] = json!([random.pick(&FOLLOWED), "file://./resources/no-such.txt"]);
    }
    draft("subscriptions/listen", json!({ "notifications": wanted }), Expect::End)
}

pub(crate) fn listen_to(uri: &str) -> Draft {
    let wanted = json!({ "resourceSubscriptions": [uri] });
    draft("subscriptions/listen", json!({ "notifications": wanted }), Expect::End)
}

/// An invalid request.
pub(super) fn wrong(random: &mut Random, stateless: bool) -> Draft {
    let wrong = |method, params| draft(method, params, Expect::Error);
    let of_the_other_era = if stateless { "ping" } else { "server/discover" };
    match random.below(16) {
        0 => wrong("tools/call", json!({})),
        1 => wrong("tools/call", json!({ "name": "no such tool" })),
        2 => wrong("tools/call", json!({ "name": "plain", "arguments": [1] })),
        3 => wrong("tools/call", json!({ "name": "plain", "arguments": { "word": "x" }, "timeoutSecs": -1 })),
        // A model can correct these, so they are results.
        4 => draft("tools/call", json!({ "name": "plain", "arguments": {} }), Expect::Anything),
        5 => draft(
            "tools/call",
            json!({ "name": "plain", "arguments": { "word": { "a": [] } } }),
            Expect::Anything,
        ),
        6 => wrong("resources/read", json!({ "uri": "file://./resources/no-such.txt" })),
        7 => wrong("resources/read", json!({ "uri": "file:///etc/passwd" })),
        8 => wrong("resources/read", json!({ "uri": 5 })),
        9 => wrong("prompts/get", json!({ "name": "greet" })),
        10 => wrong("prompts/get", json!({ "name": "no such prompt", "arguments": {} })),
        11 => wrong("tools/list", json!({ "cursor": "nonsense" })),
        12 => wrong("completion/complete", json!({ "ref": 1 })),
        13 => wrong("no/such/method", json!({ "a": 1 })),
        14 => wrong(of_the_other_era, json!({})),
        _ => wrong("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} })),
    }
}

pub(crate) fn initialize(peer: &Peer) -> Draft {
    let params = json!({
        "protocolVersion": peer.revision.name(),
        "capabilities": peer.capabilities,
        "clientInfo": { "name": "soak", "version": "1" },
    });
    draft("initialize", params, Expect::Result)
}

/// Requests that must be refused before the handshake, if there is one.
pub(super) fn too_early(random: &mut Random) -> Draft {
    let method = *random.pick(&["tools/list", "tools/call", "resources/subscribe", "logging/setLevel"]);
    draft(method, json!({ "name": "plain", "uri": "status://now", "level": "info" }), Expect::Error)
}

pub(crate) fn shutdown() -> Draft {
    draft("shutdown", json!({}), Expect::Result)
}

pub(crate) fn exit() -> Draft {
    draft("exit", json!({}), Expect::Result)
}

/// A line that is refused with its id.
pub(super) fn refused() -> Draft {
    draft("(malformed)", json!({}), Expect::Error)
}

/// A slow call.
pub(crate) fn slow(peer: &Peer) -> Draft {
    call(peer, "slow", &[("steps", json!(4))], Expect::Anything)
}

/// A call that leaves nothing behind, so that the server cleans up leftovers of others.
pub(crate) fn plain(peer: &Peer) -> Draft {
    call(peer, "plain", &[], Expect::Word)
}

/// A request that may be refused because its id is still in use.
pub(super) fn duplicate(peer: &Peer, random: &mut Random) -> Draft {
    if random.chance(50) {
        return Draft { expect: Expect::Anything, ..ping(peer.revision.is_stateless()) };
    }
    call(peer, "plain", &[], Expect::Anything)
}

/// A handshake in a process that has served only stateless requests so far.
pub(crate) fn initialize_any() -> Draft {
    draft("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }), Expect::Result)
}
