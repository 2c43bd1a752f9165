//! Resource subscriptions: which subscribers follow which resource, and how changes are detected.
//!
//! # Theory of operation
//!
//! A resource is read when it is subscribed to, and a digest of its content is stored. A file is read again when the file
//! system reports a change in its folder and the metadata of the file differ, so a thousand idle files cost nothing. Everything
//! else is polled every few seconds (`poll.rs`). Whatever triggered the read, each subscriber is notified once of a changed
//! digest (`Subscriptions::settle`).
//!
//! Clients subscribe, unsubscribe and disconnect at any time, and share one table (`table.rs`): the cost for one client does
//! not depend on how much the others follow.

mod change_signal;
mod poll;
mod table;

use super::judging::{Asker, Policed};
use super::resources::{Failure, Resources, find};
use crate::callers::{MOST_FOLLOWED, Principal, RightsSource};
use crate::logging::Subscriber;
use change_signal::ChangeSignal;
use mcp_bash_project::{Folders, Looks};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use table::{Followed, SubscriberKey, Subscription, Table, Verdicts};
use tokio::runtime::Handle;

pub(crate) struct Subscriptions {
    resources: Arc<Resources>,
    rights: Arc<RightsSource>,
    runtime: Handle,
    state: Mutex<SubscriptionsState>,
    /// Created with the first file, unless the system cannot report changes.
    folders: OnceLock<Option<Folders>>,
    /// Held while changed files are read, so that no older read is processed after a newer one.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct SubscriptionsState {
    table: Table,
    is_polling: bool,
    /// Whether a resource that has to be polled was added since the last round.
    is_poll_wanted: bool,
}

/// A subscriber, and the follower whose limits and rights apply.
#[derive(Clone)]
pub(crate) struct Wanting {
    pub(crate) subscriber: Arc<Subscriber>,
    pub(crate) follower: Arc<Follower>,
}

/// The principal and client that follow a resource.
pub(crate) struct Follower {
    pub(crate) principal: Arc<Principal>,
    /// The name of the client; empty without a session.
    pub(crate) client: Box<str>,
}

impl Follower {
    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker { principal: &self.principal, client: &self.client }
    }
}

impl Subscriptions {
    pub(crate) fn new(resources: Arc<Resources>, rights: Arc<RightsSource>, runtime: Handle) -> Self {
        let (state, folders, turn) = (Mutex::default(), OnceLock::new(), tokio::sync::Mutex::default());
        Self { resources, rights, runtime, state, folders, turn }
    }

    /// Subscribes to changes of a resource, which must exist. The caller has already asked the policy.
    pub(crate) async fn subscribe(self: &Arc<Self>, uri: &str, wanting: &Wanting) -> Result<(), Failure> {
        let mut subscription = Some(Self::subscription(uri, wanting)?);
        // A resource that the caller may not read is reported as missing by the read below, even if others follow it.
        if self.may_read(uri, wanting) && self.join(uri, wanting, &mut subscription) {
            return Ok(());
        }
        let mut signal = ChangeSignal::of(self.resources.served(), uri);
        if let ChangeSignal::File(file) = &mut signal {
            file.remember(Looks::of(file.path()));
        }
        let content = self.resources.read(Some(&wanting.follower.principal), uri, None).await?;
        let digest = Some(Sha256::digest(&content.bytes).into());
        drop(content);
        let followed = Followed::new(digest, signal);
        if self.enter(uri, followed, wanting, subscription) {
            // It changed between the read and the subscription.
            let _turn = self.turn.lock().await;
            self.reread(uri).await;
        }
        Ok(())
    }

    /// A subscription that is charged to its caller.
    fn subscription(uri: &str, wanting: &Wanting) -> Result<Subscription, Failure> {
        let caller = &wanting.follower.principal.caller;
        let counted = caller.follow().ok_or_else(|| {
            Failure::Failed(format!("{MOST_FOLLOWED} resources are subscribed to, and no more can be"))
        })?;
        // Charged twice: here, and for the path of its file.
        let held = caller.budget().charge(2 * uri.len()).map_err(|why| Failure::Failed(why.to_string()))?;
        Ok(Subscription::new(wanting, counted, held))
    }

    fn may_read(&self, uri: &str, wanting: &Wanting) -> bool {
        let rights = self.rights.now(&wanting.follower.principal);
        find(&self.resources.served().snapshot(), uri, rights.as_deref()).is_some()
    }

    /// Which followers of a resource may receive its changes, by their rights and the policy. Both may have changed since they
    /// subscribed.
    fn verdicts(&self, uri: &str, followers: Vec<(SubscriberKey, Arc<Follower>)>) -> Verdicts {
        let snapshot = self.resources.served().snapshot();
        let has_no_policy = snapshot.has_no_policy(self.resources.settings().policy_required);
        // Rights and policies do not apply to a resource that is gone.
        if find(&snapshot, uri, None).is_none() {
            return Verdicts::default();
        }
        let may_know = |follower: &Follower| {
            let rights = self.rights.now(&follower.principal);
            let has_right = rights.is_none_or(|rights| find(&snapshot, uri, Some(&rights)).is_some());
            has_right
                && (has_no_policy
                    || snapshot.judge(&follower.asker(), &Policed::Resource { uri }, false).is_ok())
        };
        followers.into_iter().map(|(key, follower)| (key, may_know(&follower))).collect()
    }

    /// Adds a subscription to a resource that is already followed. False if it is not.
    fn join(&self, uri: &str, wanting: &Wanting, subscription: &mut Option<Subscription>) -> bool {
        let table = &mut self.state.lock().table;
        let is_followed = table.get_mut(uri).is_some();
        if is_followed {
            table.add(uri, &wanting.subscriber, subscription.take());
        }
        is_followed
    }

