//! Script reading: what the text of a script says about how it is called. Each language fills it in, `draft` makes a tool
//! of it.

use crate::argument::ArgumentKind;
use crate::effect::Effect;

/// The doubt about a script with more options, or more code that reads them, than a reader looks at.
pub(crate) const UNREAD_OPTIONS: &str = "it has more options than were read";

/// As many options as are told apart.
const MOST_OPTIONS: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct ScriptReading {
    pub(crate) description: Option<String>,
    pub(crate) options: Vec<ScriptOption>,
    pub(crate) positionals: Vec<ScriptPositional>,
    pub(crate) variables: Vec<ScriptVariable>,
    /// Variables that it reads from the environment of the server: secrets, and others without a default.
    pub(crate) passed: Vec<String>,
    /// Lines that it reads from standard input, in order.
    pub(crate) answers: Vec<Answer>,
    /// The exit codes besides 0 that are answers.
    pub(crate) success_exit_codes: Vec<u8>,
    /// Programs that it calls.
    pub(crate) needs: Vec<String>,
    pub(crate) effect: Option<Effect>,
    /// Why the draft may be incomplete or wrong.
    pub(crate) doubts: Vec<String>,
    /// What the script takes and the draft does not have.
    pub(crate) gaps: Vec<String>,
    /// What was left out, and why.
    pub(crate) left_out: Vec<(String, String)>,
    /// Why its words cannot be told apart: the tool takes a list of words.
    pub(crate) is_opaque: Option<String>,
    /// Variables and answers that have to be whole numbers.
    pub(crate) integers: Vec<String>,
    /// Whether parts of its values are evaluated, so that no value may have the signs of an expression.
    pub(crate) is_evaluated: bool,
    /// The word that it would evaluate, although it may be a text.
    pub(crate) evaluates: Option<String>,
    /// The word that it would run, if it is there to run one.
    pub(crate) runs: Option<String>,
    /// Whether it only defines functions.
    pub(crate) is_library: bool,
    /// Help that the script prints, if its text has it.
    pub(crate) usage: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct ScriptOption {
    /// With their dashes.
    pub(crate) names: Vec<String>,
    pub(crate) value: Option<ValueForm>,
    pub(crate) kind: ArgumentKind,
    /// How the script calls it, if its names say little.
    pub(crate) variable: Option<String>,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    pub(crate) is_required: bool,
    pub(crate) is_repeated: bool,
    pub(crate) evaluation: Option<Evaluation>,
}

/// How a shell evaluates a value, from the harmless to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evaluation {
    Number,
    /// A part of it, or something made of it.
    Part,
    /// As a number, although it is also compared with other texts.
    Text,
    /// As the name of a variable.
    Name,
}

/// How an option takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
    /// `--name=value`
    Joined,
    /// `--name value`
    NextWord,
    /// `-nvalue`
    Attached,
    /// `--name value value`
    NextWords,
}

#[derive(Debug, Clone)]
pub(crate) struct ScriptPositional {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: ArgumentKind,
    pub(crate) default: Option<String>,
    pub(crate) is_required: bool,
    pub(crate) evaluation: Option<Evaluation>,
}

#[derive(Debug, Clone)]
pub(crate) struct ScriptVariable {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    pub(crate) is_required: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) name: String,
    pub(crate) question: String,
}

impl ScriptReading {
    pub(crate) fn doubt(&mut self, doubt: impl Into<String>) {
        let doubt = doubt.into();
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    pub(crate) fn gap(&mut self, gap: impl Into<String>) {
        let gap = gap.into();
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Takes all words besides options as one list, because the code does not show what each of them means.
    pub(crate) fn take_one_list(&mut self) {
        self.positionals = vec![ScriptPositional::new("args", ArgumentKind::List(Vec::new()), false)];
        self.gap("its words besides options are one list, `args`: which of them it needs is not clear");
    }

    /// Adds an option, or what is new about one that is known.
    pub(crate) fn add(&mut self, option: ScriptOption) {
        let is_same = |known: &&mut ScriptOption| {
            known.value.is_some() == option.value.is_some()
                && known.names.iter().any(|name| option.names.contains(name))
        };
        let known = self.options.iter_mut().find(is_same);
        let Some(known) = known else {
            if self.options.len() == MOST_OPTIONS {
                return self.doubt(UNREAD_OPTIONS);
            }
            return self.options.push(option);
        };
        for name in option.names {
            if !known.names.contains(&name) {
                known.names.push(name);
            }
        }
        known.value = match (known.value, option.value) {
            // Both forms are known to work.
            (Some(_), Some(ValueForm::Joined)) => Some(ValueForm::Joined),
            (known, other) => known.or(other),
        };
        if known.kind == ArgumentKind::Boolean && known.value.is_some() {
            known.kind = option.kind;
        }
        known.variable = known.variable.take().or(option.variable);
        known.is_repeated |= option.is_repeated;
        known.evaluation = known.evaluation.max(option.evaluation);
    }
}

impl ScriptOption {
    pub(crate) fn flag(names: Vec<String>) -> Self {
        Self {
            names,
            value: None,
            kind: ArgumentKind::Boolean,
            variable: None,
            description: String::new(),
            default: None,
            is_required: false,
            is_repeated: false,
            evaluation: None,
        }
    }

    pub(crate) fn with_value(names: Vec<String>, form: ValueForm) -> Self {
        Self { value: Some(form), kind: ArgumentKind::Text, ..Self::flag(names) }
    }

    /// Whether it only prints help or a version.
    pub(crate) fn is_idle(&self) -> bool {
        const IDLE: [&str; 8] = ["help", "usage", "version", "man", "help-all", "h", "V", "?"];
        let is_idle = |name: &String| IDLE.contains(&name.trim_start_matches('-'));
        self.value.is_none()
            && self.names.iter().any(|name| is_idle(name) && (name.len() > 2 || self.names.len() == 1))
            || self.names.iter().all(is_idle) && self.value.is_none()
    }
}

impl ScriptPositional {
    pub(crate) fn new(name: impl Into<String>, kind: ArgumentKind, is_required: bool) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            kind,
            default: None,
            is_required,
            evaluation: None,
        }
    }
}
