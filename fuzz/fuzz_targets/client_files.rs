//! Arbitrary text as the configuration file of a client, in each format: after `install` it contains the
//! entry and all earlier content, and after `uninstall` everything but the entry. A file that cannot be
//! changed safely is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_entries::{CLIENTS, ConfigFile, ConfigText, Entry, Format, Refusal, Surroundings, System};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

/// Each file of any client.
static FILES: LazyLock<Vec<(ConfigFile, Format)>> = LazyLock::new(|| {
    let surroundings = Surroundings::new(System::Linux, "/home/ann", |_| None);
    let files = CLIENTS.iter().flat_map(|client| client.files.iter().map(move |file| (client, file)));
    let found = files.filter_map(|(client, file)| {
        let found = ConfigFile::find(client, file.scope, &surroundings, Path::new("/w")).ok()?;
        Some((found, file.format))
    });
    found.collect()
});

fuzz_target!(|bytes: &[u8]| {
    let [choice, name, text @ ..] = bytes else { return };
    let (file, format) = &FILES[usize::from(*choice) % FILES.len()];
    let Ok(text) = std::str::from_utf8(text) else { return };
    let name = ["box", "tools-box", "a", "0", "é b", "true", "x.y"][usize::from(*name) % 7];
    let entry = Entry {
        name: name.to_owned(),
        command: "/opt/bin/mcp-bash".to_owned(),
        args: ["--project-root", "/srv/box", "a \"b\" 'c' # d: {e}"].map(str::to_owned).to_vec(),
        env: vec![("LEVEL".to_owned(), "a=b\\c\n".to_owned())],
        passed: Vec::new(),
    };
    let Ok(before) = ConfigText::read(file, text.to_owned()) else { return };
    let known = before.entries();
    let others = |entries: Vec<Entry>| entries.into_iter().filter(|known| known.name != name).collect::<Vec<_>>();
    // With force, an entry of that name that starts no command is replaced.
    let is_taken = matches!(before.with(&entry, false), Err(Refusal::Taken { .. }));
    let had_it = is_taken || known.iter().any(|known| known.name == name);

    let Ok(Some(with)) = before.with(&entry, true) else { return };
    let after = ConfigText::read(file, with.clone()).expect("it can still be read");
    assert!(after.entries().contains(&entry), "{}\n{with}", file.client.name);
    assert_eq!(others(after.entries()), others(known), "{}\n{with}", file.client.name);
    if !had_it {
        keeps(text, &with);
    }

    let Ok(without) = after.without(name) else { return };
    let left = ConfigText::read(file, without.clone()).expect("it can still be read");
    assert_eq!(left.entries(), others(after.entries()), "{}\n{without}", file.client.name);
    if !had_it {
        keeps(text, &without);
        if matches!(format, Format::Json(_)) {
            same_json(text, &without);
        }
    }
});

/// Every letter and digit of the original, in order: values, keys and comments. Only a `null` in place of the
/// servers disappears, since the servers replace it.
fn keeps(before: &str, after: &str) {
    let before = ["null", "Null", "NULL"].iter().fold(before.to_owned(), |text, null| text.replace(null, ""));
    let mut found = after.chars();
    for letter in before.chars().filter(|letter| letter.is_alphanumeric()) {
        assert!(found.any(|other| other == letter), "{before:?} lost {letter:?}:\n{after}");
    }
}

/// Another parser finds the same in both, except for empty objects in place of servers.
fn same_json(before: &str, after: &str) {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let (Some(before), Some(after)) = (read(before), read(after)) {
        assert_eq!(without_emptiness(before), without_emptiness(after));
    }
}

fn without_emptiness(value: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    };
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(key, value)| (key, without_emptiness(value)));
            members.filter(|(_, value)| !is_empty(value)).collect()
        }
        other => other,
    }
}
