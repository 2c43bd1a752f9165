//! `mcpb.conf`: the keys of a bundle. Other programs source the file in a shell. Here it is data: assignments of plain text,
//! and everything that a shell would run or replace is refused with its line.

use crate::error::PackagingError;
use mcp_bash_spelling::nearest;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// All keys.
pub(crate) const KEYS: [&str; 22] = [
    "MCPB_NAME",
    "MCPB_VERSION",
    "MCPB_DESCRIPTION",
    "MCPB_AUTHOR_NAME",
    "MCPB_AUTHOR_EMAIL",
    "MCPB_AUTHOR_URL",
    "MCPB_REPOSITORY",
    "MCPB_INCLUDE",
    "MCPB_STATIC",
    "MCPB_LICENSE",
    "MCPB_KEYWORDS",
    "MCPB_HOMEPAGE",
    "MCPB_DOCUMENTATION",
    "MCPB_SUPPORT",
    "MCPB_PRIVACY_POLICIES",
    "MCPB_COMPAT_CLAUDE_DESKTOP",
    "MCPB_RUNTIME_PYTHON",
    "MCPB_RUNTIME_NODE",
    "MCPB_LONG_DESCRIPTION_FILE",
    "MCPB_USER_CONFIG_FILE",
    "MCPB_USER_CONFIG_ENV_MAP",
    "MCPB_USER_CONFIG_ARGS_MAP",
];

/// The values by key, each with its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    values: BTreeMap<&'static str, (String, usize)>,
}

impl Conf {
    pub fn parse(text: &str) -> Result<Self, PackagingError> {
        let mut reader = Reader { left: text.trim_start_matches('\u{feff}').chars().peekable(), line: 1 };
        let mut values: BTreeMap<&'static str, (String, usize)> = BTreeMap::new();
        while reader.skip_to_word() {
            let line = reader.line;
            let (key, value) = reader.assignment()?;
            if let Some((_, first)) = values.get(key) {
                return Err(PackagingError::Twice { line, key: key.to_owned(), first: *first });
            }
            values.insert(key, (value, line));
        }
        Ok(Self { values })
    }

