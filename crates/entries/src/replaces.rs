//! Substitutions: texts that clients replace in their entries, and in which fields.

/// A text that a client replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `${NAME}`, also with a default, a kind or a predefined name: `${NAME:-x}`, `${env:NAME}`, `${workspaceFolder}`.
    Braces,
    /// `$NAME` and `${NAME}`.
    Dollar,
    /// `${{ secrets.NAME }}`.
    Secrets,
    /// `{{NAME}}`.
    Mustache,
    /// `{env:NAME}` and `{file:PATH}`.
    Tags,
}

/// What a client's tags begin with.
pub(crate) const TAGS: &[&str] = &["{env:", "{file:"];

impl Form {
    pub(crate) fn is_in(self, text: &str) -> bool {
        let begins_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{');
        match self {
            Self::Braces => text.contains("${"),
            Self::Dollar => text.split('$').skip(1).any(|rest| rest.starts_with(begins_name)),
            Self::Secrets => text.contains("${{"),
            Self::Mustache => text.contains("{{"),
            Self::Tags => TAGS.iter().any(|tag| text.contains(tag)),
        }
    }

    /// As users write it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Braces => "`${…}`",
            Self::Dollar => "`$NAME` and `${NAME}`",
            Self::Secrets => "`${{ … }}`",
            Self::Mustache => "`{{…}}`",
            Self::Tags => "`{env:…}` and `{file:…}`",
        }
    }
}

/// A part of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Command,
    Args,
    Env,
    Url,
    Headers,
}

const ALL: &[Field] = &[Field::Command, Field::Args, Field::Env, Field::Url, Field::Headers];

/// What a client replaces, and in which parts of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaces {
    pub forms: &'static [Form],
    pub fields: &'static [Field],
    /// Whether we write the text in a way that the client does not take for one of these.
    pub is_escaped: bool,
}

impl Replaces {
    pub(crate) const NOTHING: Self = Self { forms: &[], fields: &[], is_escaped: false };
    /// Also for clients with undocumented behaviour: a refusal costs less than a wrong path.
    pub(crate) const BRACES: Self = Self { forms: &[Form::Braces], ..Self::EVERYWHERE };
    pub(crate) const DOLLAR: Self = Self { forms: &[Form::Dollar], ..Self::EVERYWHERE };
    pub(crate) const SECRETS: Self = Self { forms: &[Form::Secrets], ..Self::EVERYWHERE };
    /// It replaces them in the text of the file, before it parses the JSON: a JSON escape hides them.
    pub(crate) const TAGS: Self = Self { forms: &[Form::Tags], is_escaped: true, ..Self::EVERYWHERE };
    /// The command is used as it is.
    pub(crate) const BRACES_AND_MUSTACHE: Self = Self {
        forms: &[Form::Braces, Form::Mustache],
        fields: &[Field::Args, Field::Env, Field::Url, Field::Headers],
        is_escaped: false,
    };
    pub(crate) const DOLLAR_IN_REMOTES: Self =
        Self { forms: &[Form::Dollar], fields: &[Field::Url, Field::Headers], is_escaped: false };
    const EVERYWHERE: Self = Self { forms: &[], fields: ALL, is_escaped: false };

    /// The form that the client would replace in a text of a field.
    pub(crate) fn found(&self, field: Field, text: &str) -> Option<Form> {
        let forms = if self.fields.contains(&field) { self.forms } else { &[] };
        forms.iter().copied().find(|form| form.is_in(text))
    }
}
