//! Properties: values that were written into a URI are found in it, whatever they are.

use crate::percent::{self, Keep};
use crate::{Template, Value, Values, scheme};
use proptest::prelude::*;

/// Templates in which every variable can be told from its neighbours, each with a matching URI: `A` and `B` are the
/// places of its values.
const UNAMBIGUOUS: [(&str, &str); 10] = [
    ("logs/{a}/{b}.log", "logs/A/B.log"),
    ("{/a,b}", "/A/B"),
    ("{?a,b}", "?a=A&b=B"),
    ("x{;a,b}/y", "x;a=A;b=B/y"),
    ("?x=1{&a,b}", "?x=1&a=A&b=B"),
    ("{a}{?b}", "A?b=B"),
    ("{a}{#b}", "A#B"),
    ("{a}/{+b}", "A/B"),
    ("{a}{/b:9999}", "A/B"),
    ("{a,b}", "A,B"),
];

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    percent::encode_into(&mut encoded, text, Keep::Unreserved);
    encoded
}

proptest! {
    #[test]
    fn texts_come_back(index in 0..UNAMBIGUOUS.len(), a in "\\PC{1,12}", b in "\\PC{1,12}") {
        let (template, uri) = UNAMBIGUOUS[index];
        let place = |char| match char {
            'A' => encoded(&a),
            'B' => encoded(&b),
            other => other.to_string(),
        };
        let uri: String = uri.chars().map(place).collect();
        let values = Values::from([("a".to_owned(), Value::Text(a)), ("b".to_owned(), Value::Text(b))]);
        prop_assert_eq!(Template::parse(template).unwrap().matches(&uri), Some(values), "{}", uri);
    }

    #[test]
    fn lists_and_maps_come_back(
        items in prop::collection::vec("\\PC{0,8}", 1..5),
        pairs in prop::collection::vec(("[b-yB-Z&= %/]{1,8}", "\\PC{0,8}"), 1..5),
    ) {
        let path: Vec<_> = items.iter().map(|item| encoded(item)).collect();
        let query = pairs.iter().map(|(key, value)| format!("{}={}", encoded(key), encoded(value)));
        let uri = format!("/{}?{}", path.join("/"), query.collect::<Vec<_>>().join("&"));
        let values = Values::from([("a".to_owned(), Value::List(items)), ("z".to_owned(), Value::Map(pairs))]);
        prop_assert_eq!(Template::parse("{/a*}{?z*}").unwrap().matches(&uri), Some(values), "{}", uri);
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,40}", uri in "\\PC{0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let _ = template.matches(&uri);
        }
        if let Some(scheme) = scheme(&uri) {
            prop_assert!(uri[scheme.len()..].starts_with(':'));
        }
    }
}