    /// Follows a resource that was read. True if it has changed since.
    fn enter(
        self: &Arc<Self>,
        uri: &str,
        fresh: Followed,
        wanting: &Wanting,
        subscription: Option<Subscription>,
    ) -> bool {
        let folders = matches!(fresh.signal, ChangeSignal::File(_)).then(|| self.folders()).flatten();
        let mut state = self.state.lock();
        // The subscriber was closed while the resource was read, and all its subscriptions were removed.
        if wanting.subscriber.is_closed() {
            return false;
        }
        state.table.follow(uri, fresh);
        state.table.add(uri, &wanting.subscriber, subscription);
        let Some(known) = state.table.get_mut(uri) else { return false };
        let mut is_different = false;
        if let ChangeSignal::File(file) = &mut known.signal {
            folders.inspect(|folders| file.follow(folders));
            is_different = file.looks_different();
        }
        let is_polled = known.is_polled();
        drop(state);
        if is_polled {
            poll::start(self);
        }
        is_different
    }

    /// Unsubscribes. Once this returns, `subscriber` receives no more notifications about the resource.
    pub(crate) fn unsubscribe(&self, uri: &str, subscriber: &Subscriber) {
        if let Some(gone) = self.state.lock().table.remove(uri, subscriber) {
            self.leave(&gone);
        }
    }

    /// Removes all subscriptions of a closed `subscriber`.
    pub(crate) fn forget(&self, subscriber: &Subscriber) {
        for gone in self.state.lock().table.forget(subscriber) {
            self.leave(&gone);
        }
    }

    fn leave(&self, gone: &Followed) {
        if let (ChangeSignal::File(file), Some(Some(folders))) = (&gone.signal, self.folders.get()) {
            file.leave(folders);
        }
    }

    fn folders(self: &Arc<Self>) -> Option<&Folders> {
        let make = || {
            let subscriptions = Arc::downgrade(self);
            let told = move |changed: &BTreeSet<PathBuf>| {
                if let Some(subscriptions) = subscriptions.upgrade() {
                    subscriptions.check_folders(changed);
                }
            };
            Folders::watch(told).ok()
        };
        self.folders.get_or_init(make).as_ref()
    }

    /// Reads the files in changed folders again whose metadata differ.
    fn check_folders(self: &Arc<Self>, changed: &BTreeSet<PathBuf>) {
        let folders = self.folders.get().and_then(Option::as_ref);
        let Some(folders) = folders else { return };
        let lost: BTreeSet<PathBuf> =
            changed.iter().filter(|folder| !folders.follows(folder)).cloned().collect();
        let (mut due, mut is_polled) = (Vec::new(), false);
        let uris = self.state.lock().table.uris();
        // Locked for each file separately, so that clients do not wait until all are checked.
        for uri in uris {
            let table = &mut self.state.lock().table;
            let Some(ChangeSignal::File(file)) = table.get_mut(&uri).map(|known| &mut known.signal) else {
                continue;
            };
            if !file.is_told_by(changed) {
                continue;
            }
            file.lose(&lost);
            if file.looks_different() || !file.is_followed() {
                file.follow(folders);
                due.push(uri);
            }
            is_polled |= !file.is_followed();
        }
        if is_polled {
            poll::start(self);
        }
        if due.is_empty() {
            return;
        }
        let subscriptions = Arc::clone(self);
        self.runtime.spawn(async move {
            let _turn = subscriptions.turn.lock().await;
            for uri in due {
                subscriptions.reread(&uri).await;
            }
        });
    }

    /// Notifies subscribers of a change, if the new digest differs.
    fn settle(&self, uri: &str, looks: Option<Looks>, digest: Option<[u8; 32]>) {
        let mut state = self.state.lock();
        let Some(known) = state.table.get_mut(uri) else { return };
        if let ChangeSignal::File(file) = &mut known.signal {
            file.remember(looks);
        }
        if known.digest == digest {
            return;
        }
        let followers = known.followers();
        drop(state);
        let verdicts = self.verdicts(uri, followers);
        let mut state = self.state.lock();
        let Some(known) = state.table.get_mut(uri) else { return };
        known.judge(&verdicts);
        if known.digest == digest {
            return;
        }
        known.digest = digest;
        // Queued while the table is locked, so that nothing follows the response to an unsubscribe request.
        let told = state.table.tell(uri);
        drop(state);
        for subscriber in told {
            subscriber.flush();
        }
    }

    /// Sends withheld notifications to subscribers that are no longer congested.
    pub(crate) fn send_withheld(&self) {
        let told = self.state.lock().table.send_withheld();
        for subscriber in told {
            subscriber.flush();
        }
    }

    /// Reads a resource again, and notifies subscribers if it has changed.
    async fn reread(&self, uri: &str) {
        let path = match self.state.lock().table.get_mut(uri) {
            None => return,
            Some(known) => match &known.signal {
                ChangeSignal::File(file) => Some(file.path().to_owned()),
                _ => None,
            },
        };
        let looks = path.as_deref().and_then(Looks::of);
        let is_gone = path.is_some() && looks.is_none();
        match self.resources.read(None, uri, None).await {
            Ok(content) => self.settle(uri, looks, Some(Sha256::digest(&content.bytes).into())),
            Err(Failure::Missing(_)) => self.settle(uri, looks, None),
            // The allowed root that contained the file may be gone as well.
            Err(_) if is_gone => self.settle(uri, looks, None),
            // It is unknown whether it changed.
            Err(_) => {}
        }
    }
}
