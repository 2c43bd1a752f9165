//! Templates of a mapping: text with placeholders for arguments, such as `--depth={depth}` or `{files...}`. `{{` and `}}`
//! stand for braces.

use super::error::MappingError;

/// A text with placeholders for arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that is always the same, and never empty.
    Fixed(String),
    /// The value of an argument.
    Argument(String),
    /// Each element of an argument that is a list: the whole text is repeated once for each.
    Each(String),
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, MappingError> {
        let malformed = || MappingError::Braces(text.to_owned());
        let (mut parts, mut fixed) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(place) = rest.find(['{', '}']) {
            fixed.push_str(&rest[..place]);
            let (brace, after) = rest[place..].split_at(1);
            rest = if let Some(after) = after.strip_prefix(brace) {
                fixed.push_str(brace);
                after
            } else if brace == "{" {
                let (part, after) = placeholder(after).ok_or_else(malformed)?;
                if !fixed.is_empty() {
                    parts.push(Part::Fixed(std::mem::take(&mut fixed)));
                }
                parts.push(part);
                after
            } else {
                return Err(malformed());
            };
        }
        fixed.push_str(rest);
        if !fixed.is_empty() {
            parts.push(Part::Fixed(fixed));
        }
        if parts.iter().filter(|part| matches!(part, Part::Each(_))).count() > 1 {
            return Err(MappingError::TwoLists(text.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The text, if it has no placeholder.
    pub fn fixed(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [Part::Fixed(text)] => Some(text),
            _ => None,
        }
    }

    /// The names of the arguments that have a placeholder.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Fixed(_) => None,
            Part::Argument(name) | Part::Each(name) => Some(&**name),
        })
    }

    /// The text before the first argument.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Fixed(text)) => text,
            _ => "",
        }
    }

    /// The argument whose elements each produce a text of their own.
    pub fn list(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            Part::Each(name) => Some(&**name),
            _ => None,
        })
    }
}

/// Parses the text after an opening brace: an argument, and the rest of the text.
fn placeholder(text: &str) -> Option<(Part, &str)> {
    let (name, rest) = text.split_once('}')?;
    let (name, is_list) = match name.strip_suffix("...") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let is_name = !name.is_empty() && name.trim() == name && !name.contains(['{', '\0', '\n']);
    let part = if is_list { Part::Each } else { Part::Argument };
    is_name.then(|| (part(name.to_owned()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Result<String, MappingError> {
        let shown = |part: &Part| match part {
            Part::Fixed(text) => format!("'{text}'"),
            Part::Argument(name) => format!("<{name}>"),
            Part::Each(name) => format!("<{name}>*"),
        };
        Template::parse(text).map(|template| template.parts.iter().map(shown).collect())
    }

    #[test]
    fn placeholders_and_braces_are_distinguished() {
        for (text, expected) in [
            ("", ""),
            ("plain", "'plain'"),
            ("{path}", "<path>"),
            ("--depth={depth}", "'--depth='<depth>"),
            ("{a}{b}:{c...}", "<a><b>':'<c>*"),
            ("{{}}", "'{}'"),
            ("{{name}}", "'{name}'"),
            ("{{{name}}}", "'{'<name>'}'"),
            ("{with-dash.and dots}", "<with-dash.and dots>"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_templates_are_refused_with_the_valid_form() {
        for text in ["{", "}", "{}", "{ a}", "{a", "a}", "{a{b}}", "{...}", "{a}}b"] {
            assert!(shown(text).unwrap_err().to_string().contains("a brace itself {{ or }}"), "{text}");
        }
        assert!(shown("{a...}{b...}").unwrap_err().to_string().contains("two lists"));
    }

    proptest! {
        #[test]
        fn escaped_text_is_what_it_was(text in any::<String>()) {
            let escaped = text.replace('{', "{{").replace('}', "}}");
            let template = Template::parse(&escaped).unwrap();
            prop_assert_eq!(template.fixed(), Some(&*text));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[{}a. -]*") {
            let _ = Template::parse(&text);
        }
    }
}
