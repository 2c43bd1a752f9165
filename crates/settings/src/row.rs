//! Settings row: one setting of the table, and how it is read.

use crate::given::{Given, PROJECT_FILE, Source};
use crate::kind::{Kind, Refusal};
use crate::problem::SettingProblem;
use std::borrow::Cow;
use std::ffi::OsStr;

/// A setting of one type.
pub(crate) struct Row<K: Kind> {
    pub(crate) name: &'static str,
    kind: K,
    default: DefaultValue<K>,
    meaning: &'static str,
}

/// The value if nothing is set.
enum DefaultValue<K: Kind> {
    /// The value of this text.
    Text(&'static str),
    /// The value of another setting.
    SameAs(&'static Row<K>),
}

/// The result of reading a row.
pub(crate) struct Reading<V> {
    pub(crate) value: V,
    pub(crate) shown: Cow<'static, str>,
    pub(crate) source: Source,
    pub(crate) problem: Option<SettingProblem>,
}

pub(crate) const fn row<K: Kind>(
    name: &'static str,
    kind: K,
    default: &'static str,
    meaning: &'static str,
) -> Row<K> {
    Row { name, kind, default: DefaultValue::Text(default), meaning }
}

/// A row whose default is the value of another one.
pub(crate) const fn row_like<K: Kind>(
    name: &'static str,
    kind: K,
    other: &'static Row<K>,
    meaning: &'static str,
) -> Row<K> {
    Row { name, kind, default: DefaultValue::SameAs(other), meaning }
}

impl<K: Kind> Row<K> {
    pub(crate) fn read(&self, given: Given<'_>) -> Reading<K::Value> {
        let own = (given.variables)(self.name);
        let own = own.and_then(|text| self.kind.parse_variable(&text).map(|outcome| (text, outcome)));
        if let Some((text, outcome)) = own {
            return self.reading(given, &text, outcome, Source::Variable(self.name));
        }
        let projects = given.project.and_then(|project| project.get(self.name)).map(OsStr::new);
        match projects.and_then(|text| self.kind.parse_variable(text).map(|outcome| (text, outcome))) {
            Some((text, outcome)) => self.reading(given, text, outcome, Source::Project),
            None => self.read_default(given),
        }
    }

    /// The result of parsing a text that was set.
    fn reading(
        &self,
        given: Given<'_>,
        text: &OsStr,
        outcome: Result<K::Value, Refusal<K::Value>>,
        source: Source,
    ) -> Reading<K::Value> {
        let refusal = match outcome {
            Ok(value) => {
                let shown = self.kind.shown(text.to_string_lossy().trim()).into();
                return Reading { value, shown, source, problem: None };
            }
            Err(refusal) => refusal,
        };
        let place = if source == Source::Project { format!("in {PROJECT_FILE} ") } else { String::new() };
        let (name, fatal) = (self.name, refusal.fatal);
        if let Some((value, shown)) = refusal.instead {
            let problem =
                Some(SettingProblem { name, problem: format!("{place}{}", refusal.problem), fatal });
            return Reading { value, shown: shown.into(), source, problem };
        }
        let default = self.read_default(given);
        let mut problem = format!("{place}{}", refusal.problem);
        if !fatal {
            problem = match &*default.shown {
                "" => format!("{problem}; it counts as not set"),
                shown => format!("{problem}; `{shown}` is used"),
            };
        }
        Reading { problem: Some(SettingProblem { name, problem, fatal }), ..default }
    }

    fn read_default(&self, given: Given<'_>) -> Reading<K::Value> {
        let text = match self.default {
            DefaultValue::Text(text) => text,
            // The problem of the other one is reported when that one is read itself.
            DefaultValue::SameAs(other) => return Reading { problem: None, ..other.read(given) },
        };
        match self.kind.parse(text) {
            Ok(value) => {
                debug_assert_eq!(self.kind.shown(text), text, "the default of {}", self.name);
                Reading { value, shown: Cow::Borrowed(text), source: Source::Default, problem: None }
            }
            Err(refusal) => unreachable!("the default of {} {}", self.name, refusal.problem),
        }
    }
}

/// A setting as the reference describes it.
pub trait Setting: Sync {
    /// The variable.
    fn name(&self) -> &'static str;

    /// Type and range, in words.
    fn kind(&self) -> Cow<'static, str>;

    /// The default in words; empty if there is none.
    fn default(&self) -> String;

    /// What the setting does.
    fn meaning(&self) -> &'static str;
}

impl<K: Kind> Setting for Row<K> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> Cow<'static, str> {
        self.kind.description()
    }

