//! Issuer keys (JWKS): fetched on demand and cached.
//!
//! One task fetches at a time, and all requests that need its result wait for it. Cached keys verify tokens meanwhile, so a
//! slow issuer delays only tokens with unknown keys.

use super::Rejected;
use super::error::KeysError;
use crate::http::limits::rate::Rates;
use crate::http::secrets::guarded_file::Report;
use mcp_bash_fetch::{FetchError, OperatorClient, OperatorUrl};
use mcp_bash_oauth::{IssuerMetadata, Jws, KeySet, MetadataError, NotVerified, TokenError, metadata_urls};
use mcp_bash_roles::Rate;
use parking_lot::Mutex;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// How long keys are fresh, that is, used without another fetch. Bounds for what the issuer says, and the default.
const FRESH: std::ops::RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(3600);
const USUALLY_FRESH: Duration = Duration::from_secs(600);

/// How long stale keys are used while the issuer cannot be reached.
const MOST_STALE: Duration = Duration::from_secs(24 * 3600);

/// How often tokens with unknown keys trigger a fetch. Anyone can make such a token.
const REFETCHES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(4).unwrap();

/// How long no fetch is tried after one failed.
const PAUSE: Duration = Duration::from_secs(5);

pub(super) struct Keys {
    issuer: Box<str>,
    /// The URL of the keys, if the operator names it.
    url: Option<OperatorUrl>,
    client: Arc<OperatorClient>,
    runtime: Handle,
    report: Report,
    refetches: Rates,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Option<Known>,
    /// The fetch in progress. It ends when its sender is dropped.
    fetch: Option<watch::Receiver<()>>,
    /// When the last fetch failed, if it failed.
    failed: Option<Instant>,
}

#[derive(Clone)]
struct Known {
    set: Arc<KeySet>,
    fetched: Instant,
    fresh_until: Instant,
}

