//! `subscriptions/listen`: requests of the stateless era that stay open for notifications.

use super::followed_tasks::FollowedTasks;
use super::server::Server;
use crate::callers::{MOST_FOLLOWED, Principal, RequestContext};
use crate::logging::{FollowedResource, ListChange, Related, Subscriber};
use crate::offered::{Failure, Follower, Policed, PolicyRefusal, Wanting};
use crate::replies::{Answer, Members, Reply};
use mcp_bash_audit::{Cause, Outcome, Reason};
use mcp_bash_wire::{Id, Object, Raw, Revision, RpcError, Scanner, keys, write};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The notifications that a client requests.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    lists: Vec<ListChange>,
    resources: Option<Vec<String>>,
    tasks: Option<Vec<String>>,
}

impl Filter {
    pub(crate) fn read(params: Option<Raw<'_>>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `notifications` is missing");
        let params = Object::read(params.ok_or_else(missing)?, "params", &["notifications"])?;
        let wanted = params.optional_object("notifications")?.ok_or_else(missing)?;
        let [tools, prompts, resources] = ListChange::ALL.map(|list| list.filter);
        let names = [tools, prompts, resources, "resourceSubscriptions", "taskIds"];
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
            filter.resources = Some(strings(uris, "resourceSubscriptions", MOST_FOLLOWED)?);
        }
        if let Some(ids) = wanted.get("taskIds").filter(|ids| !ids.is_null()) {
            filter.tasks = Some(strings(ids, "taskIds", MOST_TASKS)?);
        }
        Ok(filter)
    }

    /// Whether it requests tasks.
    pub(crate) fn wants_tasks(&self) -> bool {
        self.tasks.is_some()
    }

    /// Whether it requests resources. The audit log records those as reads.
    pub(crate) fn wants_resources(&self) -> bool {
        self.resources.as_ref().is_some_and(|uris| !uris.is_empty())
    }

    /// The part of the filter that the server supports, as JSON object.
    fn honoured(&self, resources: &[String], tasks: Option<&[String]>) -> String {
        let array = |strings: &[String]| {
            let strings: Vec<_> = strings.iter().map(|string| write::string(string)).collect();
            format!("[{}]", strings.join(","))
        };
        let mut honoured = Members::default();
        for list in &self.lists {
            honoured.raw(list.filter, "true");
        }
        if self.resources.is_some() {
            honoured.raw("resourceSubscriptions", &array(resources));
        }
        honoured.optional_raw("taskIds", tasks.map(array).as_deref());
        honoured.object()
    }
}

/// The URIs or ids that a client wants to follow. Each of them is stored, so their number is limited.
fn strings(array: Raw<'_>, name: &str, most: usize) -> Result<Vec<String>, RpcError> {
    let (mut strings, mut are_all) = (Vec::new(), array.is_array());
    if are_all {
        // Scanned before, so this cannot fail.
        let _ = Scanner::again(array).elements(|string| match string.string() {
            Some(string) if strings.len() <= most => strings.push(string.into_owned()),
            Some(_) => {}
            None => are_all = false,
        });
    }
    if !are_all {
        return Err(wrong(name, "an array of strings"));
    }
    if strings.len() > most {
        return Err(wrong(name, &format!("an array of at most {most} strings")));
    }
    Ok(strings)
}

fn wrong(name: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `{name}` must be {expected}"))
}

/// The most tasks that one request follows: each of them is checked every second.
const MOST_TASKS: usize = 256;

/// The most open streams of one client.
const MOST: usize = 256;

/// The open listening requests of one client.
#[derive(Default)]
pub(crate) struct Listens(Mutex<HashMap<Id, Listen>>);

/// A listening request.
struct Listen {
    subscriber: Arc<Subscriber>,
    reply: Arc<dyn Reply>,
    revision: Revision,
}

