//! `mcp-bash completions`: the words that shells offer while a person types.

use crate::harness::{Project, Server};
use std::path::Path;
use std::process::Command;

fn project() -> Project {
    let metadata = r#"{"description": "How large it is", "inputSchema": {"type": "object", "properties": {
        "path": {"type": "string", "description": "Where"}, "unit": {"enum": ["bytes", "blocks"]}, "all": {"type": "boolean"}}}}"#;
    Project::new()
        .file("server.d/server.meta.json", "{}")
        .script("tools/disk/tool.sh", "#!/bin/sh\n")
        .file("tools/disk/tool.meta.json", metadata)
        .tool("date", "#!/bin/sh\n")
        .script("tools/lister", "#!/bin/sh\n# inputSchema\ntouch ran\n")
        .file("prompts/review.md", "# mcp: {\"arguments\": [{\"name\": \"diff\"}]}\nLook at {{diff}}\n")
        .file("resources/notes.txt", "x")
}

/// The words offered for the last one.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let mut command = Server::command();
    let output =
        command.args(["__complete", "words"]).args(words).current_dir(project.root()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn commands_flags_and_values_are_offered() {
    let project = project();
    assert_eq!(offered(&project, &["completi"]), ["folders", "completions"]);
    assert_eq!(offered(&project, &["completions", "z"]), ["words", "zsh"]);
    assert_eq!(offered(&project, &["import", "--he"]), ["words", "--help", "--help-from"]);
    assert_eq!(offered(&project, &["import", "x", "--as", "j"]), ["words", "justfile"]);
    assert_eq!(offered(&project, &["import", "x", "--as=ma"]), ["words", "--as=makefile"]);
    assert_eq!(offered(&project, &["--project-root", ""]), ["folders"]);
    assert_eq!(offered(&project, &["import", ""]), ["files"]);
    assert_eq!(offered(&project, &["registry", "re"]), ["words", "refresh"]);
    // A first word may be a folder as well as a command.
    assert_eq!(offered(&project, &["bund"]), ["folders", "bundle"]);
}

#[test]
fn nothing_is_run_written_or_complained_about() {
    let project = project();
    let before = std::fs::read_dir(project.root()).unwrap().count();
    for words in [
        &["call", ""][..],
        &["--project-root", "/nonexistent", "call", ""],
        &["no-such", "--x", ""],
        &["\u{1b}"],
        &[],
    ] {
        offered(&project, words);
    }
    assert!(!project.path("ran").exists());
    assert_eq!(std::fs::read_dir(project.root()).unwrap().count(), before);
}

#[test]
fn closed_output_is_not_an_error() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let output = Server::command().args(["completions", shell]).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty() && output.stderr.is_empty(), "{shell}");
    }
    let output = Server::command().args(["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Runs a shell program in the project, with our binary on its PATH. None if the shell is not installed.
fn in_shell(project: &Project, shell: &str, program: &str) -> Option<Vec<String>> {
    let bin = Path::new(env!("CARGO_BIN_EXE_mcp-bash")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(shell);
    command.args(if shell == "zsh" { &["-f", "-c"][..] } else { &["-c"] }).arg(program);
    command.current_dir(project.root()).env("PATH", path).env("HOME", project.root()).env("TERM", "dumb");
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(text.lines().map(|line| line.trim_end().to_owned()).collect())
}

#[test]
fn bash_completes() {
    let project = project();
    let completed = |line: &str, words: &str, at: usize| {
        let program = format!(
            "eval \"$(mcp-bash completions bash)\"; COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}}; COMP_LINE='{line}'; \
             COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); COMP_CWORD={at}; _mcp_bash; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        in_shell(&project, "bash", &program).expect("bash")
    };
    assert_eq!(completed("mcp-bash comple", "mcp-bash comple", 1).last().unwrap(), "completions");
    assert_eq!(completed("mcp-bash import --as just", "mcp-bash import --as just", 3), ["justfile"]);
    // bash takes = as the end of a word.
    assert_eq!(completed("mcp-bash import --as=just", "mcp-bash import --as = just", 4), ["justfile"]);
    assert_eq!(completed("mcp-bash import re", "mcp-bash import re", 2), ["resources"]);
    assert_eq!(completed("mcp-bash bund", "mcp-bash bund", 1), ["bundle"]);
}

#[test]
fn fish_completes() {
    let project = project();
    let completed = |line: &str| {
        let program = format!("mcp-bash completions fish | source; complete -C '{line}'");
        in_shell(&project, "fish", &program)
    };
    let Some(offered) = completed("mcp-bash import --as j") else { return };
    assert_eq!(offered, ["justfile"]);
    let commands = completed("mcp-bash complet").unwrap();
    assert!(
        commands.iter().any(|line| line.starts_with("completions\tPrint a shell completion script")),
        "{commands:?}"
    );
}

#[test]
fn zsh_completes() {
    // compadd works only inside the line editor, so a function of the same name prints its arguments.
    let program = "autoload -U compinit && compinit -u -D; source <(mcp-bash completions zsh); \
                   _call_program() { shift; eval \"$*\" }; \
                   compadd() { local name=${@[-1]}; print -l -- ${(P)name} }; \
                   words=(mcp-bash import --as ju) CURRENT=4; _mcp-bash; print -- $_comps[mcp-bash]";
    let Some(offered) = in_shell(&project(), "zsh", program) else { return };
    assert_eq!(offered, ["justfile", "_mcp-bash"]);
}

/// A hostile project: its names, values and descriptions contain everything that a shell could run.
fn hostile() -> Project {
    let metadata = r#"{"description": "$(touch ran)`touch ran`\n'; touch ran; \u001b]0;x\u0007\u202e",
        "inputSchema": {"type": "object", "properties": {
        "mode": {"enum": ["$(touch ran)", "`touch ran`", "'; touch ran; '", "\"; touch ran; \"", "& touch ran", "a\ntouch ran",
            "\u202eevil", "%F{red}$(touch ran)"]},
        "$(touch ran)": {"type": "string", "description": "`touch ran`"}, "x; touch ran;": {"type": "string"}}}}"#;
    Project::new()
        .file("server.d/server.meta.json", "{}")
        .script("tools/evil/tool.sh", "#!/bin/sh\n")
        .file("tools/evil/tool.meta.json", metadata)
}

#[test]
fn shells_never_run_text_from_the_project() {
    let project = hostile();
    // bash must read a completion that a person accepts as a single word.
    let bash = "eval \"$(mcp-bash completions bash)\"; for COMP_LINE in 'mcp-bash call ' 'mcp-bash call evil ' \
        'mcp-bash call evil mode=' 'mcp-bash call $(touch ran) ' 'mcp-bash call evil --mode '; do \
        COMP_POINT=${#COMP_LINE} COMP_WORDS=(mcp-bash call '$(touch ran)' '') COMP_CWORD=3; _mcp_bash; \
        for word in \"${COMPREPLY[@]}\"; do eval \"set -- x$word\"; echo \"$# $1\"; done; done";
    let taken = in_shell(&project, "bash", bash).expect("bash");
    assert!(taken.iter().any(|line| line == "1 x$(touch ran)"), "{taken:?}");
    assert!(taken.iter().any(|line| line == "1 x'; touch ran; '"), "{taken:?}");
    assert!(taken.iter().all(|line| line.starts_with("1 x")), "{taken:?}");
    assert!(!taken.iter().any(|line| line.contains('\u{202e}')), "{taken:?}");
    let fish = "mcp-bash completions fish | source; for line in 'mcp-bash call ' 'mcp-bash call evil ' \
        'mcp-bash call evil mode=' 'mcp-bash call evil --mode ' 'mcp-bash call \"$(touch ran)\" '; complete -C $line; end";
    if let Some(offered) = in_shell(&project, "fish", fish) {
        assert!(offered.iter().any(|line| line.contains("$(touch ran)")), "{offered:?}");
        assert!(!offered.iter().any(|line| line.contains(['\u{1b}', '\u{202e}'])), "{offered:?}");
    }
    let zsh = "autoload -U compinit && compinit -u -D; source <(mcp-bash completions zsh); \
        _call_program() { shift; eval \"$*\" }; \
        compadd() { local name=${@[-1]}; print -rl -- ${(P)name} }; \
        for last in '' 'mode=' '$(touch ran)' '`touch ran`'; do \
        words=(mcp-bash call evil $last) CURRENT=4; _mcp-bash; words=(mcp-bash call $last '') CURRENT=4; _mcp-bash; done";
    if let Some(offered) = in_shell(&project, "zsh", zsh) {
        assert!(offered.iter().any(|line| line.contains("$(touch ran)")), "{offered:?}");
    }
    assert!(!project.path("ran").exists());
}
