//! Who wants to hear of which resource, and how its changes are noticed.
//!
//! # Theory of operation
//!
//! A resource that is subscribed to was read once, and what it held is known by its digest. Files are read again when
//! the file system tells of a change in their folder and they look different; a thousand of them cost nothing while
//! nothing happens. Everything else is read every few seconds (`poll.rs`). Whatever made us look, a changed digest is
//! told once to everyone who still wants to hear of it (`Subscriptions::settle`).

mod hearer;
mod listen;
mod poll;
mod source;

pub(crate) use hearer::Hearer;
pub(crate) use listen::{Filter, Listens};

use crate::resources::{Failure, read};
use crate::server::Server;
use mcp_bash_budget::Charge;
use mcp_bash_project::{Folders, Looks};
use sha2::{Digest, Sha256};
use source::Source;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// More resources than these are not followed: each costs memory for as long as its client likes.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct Subscriptions {
    state: Mutex<State>,
    /// There from the first file on, unless the system cannot tell us of changes.
    folders: OnceLock<Option<Folders>>,
    /// Files that have changed are read by one at a time, so that no old reading comes after a new one.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    by_uri: HashMap<Box<str>, Subscribed>,
    is_polling: bool,
}

/// A resource that somebody wants to hear of.
struct Subscribed {
    hearers: Vec<Subscriber>,
    /// Of what it held; none when it is gone.
    digest: Option<[u8; 32]>,
    source: Source,
    /// What its URI costs.
    _held: Charge,
}

struct Subscriber {
    hearer: Weak<Hearer>,
    /// Whether it has still to be told of a change.
    is_owed: bool,
}

impl Subscriber {
    fn is(&self, hearer: *const Hearer) -> bool {
        std::ptr::eq(self.hearer.as_ptr(), hearer)
    }

    fn is_there(&self) -> bool {
        self.hearer.strong_count() > 0
    }

    /// Tells it what it is owed, as far as its client reads.
    fn tell(&mut self, uri: &str) -> Option<Arc<Hearer>> {
        let hearer = self.hearer.upgrade().filter(|_| self.is_owed)?;
        self.is_owed = !hearer.tell_updated(uri);
        (!self.is_owed).then_some(hearer)
    }
}

impl Subscribed {
    fn add(&mut self, hearer: &Arc<Hearer>) {
        if !self.hearers.iter().any(|known| known.is(Arc::as_ptr(hearer))) {
            self.hearers.push(Subscriber { hearer: Arc::downgrade(hearer), is_owed: false });
        }
    }
}

/// Lets `hearer` hear of the changes of a resource, which must be there.
pub(crate) async fn subscribe(server: &Arc<Server>, uri: &str, hearer: &Arc<Hearer>) -> Result<(), Failure> {
    let subscriptions = server.subscriptions();
    if subscriptions.join(uri, hearer)? {
        return Ok(());
    }
    let mut source = Source::of(server, uri);
    if let Source::File(file) = &mut source {
        file.remember(Looks::of(file.path()));
    }
    // Twice: here, and in the path of its file.
    let held = server.budget().charge(2 * uri.len()).map_err(|why| Failure::Failed(why.to_string()))?;
    let content = read(server, server.budget(), uri).await?;
    let digest = Some(Sha256::digest(&content.bytes).into());
    drop(content);
    let subscribed = Subscribed { hearers: Vec::new(), digest, source, _held: held };
    if subscriptions.enter(server, uri, subscribed, hearer) {
        // It changed between its reading and its following.
        let _turn = subscriptions.turn.lock().await;
        look(server, uri).await;
    }
    Ok(())
}

impl Subscriptions {
    /// Adds a hearer to a resource that is followed already. False if it is not.
    fn join(&self, uri: &str, hearer: &Arc<Hearer>) -> Result<bool, Failure> {
        let mut state = self.lock();
        if let Some(known) = state.by_uri.get_mut(uri) {
            known.add(hearer);
            return Ok(true);
        }
        if state.by_uri.len() < MOST {
            return Ok(false);
        }
        self.prune(&mut state);
        match state.by_uri.len() {
            ..MOST => Ok(false),
            _ => Err(Failure::Failed(format!("{MOST} resources are subscribed to, and no more can be"))),
        }
    }

    /// Follows a resource that was read. True if it looks different already.
    fn enter(&self, server: &Arc<Server>, uri: &str, fresh: Subscribed, hearer: &Arc<Hearer>) -> bool {
        let folders = matches!(fresh.source, Source::File(_)).then(|| self.folders(server)).flatten();
        let mut state = self.lock();
        // Another may have been quicker.
        let known = state.by_uri.entry(uri.into()).or_insert(fresh);
        known.add(hearer);
        let mut is_different = false;
        if let Source::File(file) = &mut known.source {
            folders.inspect(|folders| file.follow(folders));
            is_different = file.looks_different();
        }
        let is_polled = known.is_polled();
        drop(state);
        if is_polled {
            poll::start(server);
        }
        is_different
    }

