//! Script language: from the interpreter line, or the ending of the file.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptLanguage {
    Shell,
    Python,
    Node,
    Perl,
    /// A script for an interpreter that is not read.
    Other,
}

/// Endings of files without an interpreter line.
const ENDINGS: [(&str, ScriptLanguage); 10] = [
    ("bash", ScriptLanguage::Shell),
    ("cjs", ScriptLanguage::Node),
    ("js", ScriptLanguage::Node),
    ("ksh", ScriptLanguage::Shell),
    ("mjs", ScriptLanguage::Node),
    ("pl", ScriptLanguage::Perl),
    ("py", ScriptLanguage::Python),
    ("rb", ScriptLanguage::Other),
    ("sh", ScriptLanguage::Shell),
    ("zsh", ScriptLanguage::Shell),
];

impl ScriptLanguage {
    /// The language of a file by its beginning and its name; `None` if it is no script.
    pub fn of(start: &[u8], name: &str) -> Option<Self> {
        if let Some(interpreter) = interpreter(start) {
            let name = interpreter.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            return Some(match name {
                "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" => Self::Shell,
                "python" | "pypy" | "uv" => Self::Python,
                "node" | "nodejs" | "bun" | "deno" => Self::Node,
                "perl" => Self::Perl,
                _ => Self::Other,
            });
        }
        let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
        ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, language)| *language)
    }

    /// The program that runs a file that cannot be run by itself.
    pub fn default_interpreter(self) -> Option<&'static str> {
        match self {
            Self::Shell => Some("bash"),
            Self::Python => Some("python3"),
            Self::Node => Some("node"),
            Self::Perl => Some("perl"),
            Self::Other => None,
        }
    }
}

/// The program in `#!/usr/bin/env bash` or `#!/bin/sh -e`, without its folder.
pub fn interpreter(start: &[u8]) -> Option<String> {
    let line = start.strip_prefix(b"#!")?;
    let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len()).min(250);
    let line = std::str::from_utf8(&line[..end]).ok()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = words.next()?;
    let name = if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('='))?
    } else {
        first
    };
    (!name.is_empty()).then(|| name.to_owned())
}
