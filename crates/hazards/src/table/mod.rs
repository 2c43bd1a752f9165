//! Program table: interpreters, programs that run another one, and tools with options that run something.

mod interpreters;
mod tools;
mod wrappers;

use crate::program::{Program, UNKNOWN};

/// The row of a program, by its path or name. `python3.12` is `python`.
pub(crate) fn find(program: &str) -> &'static Program {
    let name = file_name(program);
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    let all = interpreters::ALL.iter().chain(wrappers::ALL).chain(tools::ALL);
    all.into_iter().find(|row| row.names.contains(&plain) || row.names.contains(&name)).unwrap_or(&UNKNOWN)
}

/// What a program is called in its row; `the program` if it has none.
pub(crate) fn name(program: &str) -> &'static str {
    let (names, full) = (find(program).names, file_name(program));
    let own = names.iter().filter(|name| full.starts_with(**name)).max_by_key(|name| name.len());
    own.copied().unwrap_or("the program")
}

fn file_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_folders_do_not_hide_a_program() {
        for program in ["python", "python3", "python3.12", "/usr/bin/python3", "./python", "python.exe"] {
            assert_eq!(find(program).names.first(), Some(&"python"), "{program}");
        }
        assert_eq!(
            ["/bin/valgrind", "python3.12", "ltrace", "du"].map(name),
            ["valgrind", "python", "ltrace", "the program"]
        );
        for program in ["du", "my-python-tool", "shfmt", "-", ""] {
            assert!(!find(program).is_known(), "{program}");
        }
    }

    #[test]
    fn no_program_is_in_two_rows_and_no_option_has_two_meanings() {
        let all: Vec<_> = interpreters::ALL.iter().chain(wrappers::ALL).chain(tools::ALL).collect();
        let names: Vec<_> = all.iter().flat_map(|row| row.names).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name}");
        }
        for row in all {
            let options: Vec<_> = [row.code, row.instead, row.commands, row.data, row.flags]
                .iter()
                .flat_map(|list| *list)
                .collect();
            for (index, option) in options.iter().enumerate() {
                assert!(!options[..index].contains(option), "{:?} {option}", row.names);
            }
        }
    }
}
