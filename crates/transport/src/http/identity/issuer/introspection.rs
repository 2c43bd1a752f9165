//! Token introspection (RFC 7662): asks the issuer about opaque tokens. Positive answers are cached for a short time. Negative
//! ones are not: anyone can invent tokens.

use super::Rejected;
use super::error::{IssuerError, named};
use super::shared_questions::SharedQuestions;
use crate::http::limits::identity_options::IntrospectionOptions;
use crate::http::secrets::guarded_file::{Report, read_secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_fetch::{OperatorClient, OperatorUrl};
use mcp_bash_oauth::{Expected, Grant, TokenError, introspection};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long a positive answer is cached, and so how long a revoked token is accepted at most.
const KEPT: Duration = Duration::from_secs(30);

/// How many answers are cached.
const MOST_KEPT: usize = 4096;

/// How many introspection requests are open at once. Further ones fail, and the client may try again.
const MOST_ASKED: usize = 32;

pub(super) struct Introspection {
    url: OperatorUrl,
    client_id: String,
    client_secret: PathBuf,
    client: Arc<OperatorClient>,
    places: Semaphore,
    /// Open introspection requests, by the hash of the token.
    questions: SharedQuestions,
    /// The cache, by the hash of the token: tokens are not stored.
    kept: Mutex<HashMap<[u8; 32], Kept>>,
    report: Report,
    is_failing: AtomicBool,
}

struct Kept {
    grant: Grant,
    until: Instant,
}

impl Introspection {
    pub(super) fn open(
        options: &IntrospectionOptions,
        client: Arc<OperatorClient>,
        report: Report,
    ) -> Result<Self, IssuerError> {
        let url = named("MCPBASH_HTTP_INTROSPECTION_URL", &options.url)?;
        read_secret(&options.client_secret)?;
        Ok(Self {
            url,
            client_id: options.client_id.clone(),
            client_secret: options.client_secret.clone(),
            client,
            places: Semaphore::new(MOST_ASKED),
            questions: SharedQuestions::default(),
            kept: Mutex::default(),
            report,
            is_failing: AtomicBool::new(false),
        })
    }

    /// What the token grants, from the cache or the issuer.
    pub(super) async fn ask(&self, token: &[u8], expected: &Expected<'_>) -> Result<Grant, Rejected> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        if let Some(grant) = self.kept(&hash, expected.now) {
            return Ok(grant);
        }
        let token = std::str::from_utf8(token).map_err(|_| TokenError::NotActive)?;
        // Boxed to keep the futures of other requests small.
        let asked = Box::pin(async {
            let _place = self.places.try_acquire().ok()?;
            self.post(introspection::question(token)).await.map(Arc::<[u8]>::from)
        });
        let answer = self.questions.answer(hash, asked).await.ok_or(Rejected::IssuerUnreachable)?;
        let grant = introspection::read(&answer, expected)?;
        self.keep(hash, grant.clone(), expected.now);
        Ok(grant)
    }

    async fn post(&self, question: String) -> Option<Vec<u8>> {
        let failure = match read_secret(&self.client_secret) {
            Err(error) => error.to_string(),
            Ok(secret) => {
                let authorization = basic(&self.client_id, secret.trim_ascii());
                match self.client.post_form(&self.url, &authorization, question).await {
                    Ok(answer) => {
                        self.is_failing.store(false, Ordering::Relaxed);
                        return Some(answer.bytes);
                    }
                    Err(error) => error.to_string(),
                }
            }
        };
        if !self.is_failing.swap(true, Ordering::Relaxed) {
            (self.report)(format!("tokens cannot be checked with `{}`: {failure}", self.url));
        }
        None
    }

    fn kept(&self, hash: &[u8; 32], now: u64) -> Option<Grant> {
        let mut kept = self.kept.lock();
        let found = kept.get(hash)?;
        let is_valid =
            found.until > Instant::now() && found.grant.expires.is_none_or(|expires| expires > now);
        if !is_valid {
            kept.remove(hash);
            return None;
        }
        Some(found.grant.clone())
    }

    fn keep(&self, hash: [u8; 32], grant: Grant, now: u64) {
        let left = grant.expires.map_or(KEPT, |expires| Duration::from_secs(expires.saturating_sub(now)));
        let until = Instant::now() + left.min(KEPT);
        let mut kept = self.kept.lock();
        if kept.len() >= MOST_KEPT {
            let now = Instant::now();
            kept.retain(|_, kept| kept.until > now);
        }
        if kept.len() < MOST_KEPT {
            kept.insert(hash, Kept { grant, until });
        }
    }
}

/// HTTP Basic credentials, each part form-encoded (RFC 6749).
fn basic(id: &str, secret: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(id.as_bytes()), encoded(secret))))
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use tokio::time::advance;

    const HASH: [u8; 32] = [7; 32];

    /// One that has asked nobody yet.
    fn unasked() -> Introspection {
        let folder = tempfile::tempdir().unwrap();
        let client_secret = folder.path().join("secret");
        fs::write(&client_secret, "s3cret").unwrap();
        fs::set_permissions(&client_secret, Permissions::from_mode(0o600)).unwrap();
        let url = "http://127.0.0.1:1/introspect".to_owned();
        let options = IntrospectionOptions { url, client_id: "mcp".to_owned(), client_secret };
        let client = Arc::new(OperatorClient::new(Duration::from_secs(1), 1024));
        Introspection::open(&options, client, Box::new(|words| panic!("{words}"))).unwrap()
    }

    fn grant(expires: Option<u64>) -> Grant {
        Grant { claims: serde_json::Map::new(), scopes: Vec::new(), expires }
    }

    // The clock stands still unless it is advanced.
    #[tokio::test(start_paused = true)]
    async fn a_good_answer_is_kept_for_thirty_seconds() {
        let introspection = unasked();
        for expires in [None, Some(5_000)] {
            introspection.keep(HASH, grant(expires), 1_000);
            advance(KEPT.saturating_sub(Duration::from_millis(1))).await;
            assert_eq!(introspection.kept(&HASH, 1_029), Some(grant(expires)));
            advance(Duration::from_millis(1)).await;
            assert_eq!(introspection.kept(&HASH, 1_030), None, "the issuer may have revoked it");
        }
        assert_eq!(KEPT, Duration::from_secs(30), "the page says so");
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_is_kept_beyond_the_end_of_its_token() {
        let introspection = unasked();
        introspection.keep(HASH, grant(Some(1_010)), 1_000);
        advance(Duration::from_secs(9)).await;
        assert_eq!(introspection.kept(&HASH, 1_010), None, "by the clock of tokens");
        introspection.keep(HASH, grant(Some(1_010)), 1_000);
        advance(Duration::from_secs(10)).await;
        assert_eq!(introspection.kept(&HASH, 1_000), None, "by the clock of the machine");
    }

    #[test]
    fn credentials_are_encoded_before_they_are_joined() {
        assert_eq!(encoded(b"a:b /\xff~"), "a%3Ab%20%2F%FF~");
        assert_eq!(basic("id", b"s:t"), format!("Basic {}", STANDARD.encode("id:s%3At")));
    }
}
