//! The code of a Perl script, without documentation, comments and here-documents, and the blocks in it.

/// As many bytes as are looked at before and after a word. Looking further for each of them would take long.
const LONGEST_STATEMENT: usize = 500;

/// The same for the block of an option, which may hold others.
const LONGEST_BRANCH: usize = 4000;

pub(super) fn end_of_call(body: &str) -> usize {
    let mut depth = 1_usize;
    let mut quote = None;
    for (index, letter) in body.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    body.len()
}

/// The text without documentation, lines that are comments, and here-documents.
pub(super) fn code(text: &str) -> String {
    let text = text.split("\n__END__").next().unwrap_or(text);
    let mut is_pod = false;
    let mut until: Option<String> = None;
    let mut code = String::new();
    for line in text.lines() {
        if let Some(end) = &until {
            if line.trim() == end {
                until = None;
            }
            continue;
        }
        if line.starts_with("=cut") {
            is_pod = false;
            continue;
        }
        is_pod |=
            ["=head", "=pod", "=over", "=item", "=for", "=begin"].iter().any(|mark| line.starts_with(mark));
        if !is_pod && !line.trim_start().starts_with('#') {
            until = here_document(line);
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// The word that ends the here-document that a line begins.
fn here_document(line: &str) -> Option<String> {
    let rest = line.split_once("<<")?.1;
    let rest = rest.strip_prefix('~').unwrap_or(rest);
    let (quote, rest) = match rest.chars().next()? {
        quote @ ('"' | '\'') => (Some(quote), &rest[1..]),
        letter if letter.is_ascii_uppercase() => (None, rest),
        _ => return None,
    };
    let is_end =
        |letter: char| quote.map_or(!letter.is_alphanumeric() && letter != '_', |quote| letter == quote);
    let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    (!word.is_empty()).then(|| word.to_owned())
}

/// How many more braces are opened than closed before each of these places, which are in order.
pub(super) fn depths(text: &str, places: &[usize]) -> Vec<i64> {
    let (mut depth, mut at) = (0, 0);
    let mut depth_at = |place: usize| {
        for byte in text[at..place].bytes() {
            depth += i64::from(byte == b'{') - i64::from(byte == b'}');
        }
        at = place;
        depth
    };
    places.iter().map(|place| depth_at(*place)).collect()
}

/// The last bytes of a text, enough for any statement.
pub(super) fn last_part(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST_STATEMENT);
    (start..=text.len()).find_map(|start| text.get(start..)).unwrap_or_default()
}

/// The first bytes of a text, enough for any statement.
pub(super) fn first_part(text: &str) -> &str {
    beginning(text, LONGEST_STATEMENT)
}

fn beginning(text: &str, most: usize) -> &str {
    (0..=most.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// The block of an option, whose opening brace is before the text, or as much of it as is looked at.
pub(super) fn branch(text: &str) -> &str {
    let text = beginning(text, LONGEST_BRANCH);
    &text[..end_of_block(text)]
}

/// The length of a block whose opening brace is before the text.
pub(super) fn end_of_block(text: &str) -> usize {
    let mut depth = 1_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The code outside of functions.
pub(super) fn outside_of_functions(code: &str) -> String {
    let mut outside = String::new();
    let mut at = 0;
    for index in words_at(code, "sub") {
        if index < at {
            continue;
        }
        let following = first_part(&code[index..]);
        let Some(open) = following.find(['{', ';']).filter(|open| following[*open..].starts_with('{')) else {
            continue;
        };
        outside.push_str(&code[at..index]);
        let body = index + open + 1;
        at = (body + end_of_block(&code[body..]) + 1).min(code.len());
    }
    outside.push_str(&code[at..]);
    outside
}

/// Where a word begins, as a whole word that is no variable.
pub(super) fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '@' | '%' | '>');
    text.match_indices(word).map(|(index, _)| index).filter(move |index| {
        !text[..*index].ends_with(is_part)
            && !text[index + word.len()..]
                .starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    })
}

/// The name of the variable that a text ends with, with its sign.
pub(super) fn last_variable(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let start = text.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    (matches!(text.as_bytes()[start], b'$' | b'@') && start + 1 < text.len()).then(|| &text[start..])
}

/// Where words are taken off the front of `@ARGV`.
pub(super) fn shifts(text: &str) -> Vec<usize> {
    let takes = |index: &usize| {
        let rest = text[index + 5..].trim_start();
        let named = rest.strip_prefix('(').unwrap_or(rest).trim_start();
        named.starts_with("@ARGV")
            || named.starts_with(')')
            || rest.starts_with([';', '|', '/', ')', '}'])
            || rest.starts_with("or ")
    };
    words_at(text, "shift").filter(takes).collect()
}
