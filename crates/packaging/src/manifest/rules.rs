//! Rules of a manifest: those of the schema of MCPB 0.3, and those that clients enforce without saying so.

use crate::version::Version;
use serde_json::{Map, Value};

/// The shape of a member.
enum Shape {
    Text,
    Url,
    Email,
    Truth,
    Number,
    Texts,
    Urls,
    /// A text that is one of these.
    OneOf(&'static [&'static str]),
    /// Texts that are each one of these.
    SomeOf(&'static [&'static str]),
    /// An object with these members, the first of which are required.
    Members(usize, &'static [(&'static str, Shape)]),
    /// Objects of that shape by any key.
    ByKey(&'static Shape),
    List(&'static Shape),
    Anything,
}

use Shape::{Anything, ByKey, Email, List, Members, Number, OneOf, SomeOf, Text, Texts, Truth, Url, Urls};

const MANIFEST: Shape = Members(
    6,
    &[
        ("manifest_version", OneOf(&["0.3"])),
        ("name", Text),
        ("version", Text),
        ("description", Text),
        ("author", Members(1, &[("name", Text), ("email", Email), ("url", Url)])),
        ("server", SERVER),
        ("$schema", Text),
        ("display_name", Text),
        ("long_description", Text),
        ("repository", Members(2, &[("type", Text), ("url", Url)])),
        ("homepage", Url),
        ("documentation", Url),
        ("support", Url),
        ("icon", Text),
        ("icons", List(&Members(2, &[("src", Text), ("size", Text), ("theme", Text)]))),
        ("screenshots", Texts),
        ("localization", Members(2, &[("resources", Text), ("default_locale", Text)])),
        ("tools", List(&Members(1, &[("name", Text), ("description", Text)]))),
        ("tools_generated", Truth),
        (
            "prompts",
            List(&Members(2, &[("name", Text), ("text", Text), ("description", Text), ("arguments", Texts)])),
        ),
        ("prompts_generated", Truth),
        ("keywords", Texts),
        ("license", Text),
        ("privacy_policies", Urls),
        (
            "compatibility",
            Members(
                0,
                &[
                    ("claude_desktop", Text),
                    ("platforms", SomeOf(&["darwin", "win32", "linux"])),
                    ("runtimes", Members(0, &[("python", Text), ("node", Text)])),
                ],
            ),
        ),
        ("user_config", ByKey(&INPUT)),
        ("_meta", ByKey(&ByKey(&Anything))),
    ],
);

const SERVER: Shape = Members(
    3,
    &[
        ("type", OneOf(&["python", "node", "binary"])),
        ("entry_point", Text),
        (
            "mcp_config",
            Members(
                1,
                &[
                    ("command", Text),
                    ("args", Texts),
                    ("env", ByKey(&Text)),
                    ("platform_overrides", ByKey(&OVERRIDE)),
                ],
            ),
        ),
    ],
);

const OVERRIDE: Shape = Members(0, &[("command", Text), ("args", Texts), ("env", ByKey(&Text))]);

const INPUT: Shape = Members(
    3,
    &[
        ("type", OneOf(&["string", "number", "boolean", "directory", "file"])),
        ("title", Text),
        ("description", Text),
        ("required", Truth),
        ("default", Anything),
        ("multiple", Truth),
        ("sensitive", Truth),
        ("min", Number),
        ("max", Number),
    ],
);

/// Everything that is wrong with a manifest, each with its place. Empty if it can be used.
pub fn problems(manifest: &Value) -> Vec<String> {
    let mut found = Vec::new();
    MANIFEST.check("manifest.json", manifest, &mut found);
    if let Some(version) = manifest["version"].as_str()
        && Version::parse(version).is_none()
    {
        found.push(format!("manifest.json: `version` is `{version}`, which is no semantic version"));
    }
    for (place, text) in [("name", &manifest["name"]), ("description", &manifest["description"])] {
        if text.as_str().is_some_and(|text| text.trim().is_empty()) {
            found.push(format!("manifest.json: `{place}` is empty"));
        }
    }
    check_references(manifest, &mut found);
    found
}

/// Each `${user_config.KEY}` names an entry.
fn check_references(manifest: &Value, found: &mut Vec<String>) {
    let configuration = &manifest["server"]["mcp_config"];
    let variables = configuration["env"].as_object().into_iter().flat_map(Map::values);
    let arguments = configuration["args"].as_array().into_iter().flatten();
    for text in variables.chain(arguments).filter_map(Value::as_str) {
        for rest in text.split("${user_config.").skip(1) {
            let key = rest.split('}').next().unwrap_or_default();
            if manifest["user_config"].get(key).is_none() {
                found.push(format!(
                    "manifest.json: `{text}` names `{key}`, which is not defined in `user_config`"
                ));
            }
        }
    }
}

impl Shape {
    fn check(&self, place: &str, value: &Value, found: &mut Vec<String>) {
        let mut expect = |is_right: bool, what: &str| {
            if !is_right {
                found.push(format!("{place}: expected {what}"));
            }
        };
        let is_texts = |value: &Value, is_right: &dyn Fn(&str) -> bool| {
            value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some_and(is_right)))
        };
        match self {
            Text => expect(value.is_string(), "a text"),
            Url => expect(value.as_str().is_some_and(is_url), "a URL that begins with https:// or http://"),
            Email => expect(value.as_str().is_some_and(is_email), "an e-mail address"),
            Truth => expect(value.is_boolean(), "true or false"),
            Number => expect(value.is_number(), "a number"),
            Texts => expect(is_texts(value, &|_| true), "a list of texts"),
            Urls => expect(is_texts(value, &is_url), "a list of URLs"),
            OneOf(names) => {
                let is_right = value.as_str().is_some_and(|text| names.contains(&text));
                expect(is_right, &format!("one of {}", names.join(", ")));
            }
            SomeOf(names) => {
                expect(
                    is_texts(value, &|text| names.contains(&text)),
                    &format!("some of {}", names.join(", ")),
                );
            }
            Members(required, shapes) => check_members(*required, shapes, place, value, found),
            ByKey(shape) => match value.as_object() {
                Some(members) => {
                    members
                        .iter()
                        .for_each(|(key, value)| shape.check(&format!("{place}: `{key}`"), value, found));
                }
                None => expect(false, "an object"),
            },
            List(shape) => match value.as_array() {
                Some(items) => items
                    .iter()
                    .enumerate()
                    .for_each(|(at, item)| shape.check(&format!("{place}: item {}", at + 1), item, found)),
                None => expect(false, "a list"),
            },
            Anything => {}
        }
    }
}

