//! Remote servers: a client connects to their address instead of starting them. Also the forms in which clients want
//! that.

use serde_json::{Value, json};

/// One server that is already running somewhere.
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
    /// For clients that take no reference to a variable.
    pub value: String,
}

/// How a client's entry gives the address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteShape {
    /// `url`.
    Url,
    /// `url`, always with `headers`.
    UrlAndHeaders,
    /// `type` and `url`.
    Typed(&'static str),
    /// `serverUrl`.
    ServerUrl,
    /// `httpUrl`.
    HttpUrl,
    OpenCode,
    Goose,
    /// A list item that includes its name.
    Named,
    /// The same with `transport` in place of `type`.
    Vibe,
}

/// How an entry refers to the variable that holds a token, so that the token itself is not in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// `${NAME}`
    Braces,
    /// `$NAME`
    Dollar,
    /// `${env:NAME}`
    Env,
    /// `{env:NAME}`
    Tag,
    /// `${{ secrets.NAME }}`
    Secret,
    /// `${NAME}`, and the name in a list under this key.
    Listed(&'static str),
    /// The name alone, under this key; the client makes the header.
    Key(&'static str),
}

impl Reference {
    /// Whether it is a text in place of the value.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Self::Listed(_) | Self::Key(_))
    }

    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Braces | Self::Listed(_) => format!("${{{name}}}"),
            Self::Dollar => format!("${name}"),
            Self::Env => format!("${{env:{name}}}"),
            Self::Tag => format!("{{env:{name}}}"),
            Self::Secret => format!("${{{{ secrets.{name} }}}}"),
            Self::Key(_) => name.to_owned(),
        }
    }
}

impl RemoteShape {
    pub(crate) fn value(self, remote: &Remote, reference: Option<Reference>) -> Value {
        let mut value = match self {
            Self::Url | Self::UrlAndHeaders => json!({ "url": remote.url }),
            Self::Typed(kind) => json!({ "type": kind, "url": remote.url }),
            Self::ServerUrl => json!({ "serverUrl": remote.url }),
            Self::HttpUrl => json!({ "httpUrl": remote.url }),
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
            Self::Vibe => json!({ "name": remote.name, "transport": "streamable-http", "url": remote.url }),
        };
        let Some(token) = &remote.token else {
            if self == Self::UrlAndHeaders {
                value["headers"] = json!({});
            }
            return value;
        };
        if let Some(Reference::Key(key)) = reference {
            value[key] = json!(token.variable);
            return value;
        }
        let text = reference.map_or(token.value.clone(), |reference| reference.of(&token.variable));
        let headers = json!({ "Authorization": format!("Bearer {text}") });
        match self {
            Self::Named => value["requestOptions"] = json!({ "headers": headers }),
            _ => value["headers"] = headers,
        }
        if let Some(Reference::Listed(key)) = reference {
            value[key] = json!([token.variable]);
        }
        value
    }
}
