//! Inline dependencies of a Python file, in a comment (PEP 723).

use std::path::Path;

/// How much of the beginning of a file is searched, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// Whether a file has any. `uv` reads the details.
pub(super) fn are_in(file: &Path) -> bool {
    let text = mcp_bash_files::open(file).and_then(|file| mcp_bash_files::read_all_text(&file, LONGEST));
    text.is_ok_and(|text| has_block(&text))
}

/// `# /// script`, comments, `# ///`.
fn has_block(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| *line != "# /// script");
    lines.next().is_some() && lines.take_while(|line| line.starts_with('#')).any(|line| line == "# ///")
}

#[cfg(test)]
mod tests {
    use super::has_block;

    #[test]
    fn a_block_has_a_beginning_and_an_end() {
        assert!(has_block("#!/x\n# /// script\n# dependencies = [\"rich\"]\n# ///\nimport rich\n"));
        assert!(has_block("# /// script\r\n# ///\r\n"));
        for text in [
            "",
            "# /// script\n# dependencies = []\n",
            "# /// script\n\n# ///\n",
            "x = '# /// script'\n# ///\n",
        ] {
            assert!(!has_block(text), "{text:?}");
        }
    }
}
