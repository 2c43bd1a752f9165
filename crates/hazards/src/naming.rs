//! Telling names: they say that a value is run, as names of options (`--to-command`) or placeholders in help texts
//! (`PROG`).

/// Words of such names.
const CODE: [&str; 46] = [
    "action",
    "askpass",
    "callback",
    "cmd",
    "cmds",
    "code",
    "command",
    "commands",
    "editor",
    "eval",
    "evaluate",
    "exec",
    "execute",
    "expr",
    "expression",
    "extcmd",
    "filter",
    "handler",
    "hook",
    "hooks",
    "initfile",
    "interpreter",
    "launcher",
    "loader",
    "macro",
    "pager",
    "plugin",
    "plugins",
    "postcmd",
    "precmd",
    "preload",
    "preprocessor",
    "prog",
    "program",
    "rcfile",
    "require",
    "rsh",
    "script",
    "scriptfile",
    "scriptin",
    "scripts",
    "shell",
    "sql",
    "startup",
    "vimrc",
    "wrapper",
];

/// Whether a word of the name is one of these: `--use-compress-program`, `COMMAND`, `script-file`, `EXPR1`.
pub fn reads_like_code(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = name.split(|letter: char| !letter.is_ascii_alphabetic());
    words.into_iter().any(|word| CODE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_name_tells() {
        assert!(CODE.is_sorted());
        for name in [
            "--to-command",
            "PROG",
            "info-script",
            "--rsh-command",
            "FILTER",
            "<EXPR1>",
            "checkpoint-action",
            "shell",
        ] {
            assert!(reads_like_code(name), "{name}");
        }
        for name in [
            "--author",
            "FILE",
            "--format",
            "pattern",
            "--precision",
            "description",
            "--output",
            "filterless",
        ] {
            assert!(!reads_like_code(name), "{name}");
        }
    }
}