    fn default(&self) -> String {
        match self.default {
            DefaultValue::Text("") => String::new(),
            DefaultValue::Text(text) => format!("`{text}`"),
            DefaultValue::SameAs(other) => format!("as `{}`", other.name),
        }
    }

    fn meaning(&self) -> &'static str {
        self.meaning
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Count, Hosts, Optional, Secret, count};
    use std::ffi::OsString;

    static FIRST: Row<Count> = row("FIRST", count(1), "7", "");
    static SECOND: Row<Count> = row_like("SECOND", count(1), &FIRST, "");

    fn read<K: Kind>(row: &Row<K>, given: &[(&str, &str)]) -> Reading<K::Value> {
        let variables =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        row.read(Given { variables: &variables, project: None })
    }

    #[test]
    fn a_value_overrides_the_default() {
        let reading = read(&FIRST, &[("FIRST", " 9 ")]);
        assert_eq!((reading.value, &*reading.shown, reading.source), (9, "9", Source::Variable("FIRST")));
        for given in [&[][..], &[("FIRST", "")], &[("FIRST", " ")]] {
            let reading = read(&FIRST, given);
            assert_eq!((reading.value, reading.source, reading.problem), (7, Source::Default, None));
        }
    }

    #[test]
    fn an_invalid_value_is_reported_with_the_value_used_instead() {
        let reading = read(&SECOND, &[("FIRST", "3"), ("SECOND", "none")]);
        assert_eq!((reading.value, reading.source), (3, Source::Variable("FIRST")));
        let problem = reading.problem.unwrap();
        assert!(problem.to_string().starts_with("SECOND must be a whole number from 1 to "), "{problem}");
        assert!(problem.to_string().ends_with(", not `none`; `3` is used"), "{problem}");
        let optional = row("OPTIONAL", Optional(count(1)), "", "");
        let problem = read(&optional, &[("OPTIONAL", "0")]).problem.unwrap();
        assert!(problem.to_string().ends_with(", not `0`; it counts as not set"), "{problem}");
    }

    #[test]
    fn a_default_is_that_of_another_row_with_its_source() {
        let reading = read(&SECOND, &[]);
        assert_eq!((reading.value, reading.source), (7, Source::Default));
        let reading = read(&SECOND, &[("FIRST", "0")]);
        assert_eq!((reading.value, reading.problem), (7, None));
        assert_eq!(Setting::default(&SECOND), "as `FIRST`");
    }

    #[test]
    fn what_stands_in_place_of_a_value_is_no_default() {
        let hosts = row("HOSTS", Hosts::Allowed, "example.com", "");
        let reading = read(&hosts, &[("HOSTS", "*")]);
        assert!(reading.value.is_empty() && reading.source == Source::Variable("HOSTS"));
        let secret = row("SECRET", Optional(Secret { least_characters: 9 }), "", "");
        let reading = read(&secret, &[("SECRET", "hunter2")]);
        assert!(
            reading.problem.is_some_and(|problem| problem.fatal && !problem.to_string().contains("hunter2"))
        );
        assert_eq!((reading.value.as_deref(), &*reading.shown), (Some("hunter2"), "(not shown)"));
    }
}