fn check_members(
    required: usize,
    shapes: &[(&str, Shape)],
    place: &str,
    value: &Value,
    found: &mut Vec<String>,
) {
    let Some(members) = value.as_object() else {
        found.push(format!("{place}: expected an object"));
        return;
    };
    for (name, _) in shapes.iter().take(required).filter(|(name, _)| !members.contains_key(*name)) {
        found.push(format!("{place}: `{name}` is missing"));
    }
    for (key, value) in members {
        match shapes.iter().find(|(name, _)| name == key) {
            Some((_, shape)) => shape.check(&format!("{place}: `{key}`"), value, found),
            None => found.push(format!("{place}: `{key}` is not known, and clients refuse unknown keys")),
        }
    }
}

/// Clients and stores accept web addresses only; `git@host:x` is none.
pub(crate) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty())
        && !text.contains(|sign: char| sign.is_whitespace() || sign.is_control())
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let is_plain = |sign: char| sign.is_ascii_graphic() && !"<>()[],;:\\\"@".contains(sign);
    !name.is_empty()
        && text.chars().filter(|sign| *sign == '@').count() == 1
        && name.chars().chain(host.chars()).all(is_plain)
        && host
            .split_once('.')
            .is_some_and(|(first, rest)| !first.is_empty() && rest.len() > 1 && !rest.starts_with('.'))
}
