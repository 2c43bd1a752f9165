//! About a package: what its author says in `mcpb.conf`, otherwise in `server.d/server.meta.json`.

use crate::conf::Conf;
use crate::error::PackagingError;
use serde_json::{Map, Value};

/// Everything that the author says. Texts are as written; `manifest/rules.rs` judges them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    pub name: Option<String>,
    pub version: Option<String>,
    pub description: Option<String>,
    pub author: Person,
    /// The URL of the repository.
    pub repository: Option<String>,
    pub license: Option<String>,
    pub keywords: Vec<String>,
    pub homepage: Option<String>,
    pub documentation: Option<String>,
    pub support: Option<String>,
    pub privacy_policies: Vec<String>,
    pub claude_desktop: Option<String>,
    pub python: Option<String>,
    pub node: Option<String>,
    pub long_description: Option<String>,
    /// A file of the project with the long description.
    pub long_description_file: Option<String>,
    pub user_config: Map<String, Value>,
    /// A file of the project with the same.
    pub user_config_file: Option<String>,
    /// Keys of `user_config`, and the variable that each is given in.
    pub variables: Vec<(String, String)>,
    /// Files and folders of the project besides those that are served.
    pub include: Vec<String>,
    pub screenshots: Vec<String>,
    pub localization: Option<Value>,
    /// Variables for one platform only, by its name.
    pub platform_variables: Vec<(String, String, String)>,
    /// Remarks about what has no effect.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    pub name: Option<String>,
    pub email: Option<String>,
    pub url: Option<String>,
}

impl About {
    /// `meta` is the object in `server.d/server.meta.json`.
    pub fn read(conf: &Conf, meta: &Map<String, Value>) -> Result<Self, PackagingError> {
        let meta = Meta(meta);
        let text = |key: &str, member: &'static str| -> Result<Option<String>, PackagingError> {
            conf.get(key).map_or_else(|| meta.text(member), |text| Ok(Some(text.to_owned())))
        };
        let list = |key: &str, member: &'static str| -> Result<Vec<String>, PackagingError> {
            let words = conf.words(key);
            if words.is_empty() { meta.list(member) } else { Ok(words) }
        };
        let mut about = Self {
            name: text("MCPB_NAME", "name")?,
            version: text("MCPB_VERSION", "version")?,
            description: text("MCPB_DESCRIPTION", "description")?,
            author: author(conf, meta)?,
            repository: match conf.get("MCPB_REPOSITORY") {
                Some(url) => Some(url.to_owned()),
                None => meta.text_or_member("repository", "url")?,
            },
            license: text("MCPB_LICENSE", "license")?,
            keywords: list("MCPB_KEYWORDS", "keywords")?,
            homepage: text("MCPB_HOMEPAGE", "homepage")?,
            documentation: text("MCPB_DOCUMENTATION", "documentation")?,
            support: text("MCPB_SUPPORT", "support")?,
            privacy_policies: list("MCPB_PRIVACY_POLICIES", "privacy_policies")?,
            long_description: meta.text("long_description")?,
            long_description_file: text("MCPB_LONG_DESCRIPTION_FILE", "long_description_file")?,
            user_config: meta.object("user_config")?,
            user_config_file: conf.get("MCPB_USER_CONFIG_FILE").map(str::to_owned),
            variables: variables(conf, meta)?,
            include: conf.words("MCPB_INCLUDE"),
            screenshots: meta.list("screenshots")?,
            localization: meta.0.get("localization").cloned(),
            ..Self::default()
        };
        about.compatibility(conf, meta)?;
        about.platforms(meta)?;
        about.note_what_has_no_effect(conf, meta);
        Ok(about)
    }

    fn compatibility(&mut self, conf: &Conf, meta: Meta<'_>) -> Result<(), PackagingError> {
        let given = meta.object("compatibility")?;
        let runtimes = given.get("runtimes").and_then(Value::as_object).cloned().unwrap_or_default();
        let one = |key: &str, members: &Map<String, Value>, member: &str| {
            let written = members.get(member).and_then(Value::as_str);
            conf.get(key).or(written).map(str::to_owned)
        };
        self.claude_desktop = one("MCPB_COMPAT_CLAUDE_DESKTOP", &given, "claude_desktop");
        self.python = one("MCPB_RUNTIME_PYTHON", &runtimes, "python");
        self.node = one("MCPB_RUNTIME_NODE", &runtimes, "node");
        Ok(())
    }

    /// `platform_overrides`, of which only variables count.
    fn platforms(&mut self, meta: Meta<'_>) -> Result<(), PackagingError> {
        for (platform, given) in meta.object("platform_overrides")? {
            let Some(given) = given.as_object() else {
                let problem = format!("`{platform}` must be an object");
                return Err(PackagingError::Meta { key: "platform_overrides", problem });
            };
            for (name, value) in given.get("env").and_then(Value::as_object).into_iter().flatten() {
                let Some(value) = value.as_str() else {
                    let problem = format!("the variable `{name}` of {platform} must be a text");
                    return Err(PackagingError::Meta { key: "platform_overrides", problem });
                };
                self.platform_variables.push((platform.clone(), name.clone(), value.to_owned()));
            }
            if given.contains_key("command") || given.contains_key("args") {
                self.notes.push(format!(
                    "`platform_overrides.{platform}` has a command or arguments, which do not count: a bundle starts mcp-bash"
                ));
            }
        }
        Ok(())
    }

    fn note_what_has_no_effect(&mut self, conf: &Conf, meta: Meta<'_>) {
        if conf.get("MCPB_USER_CONFIG_ARGS_MAP").is_some() || meta.0.contains_key("user_config_args_map") {
            self.notes.push(
                "arguments from user_config do not count, since no script sees the arguments of the server; use \
                 MCPB_USER_CONFIG_ENV_MAP or `user_config_env_map`"
                    .to_owned(),
            );
        }
        if meta.0.contains_key("server") {
            self.notes.push(
                "`server` in server.d/server.meta.json does not count: a bundle starts mcp-bash".to_owned(),
            );
        }
        if conf.get("MCPB_STATIC").is_some() {
            self.notes
                .push("MCPB_STATIC does not count: a bundle contains no registry, and needs none".to_owned());
        }
    }
}

