//! Expanding and matching undo each other, whatever the values are.

use crate::{Template, Value, Values, scheme};
use proptest::prelude::*;

/// Templates in which every variable can be told from its neighbours.
const UNAMBIGUOUS: [&str; 10] = [
    "logs/{a}/{b}.log",
    "{/a,b}",
    "{?a,b}",
    "x{;a,b}/y",
    "?x=1{&a,b}",
    "{a}{?b}",
    "{a}{#b}",
    "{a}/{+b}",
    "{a}{/b:9999}",
    "{a,b}",
];

proptest! {
    #[test]
    fn texts_come_back(index in 0..UNAMBIGUOUS.len(), a in "\\PC{1,12}", b in "\\PC{1,12}") {
        let template = Template::parse(UNAMBIGUOUS[index]).unwrap();
        // Reserved expansion keeps what looks like an escape, so that a percent sign would not come back.
        let b = b.replace('%', "_");
        let values = Values::from([("a".to_owned(), Value::Text(a)), ("b".to_owned(), Value::Text(b))]);
        let uri = template.expand(&values).unwrap();
        prop_assert_eq!(template.matches(&uri), Some(values), "{}", uri);
    }

    #[test]
    fn lists_and_maps_come_back(
        items in prop::collection::vec("\\PC{0,8}", 1..5),
        pairs in prop::collection::vec(("[b-zB-Z&= %/]{1,8}", "\\PC{0,8}"), 1..5),
    ) {
        let values = Values::from([("a".to_owned(), Value::List(items)), ("z".to_owned(), Value::Map(pairs))]);
        let pairs_are_foreign = matches!(&values["z"], Value::Map(pairs) if pairs.iter().all(|(key, _)| key != "z"));
        prop_assume!(pairs_are_foreign);
        let template = Template::parse("{/a*}{?z*}").unwrap();
        let uri = template.expand(&values).unwrap();
        prop_assert_eq!(template.matches(&uri), Some(values), "{}", uri);
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
