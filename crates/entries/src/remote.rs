//! A server that a client does not start but is told the address of, and the forms in which clients want that.

use serde_json::{Value, json};

/// One server that is somewhere already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    pub url: String,
    pub token: Option<Token>,
}

/// A token, and the variable that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub variable: String,
    /// For clients that put no variables into their entries.
    pub value: String,
}

/// How a client is told the address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteShape {
    /// `url`.
    Url,
    /// The same with `headers` in any case.
    UrlAndHeaders,
    /// `type` and `url`.
    Typed(&'static str),
    /// `serverUrl`.
    ServerUrl,
    /// `url`, and the name of the variable that holds the token.
    Codex,
    OpenCode,
    Goose,
    /// An item of a list, with its name in it.
    Named,
}

/// How a client writes a variable whose value it puts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expansion {
    /// It puts in none.
    None,
    /// `${NAME}`
    Braces,
    /// `$NAME`
    Dollar,
}

impl Expansion {
    /// Whether a client that writes variables so would put one into a text.
    pub(crate) fn replaces(self, text: &str) -> bool {
        let begins_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{');
        match self {
            Self::None => false,
            Self::Braces => text.contains("${"),
            Self::Dollar => text.split('$').skip(1).any(|rest| rest.starts_with(begins_name)),
        }
    }

    /// How a variable is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Braces => "`${NAME}`",
            Self::Dollar => "`$NAME` and `${NAME}`",
        }
    }

    fn of(self, token: &Token) -> String {
        match self {
            Self::None => token.value.clone(),
            Self::Braces => format!("${{{}}}", token.variable),
            Self::Dollar => format!("${}", token.variable),
        }
    }
}

impl RemoteShape {
    pub(crate) fn value(self, remote: &Remote, expansion: Expansion) -> Value {
        let mut value = match self {
            Self::Url | Self::UrlAndHeaders | Self::Codex => json!({ "url": remote.url }),
            Self::Typed(kind) => json!({ "type": kind, "url": remote.url }),
            Self::ServerUrl => json!({ "serverUrl": remote.url }),
            Self::OpenCode => json!({ "type": "remote", "url": remote.url, "enabled": true }),
            Self::Goose => json!({
                "name": remote.name,
                "description": "",
                "type": "streamable_http",
                "uri": remote.url,
                "timeout": 300,
                "enabled": true,
            }),
            Self::Named => json!({ "name": remote.name, "type": "streamable-http", "url": remote.url }),
        };
        let headers = remote
            .token
            .as_ref()
            .map(|token| json!({ "Authorization": format!("Bearer {}", expansion.of(token)) }));
        match (self, &remote.token, headers) {
            (Self::Codex, Some(token), _) => value["bearer_token_env_var"] = json!(token.variable),
            (Self::Named, _, Some(headers)) => value["requestOptions"] = json!({ "headers": headers }),
            (_, _, Some(headers)) => value["headers"] = headers,
            (Self::UrlAndHeaders, None, None) => value["headers"] = json!({}),
            (_, _, None) => {}
        }
        value
    }
}
