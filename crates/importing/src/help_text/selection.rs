//! Option selection: which options of a program become arguments. Those that run a value never do; those that write
//! do if the user named them; of the rest, the first ones.

use super::option::ProgramOption;
use super::usage::Usage;
use crate::argument_limit::argument_limit;
use crate::{Imported, Unreadable};
use std::collections::BTreeSet;

/// Removes options that run something, and those that write and are not allowed. Returns whether one that writes is left.
pub(super) fn remove_hazards(
    options: &mut Vec<ProgramOption>,
    command: &[String],
    allowed: &[String],
    imported: &mut Imported,
) -> Result<bool, Unreadable> {
    let is_named = |option: &ProgramOption, name: &String| {
        option.names.iter().any(|known| known == name || known.trim_start_matches('-') == name)
    };
    if let Some(missing) = allowed.iter().find(|name| !options.iter().any(|option| is_named(option, name))) {
        let names: Vec<&str> =
            options.iter().filter(|option| option.writes(command)).map(|option| &*option.names[0]).collect();
        let options = (!names.is_empty()).then(|| names.join(", "));
        return Err(Unreadable::NoSuchOption { option: missing.clone(), options });
    }
    let mut writes = false;
    // A manual page may list an option twice, and say only once what it does.
    let mut refused: BTreeSet<String> = BTreeSet::new();
    for option in options.iter() {
        let is_allowed = allowed.iter().any(|name| is_named(option, name));
        if option.takes_code(command) || option.writes(command) && !is_allowed {
            refused.extend(option.names.iter().cloned());
        }
    }
    options.retain(|option| {
        let name = &option.names[0];
        if option.takes_code(command) {
            imported.leave_out(name, "the program would run its value, which no caller may choose");
            return false;
        }
        if option.writes(command) {
            let is_allowed = allowed.iter().any(|name| is_named(option, name));
            writes |= is_allowed;
            if !is_allowed {
                let why = format!("it may change, send or delete something; `--allow {name}` takes it");
                imported.leave_out(name, why);
            }
            return is_allowed;
        }
        !option.names.iter().any(|name| refused.contains(name))
    });
    Ok(writes)
}

/// Keeps required options, then those that the usage line mentions, in its order, then the others in the order of the
/// help, until there are enough arguments.
pub(super) fn keep_first(
    options: &mut Vec<ProgramOption>,
    usage: &Usage,
    positionals: usize,
    wants_all: bool,
    imported: &mut Imported,
) {
    let (most, why) = argument_limit(wants_all);
    let room = most.saturating_sub(positionals);
    if options.len() <= room {
        return;
    }
    let rank = |option: &ProgramOption| {
        let mentioned = option.names.iter().filter_map(|name| usage.position(name)).min();
        (!option.argument.is_required, mentioned.unwrap_or(usize::MAX))
    };
    let mut order: Vec<usize> = (0..options.len()).collect();
    order.sort_by_key(|index| rank(&options[*index]));
    let required = options.iter().filter(|option| option.argument.is_required).count();
    let kept: Vec<usize> = order.into_iter().take(room.max(required)).collect();
    let more = options.len() - kept.len();
    let mut index = 0;
    options.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    imported.leave_out(format!("{more} more options"), why);
}
