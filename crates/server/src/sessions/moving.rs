//! Moving sessions: if several servers share their keys, the sealed id of a session contains the params of `initialize`. A
//! server that does not know the session starts it again from them, for the same caller, so the client does not notice that its
//! server was replaced. The later state of the session is lost: subscriptions, the log level, and the values that functions
//! keep.

use super::server::Server;
use crate::requests::{KeyRing, Purpose};
use crate::stores::{OnceKey, StreamStore, now};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};

/// The longest content of an id. Sealed and encoded, it stays below 1 kB, which every proxy accepts in a header.
const LONGEST: usize = 640;

/// How long after its start a session can move, in seconds.
const LONGEST_LIFE: u64 = 7 * 24 * 60 * 60;

impl Server {
    /// Whether other servers may continue sessions of this one.
    pub(crate) fn moves_sessions(&self) -> bool {
        self.state_keys().is_some_and(KeyRing::is_shared)
    }

    /// The id of a session that can move. `None` if the keys are not shared, or if the params of `initialize` are too long.
    pub fn moving_session_id(&self, caller: &str, initialize: &[u8]) -> Option<String> {
        let keys = self.state_keys().filter(|keys| keys.is_shared())?;
        let message: Value = serde_json::from_slice(initialize).ok()?;
        let content = content(caller, now(), message.get("params")?.as_object()?)?;
        keys.seal(Purpose::SessionId, content.into_bytes())
    }

    /// The `initialize` message of a session with this id, if the session belongs to the caller and has not ended on any server
    /// that shares our store.
    pub async fn moved_session(&self, id: &str, caller: &str) -> MovedSession {
        let Some(MovingSession { begun, params, caller: owner }) = self.moving_session(id) else {
            return MovedSession::Unknown;
        };
        if owner != caller || now() >= begun + LONGEST_LIFE {
            return MovedSession::Unknown;
        }
        match self.store().has_ended(ended_key(id), begun + LONGEST_LIFE).await {
            Ok(false) => {
                let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
                MovedSession::Found(message.to_string())
            }
            Ok(true) => MovedSession::Unknown,
            Err(_) => MovedSession::Unchecked,
        }
    }

    /// Ends a session for every server that shares our store. False if the store does not answer: then another server may still
    /// continue it.
    pub async fn end_moving_session(&self, id: &str) -> bool {
        let Some(MovingSession { begun, .. }) = self.moving_session(id) else { return true };
        self.store().end_session(ended_key(id), begun + LONGEST_LIFE).await.is_ok()
    }

    /// The store for event streams of sessions that move. `None` if no store is shared, or if no other server has the keys.
    pub fn stream_store(&self) -> Option<StreamStore> {
        let database = self.store().shared().filter(|_| self.moves_sessions())?;
        Some(StreamStore::new(database.clone()))
    }

    /// Those sessions that have ended on another server. Asks the database once, if there is one.
    pub async fn sessions_ended_elsewhere(&self, ids: impl Iterator<Item = &str>) -> HashSet<String> {
        if self.store().shared().is_none() {
            return HashSet::new();
        }
        let by_key: HashMap<OnceKey, &str> = ids.map(|id| (ended_key(id), id)).collect();
        if by_key.is_empty() {
            return HashSet::new();
        }
        let ended = self.store().used_elsewhere(by_key.keys().copied().collect()).await;
        // Without an answer, the next check finds them.
        let ended = ended.unwrap_or_default();
        ended.iter().filter_map(|key| by_key.get(key)).map(|id| (*id).to_owned()).collect()
    }

    /// The content of a session id, if it was sealed with our keys.
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

/// A session that another server may have started.
#[derive(Debug, PartialEq, Eq)]
pub enum MovedSession {
    /// The session continues with this `initialize` message.
    Found(String),
    /// The session has ended or expired, belongs to another caller, or never existed.
    Unknown,
    /// The store does not answer, so the session may have ended.
    Unchecked,
}

/// The content of a session id.
struct MovingSession {
    caller: String,
    begun: u64,
    params: Value,
}

/// The key that marks a session as ended.
fn ended_key(id: &str) -> OnceKey {
    let digest = Sha256::digest([b"ended session ", id.as_bytes()].concat());
    let mut key = OnceKey::default();
    key.copy_from_slice(&digest[..16]);
    key
}

/// The content of an id. The client info is left out if it is too long, the capabilities never are.
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