impl Listens {
    /// Opens a stream. It is acknowledged after the resources and tasks of the filter are followed, as far as possible.
    pub(crate) fn begin(
        &self,
        server: &Arc<Server>,
        reply: Arc<dyn Reply>,
        context: &RequestContext,
        id: &Id,
        mut filter: Filter,
        related: Option<Related>,
    ) -> Result<(), RpcError> {
        let (principal, revision) = (&context.principal, context.revision);
        let capabilities = server.capabilities(revision);
        let capabilities: serde_json::Value = serde_json::from_str(&capabilities).unwrap_or_default();
        filter.lists.retain(|list| capabilities.get(list.kind).is_some());
        // The id is stored here, in its subscriber, and in every notification.
        let uris: usize = filter.resources.iter().chain(&filter.tasks).flatten().map(String::len).sum();
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
        if filter.resources.is_none() && filter.tasks.is_none() {
            subscriber.acknowledge(&filter.honoured(&[], None));
        } else {
            let uris = filter.resources.replace(Vec::new());
            if uris.is_none() {
                filter.resources = None;
            }
            let follower = Follower { principal: Arc::clone(principal), client: "".into() };
            let wanting = Wanting { subscriber, follower: Arc::new(follower) };
            server.runtime().spawn(follow(
                Arc::clone(server),
                wanting,
                revision,
                filter,
                uris.unwrap_or_default(),
                related,
            ));
        }
        Ok(())
    }

    /// Whether a stream with this id is open.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.0.lock().contains_key(id)
    }

    /// Ends a stream that its client cancels. False if there is no stream with this id.
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
    /// Answers the request. If it has no stream of its own, the specification also requires a notification that the
    /// subscription has ended.
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

/// Why a resource is not followed.
enum NotFollowed {
    Refused(PolicyRefusal),
    Failed(Failure),
}

impl NotFollowed {
    /// Outcome, rule and error type for the audit record.
    fn for_audit(
        self,
        server: &Server,
        principal: &Principal,
        revision: Revision,
        uri: &str,
    ) -> (Outcome, Option<String>, Option<Cause>) {
        match self {
            Self::Refused(refusal) => {
                (Outcome::Refused, refusal.rule().map(str::to_owned), Some(Reason::Policy.into()))
            }
            Self::Failed(Failure::TimedOut(_)) => (Outcome::Timeout, None, Some(Reason::Timeout.into())),
            Self::Failed(Failure::Missing(_)) if server.resources().hides(uri, principal) => {
                (Outcome::Refused, None, Some(Reason::Rights.into()))
            }
            Self::Failed(failure) => {
                let code = failure.told(revision, uri).code;
                (Outcome::Error, None, Some(Cause::Code(code)))
            }
        }
    }
}

/// Subscribes to a resource, if the policy allows it and the caller may read it. Returns the rule that allowed it.
async fn subscribe(server: &Server, wanting: &Wanting, uri: &str) -> Result<Option<String>, NotFollowed> {
    let snapshot = server.snapshot();
    let ruling = server.police(&snapshot, &wanting.follower.asker(), &Policed::Resource { uri }, false);
    let ruling = ruling.map_err(NotFollowed::Refused)?;
    let patience = server.settings().resources.subscribe_timeout;
    let subscribed = tokio::time::timeout(patience, server.subscriptions().subscribe(uri, wanting)).await;
    let late = |_| Err(Failure::TimedOut(String::new()));
    subscribed.unwrap_or_else(late).map_err(NotFollowed::Failed)?;
    Ok(ruling.rule)
}

/// Subscribes to the resources and tasks that exist, and then acknowledges.
async fn follow(
    server: Arc<Server>,
    wanting: Wanting,
    revision: Revision,
    mut filter: Filter,
    uris: Vec<String>,
    related: Option<Related>,
) {
    let mut followed = Vec::new();
    for uri in uris {
        if wanting.subscriber.is_closed() {
            break;
        }
        let began = Instant::now();
        let subscribed = subscribe(&server, &wanting, &uri).await;
        let mut is_followed = subscribed.is_ok();
        if let Some(related) = &related {
            let (outcome, rule, error) = match subscribed {
                Ok(rule) => (Outcome::Success, rule, None),
                Err(why) => why.for_audit(&server, &wanting.follower.principal, revision, &uri),
            };
            let (rule, duration) = (rule.as_deref(), began.elapsed());
            let line = FollowedResource { uri: &uri, rule, outcome, error, duration };
            if related.followed(line).await.is_some() && is_followed {
                server.subscriptions().unsubscribe(&uri, &wanting.subscriber);
                is_followed = false;
            }
        }
        if is_followed {
            followed.push(uri);
        }
    }
    let tasks = match filter.tasks.take() {
        Some(ids) => Some(FollowedTasks::of(&server, &wanting.follower.principal, ids).await),
        None => None,
    };
    let ids = tasks.as_ref().map(FollowedTasks::ids);
    if !wanting.subscriber.acknowledge(&filter.honoured(&followed, ids.as_deref())) {
        server.subscriptions().forget(&wanting.subscriber);
    } else if let Some(tasks) = tasks {
        tasks.follow(&wanting.subscriber, revision).await;
    }
}
