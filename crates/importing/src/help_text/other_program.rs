//! Help of another program: a script that passes `--help` on prints the help of what it calls, and a tool made of that
//! would describe the wrong program.

/// The program that a usage line names, if it is another one than the program that was asked.
pub(super) fn named(usage: &str, command: &[String], aliases: &[String]) -> Option<String> {
    let name = plain(usage);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+'))
        && name.chars().any(|letter| letter.is_ascii_lowercase());
    // A word for any program.
    let is_placeholder = matches!(&*name, "program" | "prog" | "command" | "cmd" | "script");
    if !is_name || is_placeholder {
        return None;
    }
    // The last command of `git log` may be a program of its own (`log`, `git-log`).
    let all = command.iter().chain(aliases).map(|own| plain(own)).chain([command_name(command)]);
    let is_own = all.into_iter().any(|own| {
        let is_part = |long: &str, short: &str| {
            long.strip_prefix(short).is_some_and(|rest| rest.starts_with(['-', '.', '_']))
        };
        own == name || is_part(&own, &name) || is_part(&name, &own)
    });
    (!is_own).then_some(name)
}

fn command_name(command: &[String]) -> String {
    command.iter().map(|word| plain(word)).collect::<Vec<_>>().join("-")
}

/// A program without its folder, its ending and the number of its version.
fn plain(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program).trim_matches(['`', '\'', '"', ':', ',']);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let stem = name
        .rsplit_once('.')
        .filter(|(stem, ending)| !stem.is_empty() && ending.chars().all(char::is_alphabetic));
    let name = stem.map_or(name, |(stem, _)| stem);
    let short = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    if short.is_empty() { name.to_owned() } else { short.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn the_usage_line_names_the_program_that_was_asked() {
        for (usage, command) in [
            ("du", &["du"][..]),
            ("/usr/bin/python3", &["python3.12"]),
            ("deploy", &["./bin/deploy.sh"]),
            ("git", &["git", "log"]),
            ("git-log", &["git", "log"]),
            ("docker", &["docker-compose"]),
            ("cargo-clippy", &["cargo", "clippy"]),
            ("[OPTIONS]", &["x"]),
            ("<file>", &["x"]),
            ("PROGRAM", &["x"]),
            ("$0", &["x"]),
            ("", &["x"]),
        ] {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(named(usage, &command, &[]), None, "{usage}");
        }
        let command = ["disk-report".to_owned()];
        assert_eq!(named("du", &command, &[]).as_deref(), Some("du"));
        assert_eq!(named("dust", &["du".to_owned()], &[]).as_deref(), Some("dust"));
        assert_eq!(named("mawk", &["awk".to_owned()], &["/usr/bin/mawk".to_owned()]), None);
    }
}
