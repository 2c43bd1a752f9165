//! Hostile templates and URIs. There are no clocks here: visits are counted, and without its memory the search would
//! not end.

use crate::search::{Seen, search};
use crate::{MAX_URI_BYTES, Template, TemplateError, Value};

/// How many pairs of instruction and position are visited for a URI that does not match.
fn looks(template: &str, uri: &str) -> usize {
    let template = Template::parse(template).unwrap();
    let mut seen = Seen::new(template.program(), uri);
    assert_eq!(search(template.program(), uri, &mut seen), None);
    seen.len()
}

#[test]
fn looks_grow_with_the_uri_and_not_with_its_possibilities() {
    let many = "{+a}".repeat(40);
    for template in [
        "{+a}{+b}{+c}{+d}{+e}{+f}!",
        "{+a*,b*,c*,d*}!",
        "{/a*}{/b*}{/c*}{/d*}!",
        "{?a*}{&b*}{&c*}!",
        "{a:40}{b:40}{c:40}!",
        "x{.a*}{.b*}{.c*}!",
        &format!("{many}!"),
    ] {
        for filler in ["a", "/a", ",", "a,a=", ".a", "&a=b", "%C3%A4"] {
            let short = looks(template, &format!("x?{}", filler.repeat(100)));
            let long = looks(template, &format!("x?{}", filler.repeat(200)));
            assert!(long < 5 * short / 2, "{template} on {filler}: {short} became {long}");
        }
    }
}

#[test]
fn the_longest_template_on_the_longest_uri() {
    let template = "{+a}".repeat(1000) + "!";
    assert_eq!(Template::parse(&template).unwrap().matches(&"a".repeat(MAX_URI_BYTES)), None);
}

#[test]
fn longer_uris_match_nothing() {
    let template = Template::parse("{+a}").unwrap();
    assert!(template.matches(&"a".repeat(MAX_URI_BYTES)).is_some());
    assert_eq!(template.matches(&"a".repeat(MAX_URI_BYTES + 1)), None);
    assert_eq!(
        template.matches(&" ".repeat(MAX_URI_BYTES)),
        None,
        "it is longer once it is written properly"
    );
}

#[test]
fn prefixes_that_add_up_are_refused() {
    let template = "{a:3000}".repeat(500);
    assert_eq!(Template::parse(&template).unwrap_err(), TemplateError::TooIntricate);
}

#[test]
fn an_expression_with_very_many_variables() {
    let names: Vec<_> = (0..300).map(|number| format!("v{number}")).collect();
    for sign in ["", "+", "/", "?"] {
        let template = Template::parse(&format!("{{{sign}{}}}", names.join(","))).unwrap();
        assert_eq!(template.variables().len(), 300);
        let found = || [("v0".into(), Value::Text("###".into()))].into();
        assert_eq!(template.matches("###"), (sign == "+").then(found));
    }
}
