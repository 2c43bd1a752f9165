//! The code blocks of a page.

pub(crate) struct Block<'a> {
    pub(crate) language: &'a str,
    /// The path of the block's file, in the project of its page.
    pub(crate) file: Option<&'a str>,
    pub(crate) text: &'a str,
    /// The line where it begins, counted from 1.
    pub(crate) line: usize,
}

impl<'a> Block<'a> {
    pub(crate) fn all(page: &'a str) -> Vec<Self> {
        let (mut found, mut open, mut position) = (Vec::new(), None, 0);
        for (number, line) in page.split_inclusive('\n').enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (open, fence) {
                (None, Some(info)) => open = Some((info.trim(), position + line.len(), number + 1)),
                (Some((info, start, number)), Some(_)) => {
                    found.push(Self::new(info, &page[start..position], number));
                    open = None;
                }
                _ => {}
            }
            position += line.len();
        }
        assert!(open.is_none(), "a block without an end");
        found
    }

    fn new(info: &'a str, text: &'a str, line: usize) -> Self {
        let (language, file) =
            info.split_once(' ').map_or((info, None), |(language, file)| (language, Some(file)));
        Self { language, file, text, line }
    }
}
