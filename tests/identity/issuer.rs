//! A small issuer on this machine: metadata, keys and introspection, and faults on request.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) const RESOURCE: &str = "https://mcp.example.com/mcp";

/// How the issuer behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Answers,
    /// It accepts connections and says nothing.
    Hangs,
    /// It closes connections.
    Gone,
    /// Its keys are too long a document.
    Floods,
}

pub(super) struct Issuer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    mood: Mood,
    keys: Vec<Value>,
    /// What it answers about opaque tokens.
    opaque: Vec<(String, Value)>,
    requests: Vec<String>,
    /// Connections that are not answered.
    held: Vec<TcpStream>,
}

impl Issuer {
    pub(super) fn start(keys: &[&Signer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let keys = keys.iter().map(|key| key.public()).collect();
        let state =
            State { mood: Mood::Answers, keys, opaque: Vec::new(), requests: Vec::new(), held: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, address, &shared));
            }
        });
        Self { address, state }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn set_mood(&self, mood: Mood) {
        self.state().mood = mood;
    }

    pub(super) fn set_keys(&self, keys: &[&Signer]) {
        self.state().keys = keys.iter().map(|key| key.public()).collect();
    }

    pub(super) fn set_opaque(&self, token: &str, answer: Value) {
        let mut state = self.state();
        state.opaque.retain(|(known, _)| known != token);
        state.opaque.push((token.to_owned(), answer));
    }

    /// How often that path was asked for.
    pub(super) fn requests(&self, path: &str) -> usize {
        self.state().requests.iter().filter(|asked| *asked == path).count()
    }

    /// Whether a question that hangs is still waited for.
    pub(super) fn is_waited_for(&self) -> bool {
        let is_open = |held: &TcpStream| {
            held.set_nonblocking(true).unwrap();
            held.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        };
        self.state().held.iter().any(is_open)
    }

    /// The claims of a good token.
    pub(super) fn claims(&self) -> Value {
        let now = now();
        json!({
            "iss": self.url(), "aud": RESOURCE, "sub": "alice", "iat": now, "exp": now + 300,
            "scope": "files:read", "groups": ["dev", "ops"], "email": "alice@example.com",
        })
    }

    /// The claims with one of them changed.
    pub(super) fn claims_with(&self, name: &str, value: impl Into<Value>) -> Value {
        let mut claims = self.claims();
        claims[name] = value.into();
        claims
    }
}

fn serve(mut stream: TcpStream, address: SocketAddr, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut length, mut authorization) = (String::new(), 0, String::new());
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => value.trim().clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let mut state = state.lock().unwrap();
    state.requests.push(path.clone());
    match state.mood {
        Mood::Hangs => return state.held.push(stream),
        Mood::Gone => return,
        Mood::Answers | Mood::Floods => {}
    }
    let issuer = format!("http://{address}");
    let answer = match path.as_str() {
        "/.well-known/openid-configuration" => {
            Some(json!({ "issuer": issuer, "jwks_uri": format!("{issuer}/keys") }).to_string())
        }
        "/keys" if state.mood == Mood::Floods => Some(" ".repeat(2 * 1024 * 1024)),
        "/keys" => Some(json!({ "keys": state.keys }).to_string()),
        // The credentials are `mcp` and `s3cret/`, each encoded as in a form.
        "/introspect" if authorization == "Basic bWNwOnMzY3JldCUyRg==" => {
            let form = String::from_utf8(body).unwrap();
            let token =
                form.strip_prefix("token=").and_then(|rest| rest.split('&').next()).unwrap_or_default();
            let known = state.opaque.iter().find(|(known, _)| known == token);
            Some(known.map_or_else(|| json!({ "active": false }), |(_, answer)| answer.clone()).to_string())
        }
        _ => None,
    };
    let (status, text) = answer.map_or(("404 Not Found", String::new()), |text| ("200 OK", text));
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
}

/// A key of an issuer.
pub(super) struct Signer {
    id: &'static str,
    key: EcdsaKeyPair,
}

impl Signer {
    pub(super) fn new(id: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self { id, key: EcdsaKeyPair::from_pkcs8(algorithm, made.as_ref(), &random).unwrap() }
    }

    fn public(&self) -> Value {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        json!({ "kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig", "x": encoded(x), "y": encoded(y) })
    }

    /// The public key, as one who takes it for a shared secret would.
    pub(super) fn public_bytes(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    pub(super) fn token(&self, claims: &Value) -> String {
        self.token_with(&json!({ "alg": "ES256", "kid": self.id, "typ": "at+jwt" }), claims)
    }

    pub(super) fn token_with(&self, header: &Value, claims: &Value) -> String {
        let signed = unsigned(header, claims);
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", encoded(signature))
    }
}

/// Header and claims, without a signature.
pub(super) fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()))
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