    /// The text of a key, unless it is empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The words of a key, with commas or blanks between them.
    pub fn words(&self, key: &str) -> Vec<String> {
        let is_between = |sign: char| sign == ',' || sign.is_whitespace();
        let words = self.get(key).unwrap_or_default().split(is_between).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// The error of a key whose value cannot be used.
    pub fn wrong(&self, key: &'static str, problem: impl Into<String>) -> PackagingError {
        let line = self.values.get(key).map_or(0, |(_, line)| *line);
        PackagingError::Value { line, key, problem: problem.into() }
    }
}

struct Reader<'t> {
    left: Peekable<Chars<'t>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let sign = self.left.next();
        self.line += usize::from(sign == Some('\n'));
        sign
    }

    /// Skips blanks and comments. False at the end.
    fn skip_to_word(&mut self) -> bool {
        while let Some(sign) = self.left.peek().copied() {
            match sign {
                '#' => self.skip_line(),
                sign if sign.is_whitespace() => {
                    self.next();
                }
                _ => return true,
            }
        }
        false
    }

    fn skip_line(&mut self) {
        while self.left.peek().is_some_and(|sign| *sign != '\n') {
            self.next();
        }
    }

    fn assignment(&mut self) -> Result<(&'static str, String), PackagingError> {
        let line = self.line;
        let mut key = self.name();
        if key == "export" && self.left.peek() == Some(&' ') {
            while self.left.next_if_eq(&' ').is_some() {}
            key = self.name();
        }
        if key.is_empty() || self.left.next_if_eq(&'=').is_none() {
            let rest: String = self.left.by_ref().take_while(|sign| *sign != '\n').take(40).collect();
            return Err(PackagingError::NotAnAssignment { line, found: key + &rest });
        }
        let Some(known) = KEYS.into_iter().find(|known| *known == key) else {
            let suggestion = nearest(&key, KEYS);
            return Err(PackagingError::UnknownKey { line, key, suggestion });
        };
        Ok((known, self.value(&key)?))
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(sign) = self.left.next_if(|sign| sign.is_ascii_alphanumeric() || *sign == '_') {
            name.push(sign);
        }
        name
    }

    /// Words in quotes and without, up to a blank.
    fn value(&mut self, key: &str) -> Result<String, PackagingError> {
        let line = self.line;
        let runs = |line, what| PackagingError::Runs { line, key: key.to_owned(), what };
        let mut value = String::new();
        while let Some(sign) = self.left.peek().copied() {
            match sign {
                sign if sign.is_whitespace() => break,
                quote @ ('\'' | '"') => {
                    self.next();
                    self.quoted(quote, key, &mut value)?;
                }
                '$' | '`' => return Err(runs(line, "a `$` or a backquote")),
                ';' | '&' | '|' | '<' | '>' => return Err(runs(line, "a sign that ends a command")),
                '(' | ')' => {
                    return Err(runs(line, "parentheses (write the words in quotes, with blanks between)"));
                }
                '*' | '?' | '[' | '{' | '~' => return Err(runs(line, "a pattern of file names")),
                '\\' => {
                    self.next();
                    value.extend(self.next().filter(|sign| *sign != '\n'));
                }
                sign => {
                    self.next();
                    value.push(sign);
                }
            }
        }
        self.end_of_assignment(key)?;
        Ok(value)
    }

    /// After a value there is nothing but a comment: `KEY=value command` would run the command.
    fn end_of_assignment(&mut self, key: &str) -> Result<(), PackagingError> {
        let line = self.line;
        while self.left.next_if(|sign| *sign == ' ' || *sign == '\t' || *sign == '\r').is_some() {}
        match self.left.peek() {
            None | Some('\n') => Ok(()),
            Some('#') => {
                self.skip_line();
                Ok(())
            }
            Some(_) => {
                Err(PackagingError::Runs { line, key: key.to_owned(), what: "more words after its value" })
            }
        }
    }

    fn quoted(&mut self, quote: char, key: &str, value: &mut String) -> Result<(), PackagingError> {
        let line = self.line;
        let open = || PackagingError::OpenQuote { line, key: key.to_owned(), quote };
        loop {
            match self.next().ok_or_else(open)? {
                sign if sign == quote => return Ok(()),
                '$' | '`' if quote == '"' => {
                    let what = "a `$` or a backquote in double quotes";
                    return Err(PackagingError::Runs { line: self.line, key: key.to_owned(), what });
                }
                '\\' if quote == '"' => match self.next().ok_or_else(open)? {
                    sign @ ('"' | '\\' | '$' | '`') => value.push(sign),
                    '\n' => {}
                    sign => value.extend(['\\', sign]),
                },
                sign => value.push(sign),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn assignments_are_read_as_a_shell_would_read_them() {
        let text = "# a bundle\nMCPB_NAME=\"my-server\" # named\nexport MCPB_VERSION='1.0.0'\n\
                    MCPB_DESCRIPTION=\"Says \\\"hi\\\" for 5 \\$\"\nMCPB_INCLUDE=\"data config/x\"\n\
                    MCPB_KEYWORDS=a,b\nMCPB_LICENSE=MIT\r\nMCPB_SUPPORT='a\nb'\n\tMCPB_STATIC=\n";
        let conf = Conf::parse(text).unwrap();
        assert_eq!(conf.get("MCPB_NAME"), Some("my-server"));
        assert_eq!(conf.get("MCPB_VERSION"), Some("1.0.0"));
        assert_eq!(conf.get("MCPB_DESCRIPTION"), Some("Says \"hi\" for 5 $"));
        assert_eq!(conf.words("MCPB_INCLUDE"), ["data", "config/x"]);
        assert_eq!(conf.words("MCPB_KEYWORDS"), ["a", "b"]);
        assert_eq!((conf.get("MCPB_LICENSE"), conf.get("MCPB_SUPPORT")), (Some("MIT"), Some("a\nb")));
        assert_eq!(conf.get("MCPB_STATIC"), None);
    }

    #[test]
    fn nothing_that_a_shell_would_run_is_taken() {
        for (text, line, said) in [
            ("MCPB_NAME=$(rm -rf ~)", 1, "a `$`"),
            ("\nMCPB_NAME=\"x $(rm -rf ~)\"", 2, "in double quotes"),
            ("MCPB_NAME=`id`", 1, "backquote"),
            ("MCPB_NAME=\"${HOME}\"", 1, "a `$`"),
            ("MCPB_NAME=x; rm -rf ~", 1, "ends a command"),
            ("MCPB_NAME=x rm -rf ~", 1, "more words"),
            ("MCPB_NAME=x&", 1, "ends a command"),
            ("MCPB_INCLUDE=(a b)", 1, "parentheses"),
            ("MCPB_INCLUDE=data/*", 1, "a pattern"),
            ("MCPB_NAME=x\nrm -rf ~", 2, "expected KEY=VALUE, and found `rm"),
            ("source ~/.bashrc", 1, "expected KEY=VALUE"),
            ("if true; then", 1, "expected KEY=VALUE"),
            ("MCPB_NAME+=x", 1, "expected KEY=VALUE"),
            ("# x\nMCPB_NAM=x", 2, "did you mean MCPB_NAME?"),
            ("PATH=/tmp", 1, "no key of a bundle"),
            ("MCPB_NAME='x", 1, "no closing '"),
            ("MCPB_NAME=a\nMCPB_NAME=b", 2, "first in line 1"),
        ] {
            let error = Conf::parse(text).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains(&format!("mcpb.conf:{line}:")), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(MCPB_NAME|export |[=\"'$`\\\\# \n(x;])*") {
            let _ = Conf::parse(&text);
        }
    }
}
