//! Effect hints: what a scaffolded tool tells clients about its effects, by the user's flags, otherwise by its name.

use mcp_bash_importing::Effect;

#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct HintArguments {
    /// It changes nothing: clients may call it without asking. The default if its name begins with `get`,
    /// `list`, `show` and the like
    #[arg(long, conflicts_with = "destructive")]
    read_only: bool,

    /// It may change or remove existing data: clients ask before each call. The default for most names
    #[arg(long)]
    destructive: bool,
}

impl HintArguments {
    /// The effect of a tool of that name. Of one that neither flags nor name tell, clients must expect anything.
    pub(super) fn effect(self, name: &str) -> Effect {
        match self {
            Self { read_only: true, .. } => Effect::Reads,
            Self { destructive: true, .. } => Effect::Destroys,
            _ => Effect::of_new_tool(name).unwrap_or(Effect::Destroys),
        }
    }

    /// The note about hints that the user did not ask for.
    pub(super) fn note(self, effect: Effect) -> Option<String> {
        let is_assumed = effect == Effect::Destroys && !self.destructive;
        is_assumed.then(|| {
            "its annotations say that it may change or remove data, so clients ask before each call; with `--read-only` they say \
             that it changes nothing"
                .to_owned()
        })
    }
}

/// The hints of templates, which are those of a read-only tool, in the syntax of JSON, Python and JavaScript, and the other
/// hints.
const WRITTEN: [(&str, &str, &str); 3] = [
    (
        "\"readOnlyHint\": true",
        "\"readOnlyHint\": false,\n    \"destructiveHint\": false",
        "\"readOnlyHint\": false,\n    \"destructiveHint\": true",
    ),
    ("read_only=True", "read_only=False, destructive=False", "read_only=False, destructive=True"),
    (
        "readOnlyHint: true",
        "readOnlyHint: false, destructiveHint: false",
        "readOnlyHint: false, destructiveHint: true",
    ),
];

/// The text of a template with the hints for an effect.
pub(super) fn with_hints(text: &str, effect: Effect) -> String {
    WRITTEN.iter().fold(text.to_owned(), |text, (reads, adds, destroys)| match effect {
        Effect::Reads => text,
        Effect::Adds => text.replace(reads, adds),
        Effect::Destroys => text.replace(reads, destroys),
    })
}
