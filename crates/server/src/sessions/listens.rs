//! `subscriptions/listen`: requests of the stateless era that are answered only when they end.

use super::server::Server;
use crate::callers::{MOST_FOLLOWED, Principal};
use crate::logging::{ListChange, Subscriber};
use crate::offered::Wanting;
use crate::replies::{Answer, Members, Reply};
use mcp_bash_wire::{Id, Object, Raw, Revision, RpcError, Scanner, keys, write};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The notifications that a client asks for.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    lists: Vec<ListChange>,
    resources: Option<Vec<String>>,
}

impl Filter {
    pub(crate) fn read(params: Option<Raw<'_>>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `notifications` is missing");
        let params = Object::read(params.ok_or_else(missing)?, "params", &["notifications"])?;
        let wanted = params.optional_object("notifications")?.ok_or_else(missing)?;
        let [tools, prompts, resources] = ListChange::ALL.map(|list| list.filter);
        let names = [tools, prompts, resources, "resourceSubscriptions"];
        let wanted = Object::read(wanted, "notifications", &names)?;
        let mut filter = Self::default();
        for list in ListChange::ALL {
            match wanted.get(list.filter).map(Raw::text) {
                None | Some("false" | "null") => {}
                Some("true") => filter.lists.push(list),
                Some(_) => return Err(wrong(list.filter, "a boolean")),
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
        for list in &self.lists {
            honoured.raw(list.filter, "true");
        }
        if self.resources.is_some() {
            let uris: Vec<_> = resources.iter().map(|uri| write::string(uri)).collect();
            honoured.raw("resourceSubscriptions", &format!("[{}]", uris.join(",")));
        }
        honoured.object()
    }
}

/// The URIs that a client wants to follow. Each of them is kept, so their number is limited.
fn strings(uris: Raw<'_>) -> Result<Vec<String>, RpcError> {
    let (mut strings, mut are_all) = (Vec::new(), uris.is_array());
    if are_all {
        // The text was scanned before, so this cannot fail.
        let _ = Scanner::again(uris).elements(|uri| match uri.string() {
            Some(uri) if strings.len() <= MOST_FOLLOWED => strings.push(uri.into_owned()),
            Some(_) => {}
            None => are_all = false,
        });
    }
    if !are_all {
        return Err(wrong("resourceSubscriptions", "an array of strings"));
    }
    if strings.len() > MOST_FOLLOWED {
        return Err(wrong("resourceSubscriptions", &format!("an array of at most {MOST_FOLLOWED} strings")));
    }
    Ok(strings)
}

fn wrong(name: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `{name}` must be {expected}"))
}

/// The most streams that are open for one client.
const MOST: usize = 256;

/// The listening requests of one client that have not ended.
#[derive(Default)]
pub(crate) struct Listens(Mutex<HashMap<Id, Listen>>);

/// A listening request.
struct Listen {
    subscriber: Arc<Subscriber>,
    reply: Arc<dyn Reply>,
    revision: Revision,
}

impl Listens {
    /// Opens a stream. The acknowledgement is sent when everything is followed that can be.
    pub(crate) fn begin(
        &self,
        server: &Arc<Server>,
        reply: Arc<dyn Reply>,
        principal: &Arc<Principal>,
        id: &Id,
        revision: Revision,
        mut filter: Filter,
    ) -> Result<(), RpcError> {
        let capabilities = server.capabilities(revision);
        let capabilities: serde_json::Value = serde_json::from_str(&capabilities).unwrap_or_default();
        filter.lists.retain(|list| capabilities.get(list.kind).is_some());
        // The id is here, with its subscriber, and in every notification.
        let uris: usize = filter.resources.iter().flatten().map(String::len).sum();
        let held = principal.caller.budget().charge(3 * id.as_json().len() + uris);
        let held = held.map_err(|why| RpcError::internal(why.to_string()))?;
        let stream = Arc::clone(&reply) as _;
        let subscriber = Subscriber::of_listen(stream, id.clone(), filter.lists.clone(), held);
        let subscriber = Arc::new(subscriber);
        let mut listens = self.0.lock();
        if listens.contains_key(id) {
            return Err(RpcError::invalid_request(
                "Invalid Request: a request with this id is still in flight",
            ));
        }
        if listens.len() >= MOST {
            return Err(RpcError::internal(format!("{MOST} streams are open already; cancel one of them")));
        }
        listens.insert(id.clone(), Listen { subscriber: Arc::clone(&subscriber), reply, revision });
        drop(listens);
        server.log().audience().join(&subscriber);
        match filter.resources.take() {
            None => {
                subscriber.acknowledge(&filter.honoured(&[]));
            }
            Some(uris) => {
                filter.resources = Some(Vec::new());
                let wanting = Wanting { subscriber, principal: Arc::clone(principal) };
                server.runtime().spawn(follow(Arc::clone(server), wanting, filter, uris));
            }
        }
        Ok(())
    }

    /// Whether a stream of that id is open.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.0.lock().contains_key(id)
    }

    /// Ends a stream that its client cancels. False if there is none of that id.
    pub(crate) fn cancel(&self, id: &Id, server: &Server) -> bool {
        let Some(listen) = self.0.lock().remove(id) else { return false };
        listen.subscriber.close_after(|_| listen.reply.end());
        server.subscriptions().forget(&listen.subscriber);
        true
    }

    /// Ends all streams gracefully: each request is answered.
    pub(crate) fn end_all(&self, server: &Server) {
        for (id, listen) in std::mem::take(&mut *self.0.lock()) {
            listen.end(&id, server);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl Listen {
    /// Answers the request. If it has no stream of its own, the specification requires another message that says it is
    /// over.
    fn end(&self, id: &Id, server: &Server) {
        let meta = format!("\"{}\":{}", keys::SUBSCRIPTION_ID, id.as_json());
        let answer = Answer { meta, ..Answer::default() };
        let result = answer.render(self.revision, &server.snapshot().catalog.identity);
        self.subscriber.close_after(|stream| {
            self.reply.answer(write::result(id, result.members));
            if self.reply.is_shared() {
                let mut params = Members::default();
                params.raw("requestId", id.as_json());
                params.string("reason", Some("the server ends"));
                stream.notify(self.subscriber.notification("notifications/cancelled", params));
            }
        });
        server.subscriptions().forget(&self.subscriber);
    }
}

/// Subscribes to the resources that exist, and then acknowledges.
async fn follow(server: Arc<Server>, wanting: Wanting, filter: Filter, uris: Vec<String>) {
    let patience = server.settings().resources.subscribe_timeout;
    let mut followed = Vec::new();
    for uri in uris {
        if wanting.subscriber.is_closed() {
            break;
        }
        let subscribed =
            tokio::time::timeout(patience, server.subscriptions().subscribe(&uri, &wanting)).await;
        if matches!(subscribed, Ok(Ok(()))) {
            followed.push(uri);
        }
    }
    if !wanting.subscriber.acknowledge(&filter.honoured(&followed)) {
        server.subscriptions().forget(&wanting.subscriber);
    }
}