fn author(conf: &Conf, meta: Meta<'_>) -> Result<Person, PackagingError> {
    let from_conf = |key: &str| conf.get(key).map(str::to_owned);
    let written = match meta.0.get("author") {
        Some(Value::Object(members)) => {
            let member = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);
            Person { name: member("name"), email: member("email"), url: member("url") }
        }
        _ => Person { name: meta.text("author")?, ..Person::default() },
    };
    Ok(Person {
        name: from_conf("MCPB_AUTHOR_NAME").or(written.name).filter(|name| !name.trim().is_empty()),
        email: from_conf("MCPB_AUTHOR_EMAIL").or(written.email),
        url: from_conf("MCPB_AUTHOR_URL").or(written.url),
    })
}

fn variables(conf: &Conf, meta: Meta<'_>) -> Result<Vec<(String, String)>, PackagingError> {
    let pairs = conf.words("MCPB_USER_CONFIG_ENV_MAP");
    if pairs.is_empty() {
        let written = meta.object("user_config_env_map")?;
        let pair = |(key, variable): (String, Value)| {
            if let Some(variable) = variable.as_str() {
                return Ok((key, variable.to_owned()));
            }
            let problem = format!("`{key}` must be the name of a variable");
            Err(PackagingError::Meta { key: "user_config_env_map", problem })
        };
        return written.into_iter().map(pair).collect();
    }
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, variable)) if !key.is_empty() && !variable.is_empty() => {
            Ok((key.to_owned(), variable.to_owned()))
        }
        _ => Err(conf.wrong("MCPB_USER_CONFIG_ENV_MAP", format!("`{pair}` is not KEY=VARIABLE"))),
    };
    pairs.iter().map(pair).collect()
}

