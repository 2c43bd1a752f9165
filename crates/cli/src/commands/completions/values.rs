//! Values of a command's argument: its choices, files, or names in the project.

use super::offers::{Files, Offers};
use super::project::Project;
use clap::{Arg, Command};

/// Where the values of an argument come from.
pub(super) enum Values {
    Nothing,
    Choices(Vec<(String, String)>),
    Files(Files),
    Tools,
    Prompts,
    /// `key=value` of this prompt.
    ArgumentsOfPrompt(String, Vec<String>),
    Resources,
    Commands,
}

/// The values of an argument, by its own definition, and by the command if that is not enough. `given` are the words before
/// it.
pub(super) fn of(command: &Command, argument: &Arg, given: &[String]) -> Values {
    let choices = argument.get_possible_values();
    if !choices.is_empty() {
        let choice = |choice: &clap::builder::PossibleValue| {
            let help = choice.get_help().map(ToString::to_string).unwrap_or_default();
            (choice.get_name().to_owned(), help)
        };
        return Values::Choices(choices.iter().filter(|choice| !choice.is_hide_set()).map(choice).collect());
    }
    let value_name =
        argument.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match (command.get_name(), argument.get_id().as_str(), value_name) {
        ("get", "pairs", _) => match given.split_first() {
            Some((prompt, given)) => Values::ArgumentsOfPrompt(prompt.clone(), given.to_vec()),
            None => Values::Nothing,
        },
        ("read", "uri", _) => Values::Resources,
        ("man", "commands", _) => Values::Commands,
        ("call" | "run-tool", "words", _) | (_, _, "TOOL") => Values::Tools,
        ("get", "prompt", _) | (_, _, "PROMPT") => Values::Prompts,
        (_, _, "CLIENT") => Values::Choices(clients()),
        (_, _, "DIR" | "DIRS" | "FOLDER") => Values::Files(Files::Folders),
        (_, _, "FILE" | "PATH" | "FROM") => Values::Files(Files::All),
        _ if argument.get_id() == "file" => Values::Files(Files::All),
        _ => Values::Nothing,
    }
}

impl Values {
    pub(super) fn offers(self, whole: &Command, project: &Project, current: &str) -> Offers {
        let mut offers = Offers::default();
        match self {
            Self::Nothing => {}
            Self::Choices(choices) => choices.into_iter().for_each(|(word, help)| offers.push(word, help)),
            Self::Files(files) => return Offers::files(files),
            Self::Tools => return project.tools(),
            Self::Prompts => return project.prompts(),
            Self::ArgumentsOfPrompt(prompt, given) => {
                return project.arguments_of_prompt(&prompt, &given, current);
            }
            Self::Resources => return project.resources(),
            Self::Commands => {
                for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
                    let help = command.get_about().map(ToString::to_string).unwrap_or_default();
                    offers.push(command.get_name(), help);
                }
            }
        }
        offers
    }
}

/// The clients by name, each with its title.
fn clients() -> Vec<(String, String)> {
    mcp_bash_entries::CLIENTS.iter().map(|client| (client.name.to_owned(), client.title.to_owned())).collect()
}
