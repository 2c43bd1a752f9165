//! Differences of this jq from every jq it is compared with. `docs/jq.md` documents them for users.

use crate::corpus::Case;

/// The reason, and a case that shows it.
#[rustfmt::skip]
pub(crate) const DIFFERENCES: &[(&str, Case)] = &[
    ("A time without a date cannot be parsed", (&["-nc", "\"10:20\"|strptime(\"%H:%M\")"], "")),
    ("A number at the very end of input is whole, also with --seq", (&["--seq", "-c", "."], "1")),
    ("`.a?//b` needs no space before `//`", (&["-nc", ".a?//1"], "")),
    ("`$` matches at the very end only, not before a last newline", (&["-nc", "\"a\\n\"|test(\"a$\")"], "")),
    ("All bytes of invalid UTF-8 in decoded Base64 are shown", (&["-nc", "@base64d"], "")),
    ("There are no modules", (&["-nc", "modulemeta"], "")),
    ("There is no search path for modules", (&["-nc", "get_search_list"], "")),
];