impl Keys {
    pub(super) fn new(
        issuer: &str,
        url: Option<OperatorUrl>,
        client: Arc<OperatorClient>,
        runtime: Handle,
        report: Report,
    ) -> Arc<Self> {
        let (refetches, state) = (Rates::default(), Mutex::default());
        Arc::new(Self { issuer: issuer.into(), url, client, runtime, report, refetches, state })
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Fetches the keys ahead of the first request.
    pub(super) fn prefetch(self: &Arc<Self>) {
        drop(self.fetch());
    }

    /// Whether keys are available. If not, starts a fetch: while the server is not ready, no request would start one.
    pub(super) fn are_known(self: &Arc<Self>) -> bool {
        let are_known =
            self.state.lock().known.as_ref().is_some_and(|known| known.fetched.elapsed() <= MOST_STALE);
        if !are_known {
            drop(self.fetch());
        }
        are_known
    }

    /// Verifies the signature of the token. Fetches the keys if the key of the token is unknown.
    pub(super) async fn verify(self: &Arc<Self>, token: &Jws<'_>) -> Result<(), Rejected> {
        match self.verify_with_known(token) {
            Some(verdict @ (Ok(()) | Err(NotVerified::WrongSignature))) => return rejected(verdict),
            Some(Err(NotVerified::UnknownKey)) | None => {}
        }
        if let Some(mut fetch) = self.fetch() {
            // Completes when the sender is dropped, which sends nothing.
            let _ = fetch.changed().await;
        }
        let verdict = self.verify_with_known(token).ok_or(Rejected::IssuerUnreachable)?;
        // If the fetch failed, it is unknown whether the issuer has that key by now.
        if verdict == Err(NotVerified::UnknownKey) && self.state.lock().failed.is_some() {
            return Err(Rejected::IssuerUnreachable);
        }
        rejected(verdict)
    }

    /// Verifies with the cached keys. `None` if there are none.
    fn verify_with_known(self: &Arc<Self>, token: &Jws<'_>) -> Option<Result<(), NotVerified>> {
        let known = self.state.lock().known.clone()?;
        let now = Instant::now();
        if now.saturating_duration_since(known.fetched) > MOST_STALE {
            return None;
        }
        if now > known.fresh_until {
            // A refresh in the background.
            drop(self.fetch());
        }
        Some(known.set.verify(token))
    }

    /// The fetch in progress, or a new one. `None` if one has just failed, or there were too many.
    fn fetch(self: &Arc<Self>) -> Option<watch::Receiver<()>> {
        let mut state = self.state.lock();
        if let Some(fetch) = &state.fetch {
            return Some(fetch.clone());
        }
        let has_just_failed = state.failed.is_some_and(|failed| failed.elapsed() < PAUSE);
        if has_just_failed || self.refetches.allow("", Rate::per_minute(REFETCHES_PER_MINUTE)).is_err() {
            return None;
        }
        let (ending, fetch) = watch::channel(());
        state.fetch = Some(fetch.clone());
        let fetching = Fetching { keys: Arc::clone(self), is_done: false, _ending: ending };
        // Spawned on a runtime that outlives the connection of the request.
        self.runtime.spawn(async move {
            // Moves the whole value into the task, not only the captured fields.
            let mut fetching = fetching;
            let keys = Arc::clone(&fetching.keys);
            let fetched = load(&keys.client, &keys.issuer, keys.url.as_ref()).await;
            keys.take_in(fetched);
            fetching.is_done = true;
        });
        Some(fetch)
    }

    fn take_in(&self, fetched: Result<Known, KeysError>) {
        let problem = {
            let mut state = self.state.lock();
            state.fetch = None;
            match fetched {
                Ok(known) => {
                    state.known = Some(known);
                    state.failed = None;
                    None
                }
                Err(error) => {
                    let is_new = state.failed.replace(Instant::now()).is_none();
                    let has_keys = state.known.is_some();
                    is_new.then_some((error, has_keys))
                }
            }
        };
        if let Some((error, has_keys)) = problem {
            let meanwhile =
                if has_keys { "the previous ones stay in use" } else { "its tokens are not accepted" };
            (self.report)(format!(
                "the keys of the issuer `{}` cannot be fetched, {meanwhile}: {error}",
                self.issuer
            ));
        }
    }
}

/// A fetch in progress. If its task panics, that counts as a failed fetch.
struct Fetching {
    keys: Arc<Keys>,
    is_done: bool,
    /// Requests wait until this is dropped.
    _ending: watch::Sender<()>,
}

impl Drop for Fetching {
    fn drop(&mut self) {
        if !self.is_done {
            let mut state = self.keys.state.lock();
            state.fetch = None;
            state.failed = Some(Instant::now());
        }
    }
}

/// Fetches the keys of an issuer, from `url` or the URL in its metadata.
async fn load(client: &OperatorClient, issuer: &str, url: Option<&OperatorUrl>) -> Result<Known, KeysError> {
    let url = match url {
        Some(url) => url.clone(),
        None => key_set_url(client, issuer).await?,
    };
    let answer = client.get(&url).await?;
    let set =
        KeySet::parse(&answer.bytes).map_err(|error| KeysError::KeySet { url: url.to_string(), error })?;
    let fresh = answer.max_age.unwrap_or(USUALLY_FRESH).clamp(*FRESH.start(), *FRESH.end());
    let fetched = Instant::now();
    Ok(Known { set: Arc::new(set), fetched, fresh_until: fetched + fresh })
}

/// Checks that the keys of an issuer can be fetched.
pub(super) async fn check(
    client: &OperatorClient,
    issuer: &str,
    url: Option<&OperatorUrl>,
) -> Result<(), KeysError> {
    load(client, issuer, url).await.map(drop)
}

fn rejected(verdict: Result<(), NotVerified>) -> Result<(), Rejected> {
    verdict.map_err(|error| match error {
        NotVerified::UnknownKey => TokenError::UnknownKey.into(),
        NotVerified::WrongSignature => TokenError::Signature.into(),
    })
}

/// The URL of the keys, from the metadata of the issuer.
async fn key_set_url(client: &OperatorClient, issuer: &str) -> Result<OperatorUrl, KeysError> {
    let mut failure = None;
    for url in metadata_urls(issuer) {
        let place = OperatorUrl::parse(&url).map_err(|error| FetchError::Url { url: url.clone(), error })?;
        let metadata = match client.get(&place).await {
            Ok(answer) => IssuerMetadata::parse(&answer.bytes, issuer),
            // Another metadata URL may work. If the server does not answer, none will.
            Err(error @ (FetchError::Status { .. } | FetchError::Redirect { .. })) => {
                failure.get_or_insert(error.into());
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let keys = metadata.and_then(|found| found.key_set_url.ok_or(MetadataError::Missing("jwks_uri")));
        match keys {
            Ok(keys) => {
                return OperatorUrl::parse(&keys).map_err(|error| KeysError::KeySetUrl { url, keys, error });
            }
            Err(error) => failure = Some(KeysError::Metadata { url, error }),
        }
    }
    Err(failure.unwrap_or(KeysError::Metadata { url: issuer.to_owned(), error: MetadataError::NoIssuer }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    #[test]
    fn a_fetch_that_panics_does_not_keep_the_issuer_from_being_asked_again() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let client = Arc::new(OperatorClient::new(Duration::from_secs(1), 1024));
        let handle = runtime.handle().clone();
        let keys = Keys::new("http://127.0.0.1:1", None, client, handle, Box::new(drop));
        let (ending, fetch) = watch::channel(());
        keys.state.lock().fetch = Some(fetch.clone());
        let fetching = Fetching { keys: Arc::clone(&keys), is_done: false, _ending: ending };
        let task = runtime.spawn(async move {
            let _fetching = fetching;
            panic!("as a fetch may");
        });
        assert!(runtime.block_on(task).is_err());
        assert!(fetch.has_changed().is_err(), "nobody waits for it any more");
        let state = keys.state.lock();
        assert!(state.fetch.is_none() && state.failed.is_some());
    }
}