    /// Once this returns, `hearer` hears nothing more of the resource.
    pub(crate) fn unsubscribe(&self, uri: &str, hearer: &Hearer) {
        let mut state = self.lock();
        let Some(known) = state.by_uri.get_mut(uri) else { return };
        known.hearers.retain(|other| !other.is(hearer) && other.is_there());
        if known.hearers.is_empty()
            && let Some(gone) = state.by_uri.remove(uri)
        {
            self.leave(&gone);
        }
    }

    /// Forgets everything that `hearer` wanted to hear.
    pub(crate) fn forget(&self, hearer: &Hearer) {
        let mut state = self.lock();
        for known in state.by_uri.values_mut() {
            known.hearers.retain(|other| !other.is(hearer));
        }
        self.prune(&mut state);
    }

    /// Forgets what nobody wants to hear of any more.
    fn prune(&self, state: &mut State) {
        let is_left = |known: &mut Subscribed| {
            known.hearers.retain(Subscriber::is_there);
            known.hearers.is_empty()
        };
        for (_, gone) in state.by_uri.extract_if(|_, known| is_left(known)) {
            self.leave(&gone);
        }
    }

    fn leave(&self, gone: &Subscribed) {
        if let (Source::File(file), Some(Some(folders))) = (&gone.source, self.folders.get()) {
            file.leave(folders);
        }
    }

    fn folders(&self, server: &Arc<Server>) -> Option<&Folders> {
        let make = || {
            let server = Arc::downgrade(server);
            let told = move |changed: &BTreeSet<PathBuf>| {
                if let Some(server) = server.upgrade() {
                    server.subscriptions().look_in(changed, &server);
                }
            };
            Folders::watch(told).ok()
        };
        self.folders.get_or_init(make).as_ref()
    }

    /// Something has changed in these folders: the files in them that look different are read again.
    fn look_in(&self, changed: &BTreeSet<PathBuf>, server: &Arc<Server>) {
        let folders = self.folders.get().and_then(Option::as_ref);
        let Some(folders) = folders else { return };
        let lost: BTreeSet<PathBuf> =
            changed.iter().filter(|folder| !folders.follows(folder)).cloned().collect();
        let (mut due, mut is_polled) = (Vec::new(), false);
        for (uri, known) in &mut self.lock().by_uri {
            let Source::File(file) = &mut known.source else { continue };
            if !file.is_told_by(changed) {
                continue;
            }
            file.lose(&lost);
            if file.looks_different() || !file.is_followed() {
                file.follow(folders);
                due.push(uri.clone());
            }
            is_polled |= !file.is_followed();
        }
        if is_polled {
            poll::start(server);
        }
        if due.is_empty() {
            return;
        }
        let server = Arc::clone(server);
        server.runtime().clone().spawn(async move {
            let _turn = server.subscriptions().turn.lock().await;
            for uri in due {
                look(&server, &uri).await;
            }
        });
    }

    /// Tells of a change, if what was read is another than before.
    fn settle(&self, uri: &str, looks: Option<Looks>, digest: Option<[u8; 32]>) {
        let mut told = Vec::new();
        let mut state = self.lock();
        let Some(known) = state.by_uri.get_mut(uri) else { return };
        if let Source::File(file) = &mut known.source {
            file.remember(looks);
        }
        if known.digest == digest {
            return;
        }
        known.digest = digest;
        // Queued while the table is locked, so that nothing follows the answer to whoever unsubscribes.
        for subscriber in &mut known.hearers {
            subscriber.is_owed = true;
            told.extend(subscriber.tell(uri));
        }
        drop(state);
        for hearer in told {
            hearer.flush();
        }
    }

    /// Tells of the changes that could not be told before, to those who read again.
    pub(crate) fn tell_what_is_owed(&self) {
        let mut told = Vec::new();
        for (uri, known) in &mut self.lock().by_uri {
            told.extend(known.hearers.iter_mut().filter_map(|subscriber| subscriber.tell(uri)));
        }
        for hearer in told {
            hearer.flush();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a resource again and tells of it if it has changed.
async fn look(server: &Server, uri: &str) {
    let subscriptions = server.subscriptions();
    let path = match subscriptions.lock().by_uri.get(uri) {
        None => return,
        Some(known) => match &known.source {
            Source::File(file) => Some(file.path().to_owned()),
            _ => None,
        },
    };
    let looks = path.as_deref().and_then(Looks::of);
    let is_gone = path.is_some() && looks.is_none();
    match read(server, server.budget(), uri).await {
        Ok(content) => subscriptions.settle(uri, looks, Some(Sha256::digest(&content.bytes).into())),
        Err(Failure::Missing) => subscriptions.settle(uri, looks, None),
        // The folder that may be read is gone as well.
        Err(_) if is_gone => subscriptions.settle(uri, looks, None),
        // Whether it has changed is not known.
        Err(_) => {}
    }
}