/// A name from words that may have any characters: `My Server` is `my-server`.
pub fn from_words(words: &str) -> String {
    let plain = |sign: char| if sign.is_ascii_alphanumeric() || "._-".contains(sign) { sign } else { '-' };
    let name: String = words.trim().chars().map(plain).take(64).collect();
    name.trim_matches(['-', '.']).to_lowercase()
}

/// Members of the metadata, with errors that name them.
#[derive(Clone, Copy)]
struct Meta<'m>(&'m Map<String, Value>);

impl Meta<'_> {
    fn text(self, key: &'static str) -> Result<Option<String>, PackagingError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(PackagingError::Meta { key, problem: "it must be a text".to_owned() }),
        }
    }

    fn text_or_member(self, key: &'static str, member: &str) -> Result<Option<String>, PackagingError> {
        match self.0.get(key) {
            Some(Value::Object(members)) => {
                Ok(members.get(member).and_then(Value::as_str).map(str::to_owned))
            }
            _ => self.text(key),
        }
    }

    fn list(self, key: &'static str) -> Result<Vec<String>, PackagingError> {
        let wrong = || PackagingError::Meta { key, problem: "it must be a list of texts".to_owned() };
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    fn object(self, key: &'static str) -> Result<Map<String, Value>, PackagingError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(PackagingError::Meta { key, problem: "it must be an object".to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(conf: &str, meta: &Value) -> Result<About, PackagingError> {
        About::read(&Conf::parse(conf).unwrap(), meta.as_object().unwrap())
    }

    #[test]
    fn the_conf_comes_before_the_metadata() {
        let meta = json!({
            "name": "a", "author": {"name": "Ann", "email": "ann@example.com"}, "repository": {"type": "git", "url": "https://x"},
            "keywords": ["k"], "user_config_env_map": {"key": "KEY"}, "compatibility": {"runtimes": {"python": ">=3.9"}},
            "platform_overrides": {"darwin": {"env": {"X": "1"}}},
        });
        let about = read("MCPB_NAME=b\nMCPB_AUTHOR_NAME='Bob B'\nMCPB_RUNTIME_NODE='>=20'", &meta).unwrap();
        assert_eq!((about.name.as_deref(), about.author.name.as_deref()), (Some("b"), Some("Bob B")));
        assert_eq!(about.author.email.as_deref(), Some("ann@example.com"));
        assert_eq!((about.python.as_deref(), about.node.as_deref()), (Some(">=3.9"), Some(">=20")));
        assert_eq!(
            (about.repository.as_deref(), &about.keywords[..]),
            (Some("https://x"), &["k".to_owned()][..])
        );
        assert_eq!(about.variables, [("key".to_owned(), "KEY".to_owned())]);
        assert_eq!(about.platform_variables, [("darwin".into(), "X".into(), "1".into())]);
        assert_eq!(read("", &json!({"author": "Ann"})).unwrap().author.name.as_deref(), Some("Ann"));
    }

    #[test]
    fn values_that_cannot_be_used_are_named() {
        for (conf, meta, said) in [
            ("", json!({"license": 1}), "`license` is not usable: it must be a text"),
            ("", json!({"keywords": [1]}), "list of texts"),
            ("", json!({"user_config": []}), "`user_config`"),
            ("", json!({"user_config_env_map": {"a": 1}}), "name of a variable"),
            ("", json!({"platform_overrides": {"linux": {"env": {"A": 1}}}}), "`A` of linux"),
            (
                "\nMCPB_USER_CONFIG_ENV_MAP=key",
                json!({}),
                "mcpb.conf:2: MCPB_USER_CONFIG_ENV_MAP is not usable: `key`",
            ),
        ] {
            let error = read(conf, &meta).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let notes =
            read("MCPB_STATIC=true\nMCPB_USER_CONFIG_ARGS_MAP=dirs", &json!({"server": {}})).unwrap().notes;
        assert_eq!(notes.len(), 3, "{notes:?}");
    }

    #[test]
    fn names_are_made_of_words() {
        assert_eq!(from_words(" My Server! 2 "), "my-server--2");
        assert_eq!(from_words("io.x_y-z"), "io.x_y-z");
    }
}
