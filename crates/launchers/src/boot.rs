//! Boot: the constant command that a launcher runs on the other host. It reads the supervisor from its standard input.

/// What the shell evaluates: the size of the supervisor on a line, and then its text. Login shells other than POSIX ones
/// pass it on unchanged, because it has no quotes, backslashes, exclamation marks or line breaks inside.
const BOOT: &str = r#"IFS= read -r n && s=$(dd bs=1 count="$n" 2>/dev/null) && eval "$s""#;

const SUPERVISOR: &str = include_str!("remote/supervisor.sh");

/// The program that scripts call to ask questions.
pub(crate) const ASK: &str = include_str!("remote/ask.sh");

/// The command, as words.
pub(crate) fn words() -> [&'static str; 3] {
    ["sh", "-c", BOOT]
}

/// The command as one word, for a launcher that has it parsed by a shell, as `ssh` does.
pub(crate) fn line() -> String {
    format!("exec sh -c '{BOOT}'")
}

/// The supervisor of a call, after its size.
pub(crate) fn supervisor(mark: &str, id: &str, temporary: Option<&str>) -> String {
    let temporary = mcp_bash_harmless::shell_word(temporary.unwrap_or_default());
    let text = format!("M={mark}\nI={id}\nT={temporary}\n{SUPERVISOR}");
    format!("{}\n{text}", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_passes_the_boot_on_unchanged() {
        assert!(!BOOT.contains(['\'', '\\', '!', '\n']), "{BOOT}");
    }

    #[test]
    fn a_posix_shell_can_parse_the_remote_scripts() {
        for text in [SUPERVISOR, ASK] {
            let parsed = std::process::Command::new("sh").args(["-n", "-c", text]).output().unwrap();
            assert!(parsed.status.success(), "{parsed:?}");
        }
    }
}
