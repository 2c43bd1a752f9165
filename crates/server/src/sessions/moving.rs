//! Sessions that move: if several servers share their keys, the id of a session holds, sealed, what its client said in
//! `initialize`. A server that does not know the session begins it again with that, for the same caller, so that a client does
//! not notice that its server was replaced. What the session has learned since then stays behind: subscriptions, the log level,
//! and what functions keep.

use super::server::Server;
use crate::requests::{KeyRing, Purpose};
use crate::stores::{OnceKey, now};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};

/// The longest content of an id. Sealed and encoded, it stays below 1 kB, which every proxy passes on in a header.
const LONGEST: usize = 640;

/// For how long after its beginning a session can move, in seconds.
const LONGEST_LIFE: u64 = 7 * 24 * 60 * 60;

impl Server {
    /// Whether other servers may go on with sessions of this one.
    pub(crate) fn moves_sessions(&self) -> bool {
        self.state_keys().is_some_and(KeyRing::is_shared)
    }

    /// The id of a session that can move. `None` if no other server can have the keys, or if `initialize` says too much.
    pub fn moving_session_id(&self, caller: &str, initialize: &[u8]) -> Option<String> {
        let keys = self.state_keys().filter(|keys| keys.is_shared())?;
        let message: Value = serde_json::from_slice(initialize).ok()?;
        let content = content(caller, now(), message.get("params")?.as_object()?)?;
        keys.seal(Purpose::SessionId, content.into_bytes())
    }

    /// The `initialize` message of a session with that id, if it belongs to the caller and has not ended at any server that
    /// shares our store.
    pub async fn moved_session(&self, id: &str, caller: &str) -> MovedSession {
        let Some(MovingSession { begun, params, caller: owner }) = self.moving_session(id) else {
            return MovedSession::Unknown;
        };
        if owner != caller || now() >= begun + LONGEST_LIFE {
            return MovedSession::Unknown;
        }
        match self.store().is_used(ended_key(id), begun + LONGEST_LIFE).await {
            Ok(false) => {
                let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
                MovedSession::Found(message.to_string())
            }
            Ok(true) => MovedSession::Unknown,
            Err(_) => MovedSession::Unchecked,
        }
    }

    /// Ends a session for every server that shares our store. False if the store does not answer: then another server may
    /// still go on with it.
    pub async fn end_moving_session(&self, id: &str) -> bool {
        let Some(MovingSession { begun, .. }) = self.moving_session(id) else { return true };
        self.store().use_once(ended_key(id), begun + LONGEST_LIFE).await.is_ok()
    }

    /// Those of the sessions that have ended at another server. Asks the database once, if there is one.
    pub async fn sessions_ended_elsewhere(&self, ids: impl Iterator<Item = &str>) -> HashSet<String> {
        if self.store().shared().is_none() {
            return HashSet::new();
        }
        let by_key: HashMap<OnceKey, &str> = ids.map(|id| (ended_key(id), id)).collect();
        if by_key.is_empty() {
            return HashSet::new();
        }
        let ended = self.store().used_elsewhere(by_key.keys().copied().collect()).await;
        // What cannot be known now is asked the next time.
        let ended = ended.unwrap_or_default();
        ended.iter().filter_map(|key| by_key.get(key)).map(|id| (*id).to_owned()).collect()
    }

    /// What a session id holds, if it was sealed with our keys.
    fn moving_session(&self, id: &str) -> Option<MovingSession> {
        let keys = self.state_keys().filter(|keys| keys.is_shared())?;
        let content = keys.open(Purpose::SessionId, id).ok()?;
        let mut content: Value = serde_json::from_slice(&content).ok()?;
        Some(MovingSession {
            caller: content["caller"].as_str()?.to_owned(),
            begun: content["begun"].as_u64()?,
            params: content["params"].take(),
        })
    }
}

/// A session that another server may have begun.
#[derive(Debug, PartialEq, Eq)]
pub enum MovedSession {
    /// It goes on with this `initialize` message.
    Found(String),
    /// It has ended or expired, is another caller's, or there was none.
    Unknown,
    /// The store does not answer, so that it may have ended.
    Unchecked,
}

/// What the id of a session holds.
struct MovingSession {
    caller: String,
    begun: u64,
    params: Value,
}

/// The mark of a session that has ended.
fn ended_key(id: &str) -> OnceKey {
    let digest = Sha256::digest([b"ended session ", id.as_bytes()].concat());
    let mut key = OnceKey::default();
    key.copy_from_slice(&digest[..16]);
    key
}

/// What the id holds. The client is left out if it says too much of itself, but never what it can do.
fn content(caller: &str, begun: u64, params: &Map<String, Value>) -> Option<String> {
    let mut kept = Map::new();
    for name in ["protocolVersion", "capabilities"] {
        kept.extend(params.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    let client =
        params.get("clientInfo").map(|info| json!({ "name": info["name"], "version": info["version"] }));
    let text = |params: &Map<String, Value>| {
        json!({ "caller": caller, "begun": begun, "params": params }).to_string()
    };
    let without_client = text(&kept);
    kept.extend(client.map(|client| ("clientInfo".to_owned(), client)));
    [text(&kept), without_client].into_iter().find(|content| content.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(params: &Value) -> Option<Value> {
        let text = content("me", 7, params.as_object().unwrap())?;
        assert!(text.len() <= LONGEST);
        Some(serde_json::from_str::<Value>(&text).unwrap()["params"].clone())
    }

    #[test]
    fn an_id_holds_what_the_client_can_do_and_its_name_if_there_is_room() {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": { "listChanged": true } },
            "clientInfo": { "name": "c", "version": "1", "icons": ["x"] }, "_meta": { "x": 1 } });
        let kept_params = json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": { "listChanged": true } },
            "clientInfo": { "name": "c", "version": "1" } });
        assert_eq!(kept(&params), Some(kept_params));
        let talkative =
            json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": "c".repeat(2000) } });
        assert_eq!(kept(&talkative), Some(json!({ "protocolVersion": "2025-06-18" })));
        assert_eq!(kept(&json!({ "capabilities": { "experimental": { "x": "y".repeat(2000) } } })), None);
    }
}
