//! Templates of scaffolded files: real files of `templates/`, with placeholders such as `__NAME__`.

use std::path::Path;

/// A file of `templates/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Template {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

/// A file of `templates/`, by its path there.
macro_rules! template {
    ($path:literal) => {
        crate::commands::scaffold::Template {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../templates/", $path)),
        }
    };
}
pub(crate) use template;

/// The values for the placeholders of a template: the word between the underscores, and a text.
pub(crate) type Places<'a> = [(&'static str, &'a str)];

/// The text of a template with its placeholders filled. In JSON, a value stays inside the string of its placeholder.
pub(crate) fn fill(template: Template, places: &Places<'_>) -> String {
    let is_json = Path::new(template.path).extension().is_some_and(|ending| ending == "json");
    let mut filled = String::with_capacity(template.text.len());
    let mut rest = template.text;
    while let Some(start) = rest.find("__") {
        let after = &rest[start + 2..];
        filled.push_str(&rest[..start]);
        let place = places
            .iter()
            .find_map(|(word, value)| Some((*value, after.strip_prefix(*word)?.strip_prefix("__")?)));
        match place {
            Some((value, after)) if is_json => {
                filled.push_str(&inside_a_json_string(value));
                rest = after;
            }
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('_');
                rest = &rest[start + 1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn inside_a_json_string(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_everything_else_stays() {
        let template = Template { path: "a.sh", text: "__NAME__ ___NAME__ __name__ __OTHER__ __NAME_ _ __" };
        let filled = fill(template, &[("NAME", "__NAME__é")]);
        assert_eq!(filled, "__NAME__é ___NAME__é __name__ __OTHER__ __NAME_ _ __");
    }

    #[test]
    fn no_value_leaves_its_string_in_json() {
        let template = Template { path: "a.json", text: r#"{"a": "__NAME__"}"# };
        let value = "\"quoted\" \\ and\nbroken\u{1}";
        let filled = fill(template, &[("NAME", value)]);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&filled).unwrap()["a"], value);
    }
}
