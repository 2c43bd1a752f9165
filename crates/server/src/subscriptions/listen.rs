//! `subscriptions/listen`: requests of the stateless era that are answered only when they end.

use super::{Hearer, MOST as MOST_RESOURCES, subscribe};
use crate::channel::Channel;
use crate::server::Server;
use crate::shape::{Answer, Members};
use mcp_bash_budget::Budget;
use mcp_bash_wire::{Id, Object, Raw, Revision, RpcError, Scanner, keys, write};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kinds of lists whose changes can be heard: what they are called in a filter, and in capabilities.
const LISTS: [(&str, &str, &str); 3] = [
    ("toolsListChanged", "tools", "notifications/tools/list_changed"),
    ("promptsListChanged", "prompts", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "resources", "notifications/resources/list_changed"),
];

/// What a client wants to hear.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    lists: Vec<(&'static str, &'static str, &'static str)>,
    resources: Option<Vec<String>>,
}

impl Filter {
    pub(crate) fn read(params: Option<Raw<'_>>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `notifications` is missing");
        let params = Object::read(params.ok_or_else(missing)?, "params", &["notifications"])?;
        let wanted = params.optional_object("notifications")?.ok_or_else(missing)?;
        let names = [LISTS[0].0, LISTS[1].0, LISTS[2].0, "resourceSubscriptions"];
        let wanted = Object::read(wanted, "notifications", &names)?;
        let mut filter = Self::default();
        for list in LISTS {
            match wanted.get(list.0).map(Raw::text) {
                None | Some("false" | "null") => {}
                Some("true") => filter.lists.push(list),
                Some(_) => return Err(wrong(list.0, "a boolean")),
            }
        }
        if let Some(uris) = wanted.get("resourceSubscriptions").filter(|uris| !uris.is_null()) {
            filter.resources = Some(strings(uris)?);
        }
        Ok(filter)
    }

    /// The part that can be honoured, as the text of a JSON object.
    fn honoured(&self, resources: &[String]) -> String {
        let mut honoured = Members::default();
        for (name, _, _) in &self.lists {
            honoured.raw(name, "true");
        }
        if self.resources.is_some() {
            let uris: Vec<_> = resources.iter().map(|uri| write::string(uri)).collect();
            honoured.raw("resourceSubscriptions", &format!("[{}]", uris.join(",")));
        }
        honoured.object()
    }
}

/// The URIs that a client wants to hear of. Each is kept, so there are only so many of them.
fn strings(uris: Raw<'_>) -> Result<Vec<String>, RpcError> {
    let (mut strings, mut are_all) = (Vec::new(), uris.is_array());
    if are_all {
        // The text was scanned before, so that there is nothing left to go wrong.
        let _ = Scanner::again(uris).elements(|uri| match uri.string() {
            Some(uri) if strings.len() <= MOST_RESOURCES => strings.push(uri.into_owned()),
            Some(_) => {}
            None => are_all = false,
        });
    }
    if !are_all {
        return Err(wrong("resourceSubscriptions", "an array of strings"));
    }
    if strings.len() > MOST_RESOURCES {
        return Err(wrong("resourceSubscriptions", &format!("an array of at most {MOST_RESOURCES} strings")));
    }
    Ok(strings)
}

fn wrong(name: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `{name}` must be {expected}"))
}

/// More of them than these are not held open for one client.
const MOST: usize = 256;

/// The listening requests of one client that have not ended.
#[derive(Default)]
pub(crate) struct Listens(Mutex<HashMap<Id, (Arc<Hearer>, Revision)>>);

impl Listens {
    /// Opens a stream. The acknowledgement leaves when everything is followed that can be.
    pub(crate) fn begin(
        &self,
        server: &Arc<Server>,
        channel: Arc<dyn Channel>,
        budget: &Arc<Budget>,
        id: &Id,
        revision: Revision,
        mut filter: Filter,
    ) -> Result<(), RpcError> {
        let capabilities = server.capabilities(revision);
        let capabilities: serde_json::Value = serde_json::from_str(&capabilities).unwrap_or_default();
        filter.lists.retain(|(_, kind, _)| capabilities.get(kind).is_some());
        let announcements = filter.lists.iter().map(|(_, _, method)| *method).collect();
        // The id stands here, with its hearer, and in everything that is told.
        let uris: usize = filter.resources.iter().flatten().map(String::len).sum();
        let held = budget.charge(3 * id.as_json().len() + uris);
        let held = held.map_err(|why| RpcError::internal(why.to_string()))?;
        let hearer = Arc::new(Hearer::of_listen(channel, id.clone(), announcements, held));
        let mut listens = self.lock();
        if listens.contains_key(id) {
            return Err(RpcError::invalid_request(
                "Invalid Request: a request with this id is still in flight",
            ));
        }
        if listens.len() >= MOST {
            return Err(RpcError::internal(format!("{MOST} streams are open already; cancel one of them")));
        }
        listens.insert(id.clone(), (Arc::clone(&hearer), revision));
        drop(listens);
        server.log().peers().listen(&hearer);
        match filter.resources.take() {
            None => {
                hearer.open(&filter.honoured(&[]));
            }
            Some(uris) => {
                filter.resources = Some(Vec::new());
                server.runtime().spawn(follow(Arc::clone(server), hearer, filter, uris));
            }
        }
        Ok(())
    }

    /// Whether a stream of that id is open.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.lock().contains_key(id)
    }

    /// Ends a stream whose client does not want it any more. False if there is none of that id.
    pub(crate) fn cancel(&self, id: &Id, server: &Server) -> bool {
        let Some((hearer, _)) = self.lock().remove(id) else { return false };
        hearer.close();
        server.subscriptions().forget(&hearer);
        true
    }

    /// Ends all streams in good order: each request is answered.
    pub(crate) fn end_all(&self, server: &Server) {
        for (id, (hearer, revision)) in std::mem::take(&mut *self.lock()) {
            let meta = format!("\"{}\":{}", keys::SUBSCRIPTION_ID, id.as_json());
            let answer = Answer { meta, ..Answer::default() };
            let result = answer.render(revision, &server.snapshot().catalog.identity);
            hearer.end(write::result(&id, result));
            server.subscriptions().forget(&hearer);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, (Arc<Hearer>, Revision)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subscribes to what there is, and then acknowledges.
async fn follow(server: Arc<Server>, hearer: Arc<Hearer>, filter: Filter, uris: Vec<String>) {
    let patience = server.settings().resources.subscribe_timeout;
    let mut followed = Vec::new();
    for uri in uris {
        if hearer.is_closed() {
            break;
        }
        let subscribed = tokio::time::timeout(patience, subscribe(&server, &uri, &hearer)).await;
        if matches!(subscribed, Ok(Ok(()))) {
            followed.push(uri);
        }
    }
    if !hearer.open(&filter.honoured(&followed)) {
        server.subscriptions().forget(&hearer);
    }
}
