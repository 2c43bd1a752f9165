//! Completion candidates: the words that could be at the cursor. Commands and flags come from the command line itself,
//! values from [`values`].

use super::offers::Offers;
use super::project::Project;
use super::values::{self, Values};
use clap::{Arg, ArgAction, Command};
use std::path::PathBuf;

/// Commands whose later words belong to a tool.
const CALLS: [&str; 2] = ["call", "run-tool"];

/// Candidates for the last word.
pub(super) fn of(words: &[String], mut whole: Command) -> Offers {
    whole.build();
    let Some((current, before)) = words.split_last() else { return Offers::default() };
    let mut place = LinePosition::new(&whole);
    for word in before {
        place.pass(word);
    }
    place.offers(current).beginning_with(current)
}

/// The position at which the user is typing.
struct LinePosition<'c> {
    whole: &'c Command,
    command: &'c Command,
    /// The option whose value is the next word.
    awaits_value: Option<&'c Arg>,
    /// The words after the command that are not flags.
    given: Vec<String>,
    only_words: bool,
    project_root: Option<PathBuf>,
}

impl<'c> LinePosition<'c> {
    fn new(whole: &'c Command) -> Self {
        Self {
            whole,
            command: whole,
            awaits_value: None,
            given: Vec::new(),
            only_words: false,
            project_root: None,
        }
    }

    /// Advances past a complete word.
    fn pass(&mut self, word: &str) {
        if let Some(option) = self.awaits_value.take() {
            return self.note_value(option, word);
        }
        if self.is_inside_call() || self.only_words {
            return self.given.push(word.to_owned());
        }
        if word == "--" {
            self.only_words = true;
        } else if let Some((name, value)) =
            word.strip_prefix("--").map(|word| word.split_once('=').unwrap_or((word, "")))
        {
            if let Some(option) = self.options().find(|option| is_called(option, name)) {
                if word.contains('=') {
                    self.note_value(option, value);
                } else {
                    self.awaits_value = Some(option).filter(|option| takes_value(option));
                }
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let last = letters.chars().last();
            let option = self.options().find(|option| option.get_short() == last);
            self.awaits_value = option.filter(|option| takes_value(option));
        } else if let Some(command) = self.command.find_subcommand(word).filter(|_| self.given.is_empty()) {
            self.command = command;
        } else {
            self.given.push(word.to_owned());
        }
    }

    fn note_value(&mut self, option: &Arg, value: &str) {
        if option.get_id() == "project_root" {
            self.project_root = Some(PathBuf::from(value));
        }
    }

    /// The options of the command, including those of every command.
    fn options(&self) -> impl Iterator<Item = &'c Arg> + use<'c> {
        self.command.get_arguments().filter(|argument| !argument.is_positional())
    }

    fn is_inside_call(&self) -> bool {
        CALLS.contains(&self.command.get_name()) && !self.given.is_empty()
    }

    fn offers(&self, current: &str) -> Offers {
        let project = Project::new(self.project_root.clone());
        if let Some(option) = self.awaits_value {
            return values::of(self.command, option, &[]).offers(self.whole, &project, current);
        }
        if self.is_inside_call() {
            return project.arguments_of_tool(&self.given[0], &self.given[1..], current);
        }
        if let Some(flag) = current.strip_prefix("--").filter(|_| !self.only_words)
            && let Some((name, value)) = flag.split_once('=')
        {
            return self.values_behind(name, value, &project);
        }
        if current.starts_with('-') && !self.only_words {
            return self.flags();
        }
        self.words(&project, current)
    }

    /// `--name=value`, while the value is being typed.
    fn values_behind(&self, name: &str, value: &str, project: &Project) -> Offers {
        let Some(option) = self.options().find(|option| is_called(option, name)) else {
            return Offers::default();
        };
        let mut offers = values::of(self.command, option, &[]).offers(self.whole, project, value);
        for offer in &mut offers.words {
            offer.word = format!("--{name}={}", offer.word);
        }
        offers
    }

    fn flags(&self) -> Offers {
        let mut offers = Offers::default();
        for option in self.options().filter(|option| !option.is_hide_set()) {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            for name in option.get_long_and_visible_aliases().unwrap_or_default() {
                offers.push(format!("--{name}"), &*help);
            }
            for letter in option.get_short_and_visible_aliases().unwrap_or_default() {
                offers.push(format!("-{letter}"), &*help);
            }
        }
        offers
    }

    /// Commands, and the arguments of the command at this position.
    fn words(&self, project: &Project, current: &str) -> Offers {
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let at =
            positionals.get(self.given.len()).or_else(|| positionals.last().filter(|last| takes_many(last)));
        let mut offers = match at {
            Some(positional) => {
                values::of(self.command, positional, &self.given).offers(self.whole, project, current)
            }
            None => Values::Nothing.offers(self.whole, project, current),
        };
        if self.given.is_empty() && !self.only_words {
            for command in self.command.get_subcommands().filter(|command| !command.is_hide_set()) {
                let help = command.get_about().map(ToString::to_string).unwrap_or_default();
                for name in command.get_name_and_visible_aliases() {
                    offers.push(name, &*help);
                }
            }
        }
        offers
    }
}

fn is_called(option: &Arg, name: &str) -> bool {
    option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|names| names.contains(&name))
}

fn takes_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}

fn takes_many(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|range| range.max_values() > 1)
        || matches!(argument.get_action(), ArgAction::Append)
}
