//! Property tests: for all arguments, there are as many words as mapped, each equals its value, and none is an option.

use super::*;
use mcp_bash_project::Variable;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn argument(name: &str) -> Template {
    Template { parts: vec![Part::Argument(name.to_owned())] }
}

fn each(name: &str) -> Template {
    Template { parts: vec![Part::Each(name.to_owned())] }
}

fn with_prefix(prefix: &str, template: Template) -> Template {
    let fixed = Part::Fixed(prefix.to_owned());
    Template { parts: [vec![fixed], template.parts].concat() }
}

fn fixed(text: &str) -> Template {
    Template { parts: vec![Part::Fixed(text.to_owned())] }
}

fn word(template: Template) -> Word {
    Word { template, may_begin_with_dash: false, only_harmless: false }
}

fn operand(template: Template) -> Word {
    Word { template, may_begin_with_dash: true, only_harmless: false }
}

fn mapping(words: Vec<Words>) -> Mapping {
    Mapping { words, ..Mapping::default() }
}

/// Texts that have broken other programs.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "-{0,2}[a-z =$`'\"*\n\\\\;|&-]{0,8}",
        Just(String::new()),
        Just("\0".to_owned())
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value as text; `None` if it is absent.
fn expected(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn strings(mapped: Mapped) -> Vec<String> {
    mapped.words.into_iter().map(|word| word.into_string().unwrap()).collect()
}

/// Checks the result of one value in each kind of place.
fn check_value(value: &Value) -> Result<(), TestCaseError> {
    let arguments = json!({ "x": value }).to_string();
    let text = expected(value);
    let has_nul = text.as_ref().is_some_and(|text| text.contains('\0'));
    let begins_with_dash = text.as_ref().is_some_and(|text| text.starts_with('-'));
    let map = |words| map(&mapping(words), &arguments).map(strings);

    let plain = map(vec![Words::Word(word(argument("x"))), Words::Word(word(fixed("end")))]);
    match &text {
        Some(text) if !has_nul && !begins_with_dash => prop_assert_eq!(plain.unwrap(), [text, "end"]),
        _ => prop_assert_eq!(plain.unwrap_err().len(), 1),
    }
    let group = map(vec![Words::Group(vec![word(fixed("--name")), word(argument("x"))])]);
    match &text {
        None => prop_assert_eq!(group.unwrap(), Vec::<String>::new()),
        Some(text) if !has_nul && !begins_with_dash => prop_assert_eq!(group.unwrap(), ["--name", text]),
        Some(_) => prop_assert!(group.is_err()),
    }
    let safe = map(vec![
        Words::Group(vec![word(with_prefix("--name=", argument("x")))]),
        Words::Group(vec![operand(argument("x"))]),
    ]);
    match &text {
        None => prop_assert_eq!(safe.unwrap(), Vec::<String>::new()),
        Some(text) if !has_nul => prop_assert_eq!(safe.unwrap(), [&*format!("--name={text}"), text]),
        Some(_) => prop_assert!(safe.is_err()),
    }
    let flag = map(vec![Words::Flag { word: "-v".to_owned(), argument: "x".to_owned() }]);
    match value {
        Value::Bool(true) => prop_assert_eq!(flag.unwrap(), ["-v"]),
        Value::Bool(false) | Value::Null => prop_assert_eq!(flag.unwrap(), Vec::<String>::new()),
        _ => prop_assert!(flag.is_err()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_value_is_one_word_and_no_option(value in values()) {
        check_value(&value)?;
    }

    #[test]
    fn a_list_is_a_word_for_each_element(elements in prop::collection::vec(values(), 0..6)) {
        let arguments = json!({ "x": elements }).to_string();
        let texts: Vec<String> = elements.iter().filter_map(expected).collect();
        let is_bad = |text: &String| text.contains('\0') || text.starts_with('-');
        let spread = map(&mapping(vec![Words::Word(word(each("x")))]), &arguments).map(strings);
        let repeated = vec![word(fixed("-f")), word(argument("x"))];
        let repeated = Words::Repeated { words: repeated, list: "x".to_owned() };
        let repeated = map(&mapping(vec![repeated]), &arguments).map(strings);
        let prefixed = map(&mapping(vec![Words::Word(word(with_prefix("--f=", each("x"))))]), &arguments).map(strings);
        if texts.iter().any(is_bad) {
            prop_assert!(spread.is_err() && repeated.is_err());
        } else {
            let flagged: Vec<&str> = texts.iter().flat_map(|text| ["-f", text]).collect();
            prop_assert_eq!(repeated.unwrap(), flagged);
            prop_assert_eq!(spread.unwrap(), texts.clone());
        }
        match prefixed {
            Ok(words) => prop_assert_eq!(words, texts.iter().map(|text| format!("--f={text}")).collect::<Vec<_>>()),
            Err(_) => prop_assert!(texts.iter().any(|text| text.contains('\0'))),
        }
    }

    #[test]
    fn variables_and_input_are_the_values_too(value in values()) {
        let all = Mapping {
            variables: vec![Variable { name: "X".to_owned(), value: with_prefix("<", argument("x")), only_harmless: false }],
            input: Some(argument("x")),
            ..Mapping::default()
        };
        let text = expected(&value);
        match map(&all, &json!({ "x": value }).to_string()) {
            Ok(mapped) => {
                let variables = text.iter().map(|text| ("X".to_owned(), format!("<{text}"))).collect::<Vec<_>>();
                prop_assert_eq!(mapped.variables, variables);
                prop_assert_eq!(mapped.input, Some(text.unwrap_or_default()));
            }
            Err(_) => prop_assert!(text.unwrap().contains('\0')),
        }
    }

    #[test]
    fn names_are_found_however_they_are_written(names in prop::collection::btree_set(texts(), 1..6)) {
        let arguments: Map<String, Value> =
            names.iter().enumerate().map(|(index, name)| (name.clone(), index.into())).collect();
        let words = names.iter().map(|name| Words::Word(word(argument(name)))).collect();
        let expected: Vec<String> = (0..names.len()).map(|index| index.to_string()).collect();
        prop_assert_eq!(strings(map(&mapping(words), &json!(arguments).to_string()).unwrap()), expected);
    }
}

#[test]
fn what_is_absent_has_its_default_and_all_problems_are_told() {
    let words = vec![
        Words::Word(word(argument("a"))),
        Words::Word(word(argument("b"))),
        Words::Word(word(argument("c"))),
    ];
    let with_default = Mapping { defaults: vec![("a".to_owned(), "1.50".to_owned())], ..mapping(words) };
    let problems = map(&with_default, r#"{"c": "-x"}"#).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert!(
        problems[0].contains("`b` is missing") && problems[1].contains("`c` must not begin"),
        "{problems:?}"
    );
    let words = strings(map(&with_default, r#"{"b": 1.10, "c": "", "a": null}"#).unwrap());
    assert_eq!(words, ["1.50", "1.10", ""]);
}

#[test]
fn half_a_character_is_refused() {
    let words = vec![Words::Word(word(argument("x")))];
    assert!(map(&mapping(words), r#"{"x": "\ud800"}"#).unwrap_err()[0].contains("half of a character"));
}

/// The result of a value in each kind of restricted place.
fn restricted_places(value: &Value, all: Mapping) -> Vec<Result<Mapped, Vec<Problem>>> {
    let only_harmless = |template| Word { only_harmless: true, ..word(template) };
    let variable = Variable { name: "X".to_owned(), value: argument("x"), only_harmless: true };
    let list = Words::Repeated { words: vec![only_harmless(argument("x"))], list: "x".to_owned() };
    let places = [
        Mapping { words: vec![Words::Word(only_harmless(argument("x")))], ..all.clone() },
        Mapping { words: vec![Words::Word(only_harmless(with_prefix("N=", argument("x"))))], ..all.clone() },
        Mapping {
            words: vec![Words::Group(vec![word(fixed("--")), only_harmless(argument("x"))])],
            ..all.clone()
        },
        Mapping { variables: vec![variable], ..all.clone() },
        Mapping { input: Some(argument("x")), input_only_harmless: true, ..all.clone() },
    ];
    let one = json!({ "x": value }).to_string();
    let many = json!({ "x": [value] }).to_string();
    let lists = [
        Mapping { words: vec![list], ..all.clone() },
        Mapping { words: vec![Words::Word(only_harmless(each("x")))], ..all },
    ];
    let lists = lists.iter().map(|mapping| map(mapping, &many));
    places.iter().map(|mapping| map(mapping, &one)).chain(lists).collect()
}

proptest! {
    #[test]
    fn a_restricted_place_takes_harmless_values_alone(value in texts()) {
        for mapped in restricted_places(&value.clone().into(), Mapping::default()) {
            prop_assert_eq!(mapped.is_ok(), is_harmless(&value), "{:?}", mapped);
        }
    }
}

#[test]
fn what_the_author_has_chosen_is_not_restricted() {
    let value = json!("a b; c");
    assert!(restricted_places(&value, Mapping::default()).iter().all(|mapped| {
        mapped.as_ref().is_err_and(|problems| problems[0].contains("could be taken for code"))
    }));
    let exempt = Mapping { exempt: vec!["x".to_owned()], ..Mapping::default() };
    assert!(restricted_places(&value, exempt).iter().all(Result::is_ok));
    let default = Mapping { defaults: vec![("x".to_owned(), value.to_string())], ..Mapping::default() };
    assert!(restricted_places(&value, default).iter().all(Result::is_ok));
}
