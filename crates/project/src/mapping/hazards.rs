//! Places in which a value would be more than data: code that an interpreter reads, and variables that change which code runs.

use super::words::Words;

/// Programs that read code from their command line, and the options that announce it.
const INTERPRETERS: [(&str, &[&str]); 20] = [
    ("sh", SHELL),
    ("bash", SHELL),
    ("dash", SHELL),
    ("zsh", SHELL),
    ("ksh", SHELL),
    ("mksh", SHELL),
    ("ash", SHELL),
    ("fish", SHELL),
    ("su", SHELL),
    ("cmd", &["/c"]),
    ("pwsh", &["-c", "-command"]),
    ("python", SHELL),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("osascript", &["-e"]),
];

const SHELL: &[&str] = &["-c", "--command"];

/// Refuses a command in which an interpreter would read a value as code.
pub(super) fn require_no_code(program: &str, words: &[Words]) -> Result<(), String> {
    let mut interpreter = options_of(program).map(|options| (program, options));
    let mut is_code = false;
    // Whether the word before was an option that takes the next word, as in `bash -o pipefail -c`.
    let mut takes_next = false;
    for word in words {
        let fixed = match word {
            Words::Word(word) => word.template.fixed(),
            Words::Flag { word, .. } => Some(&**word),
            Words::Group(_) | Words::Repeated { .. } => None,
        };
        let Some(fixed) = fixed else {
            if let Some((name, _)) = interpreter.filter(|_| is_code) {
                return Err(format!(
                    "`command` would have `{name}` read a value as code; give the value a word of its own, as in \
                     [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{{text}}\"], or write a script"
                ));
            }
            continue;
        };
        if std::mem::take(&mut is_code) {
            // The code is fixed; what follows are its arguments.
            interpreter = None;
        }
        match interpreter {
            Some((_, options)) if announces_code(fixed, options) => is_code = true,
            Some(_) if takes_next || fixed.starts_with(['-', '+']) => {}
            // A script, or another program such as the `sh` in `docker exec box sh -c`.
            _ => interpreter = options_of(fixed).map(|options| (fixed, options)),
        }
        takes_next = matches!(fixed, "-o" | "+o" | "-O" | "+O");
    }
    Ok(())
}

/// The options that announce code, for a program that is an interpreter. `python3.12` is `python`.
fn options_of(program: &str) -> Option<&'static [&'static str]> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == name).map(|(_, options)| *options)
}

/// Whether the option is one of these, alone or as the last of several letters, as in `-lc`.
fn announces_code(word: &str, options: &[&str]) -> bool {
    let is_cluster = word.starts_with('-') && !word.starts_with("--");
    options.iter().any(|option| {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        word == *option || letter.is_some_and(|letter| is_cluster && word.ends_with(letter))
    })
}

/// Variables that decide which code a program runs, or where it looks for settings that do.
const DECIDE: [&str; 24] = [
    "BASHOPTS",
    "BASH_ENV",
    "EDITOR",
    "ENV",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LESSOPEN",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "SHELL",
    "SHELLOPTS",
    "VISUAL",
    "XDG_CONFIG_HOME",
];

/// How the names of others begin.
const DECIDE_ALL: [&str; 4] = ["BASH_FUNC_", "DYLD_", "GIT_", "LD_"];

/// Refuses the name of a variable that metadata must not set. `is_fixed` says that no argument has a place in its value.
pub(super) fn require_harmless(name: &str, is_fixed: bool) -> Result<(), String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("`env` has the name {name:?}, which no variable can have"));
    }
    if name.starts_with("MCP_") || name.starts_with("MCPBASH_") {
        return Err(format!("`env` must not set `{name}`: these names are the server's own; choose another"));
    }
    let decides = DECIDE.contains(&name) || DECIDE_ALL.iter().any(|start| name.starts_with(start));
    if decides && !is_fixed {
        return Err(format!(
            "`env` would let a caller set `{name}`, which decides what code is run; choose another name, or a fixed value"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::words;
    use serde_json::{Value, json};

    fn judged(command: &Value) -> Result<(), String> {
        let list = command.as_array().unwrap();
        require_no_code(list[0].as_str().unwrap(), &words::read(&list[1..], "command").unwrap())
    }

    #[test]
    fn a_value_is_never_code() {
        for command in [
            json!(["sh", "-c", "ls {path}"]),
            json!(["/bin/bash", "-lc", "{code}"]),
            json!(["bash", "-o", "pipefail", "-c", "ls {path}"]),
            json!(["bash", "-c", ["{code}"]]),
            json!(["python3.12", "-u", "-c", "print('{x}')"]),
            json!(["perl", "-ne", "print if /{x}/"]),
            json!(["node", "--eval", "{x}"]),
            json!(["env", "bash", "-c", "ls {path}"]),
            json!(["docker", "exec", "box", "sh", "-c", "ls {path}"]),
        ] {
            assert!(judged(&command).is_err_and(|refused| refused.contains("as code")), "{command}");
        }
        for command in [
            json!(["sh", "-c", "ls \"$1\"", "sh", "{path}"]),
            json!(["python3", "script.py", "-c", "{config}"]),
            json!(["bash", "script.sh", "-c", "{config}"]),
            json!(["grep", "-e", "{pattern}"]),
            json!(["git", "-c", "{setting}"]),
        ] {
            assert_eq!(judged(&command), Ok(()), "{command}");
        }
    }

    #[test]
    fn variables_that_decide_what_runs_are_the_authors_alone() {
        for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "DYLD_INSERT_LIBRARIES", "GIT_DIR"] {
            assert!(require_harmless(name, false).is_err(), "{name}");
            assert_eq!(require_harmless(name, true), Ok(()), "{name}");
        }
        for name in ["", "A=B", "MCP_TOOL_NAME", "MCPBASH_ROOTS"] {
            assert!(require_harmless(name, true).is_err(), "{name}");
        }
        assert_eq!(require_harmless("DEPTH", false), Ok(()));
    }
}
