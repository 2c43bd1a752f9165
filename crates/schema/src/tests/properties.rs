//! Properties that hold for any schema and any value.

use super::strategies::{any_schema, any_value, misspelled, named_schema, near_schema, schema_for};
use crate::Schema;
use proptest::prelude::*;
use std::borrow::Cow;

/// The problems without the name of the whole value.
fn told(problems: &[crate::Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.to_string().replace("the value", "arguments")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_check_keeps_its_promises(schema in any_schema(), value in any_value()) {
        let compiled = Schema::compile(&schema.to_string()).unwrap();
        let text = value.to_string();
        match (compiled.check_value(&text), compiled.check(&text)) {
            (Ok(()), checked) => prop_assert_eq!(checked.unwrap().text, Cow::Borrowed(text.as_str())),
            (Err(_), Ok(checked)) => {
                prop_assert!(checked.is_coerced());
                prop_assert!(compiled.check_value(&checked.text).is_ok(), "{}", checked.text);
            }
            (Err(problems), Err(fewer)) => {
                // Except for each `null` that means nothing.
                let (all, fewer) = (told(&problems), told(&fewer));
                let is_of_null = |problem: &String| {
                    problem.contains("null was given") || problem.contains("null fits more than one")
                };
                let is_told = |problem: &String| fewer.contains(problem) || is_of_null(problem);
                prop_assert!(all.len() == 21 || all.iter().all(is_told), "{:?} {:?}", all, fewer);
                prop_assert!(all.len() == 21 || fewer.iter().all(|problem| all.contains(problem)), "{:?}", fewer);
                prop_assert!(!fewer.is_empty() && fewer.len() <= 21);
                for problem in &problems {
                    prop_assert!(problem.to_string().len() < 2000, "{}", problem);
                }
            }
        }
    }

    #[test]
    fn misspelled_names_are_corrected((value, given) in misspelled()) {
        let schema = Schema::compile(&schema_for(&value).to_string()).unwrap();
        let text = given.to_string();
        let checked = schema.check(&text).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
        prop_assert_eq!(checked.is_coerced(), value != given);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&checked.text).unwrap(), value);
    }

    #[test]
    fn other_names_keep_their_spelling(before in "[1-9][0-9]{0,30}(\\.[0-9]{1,20})?", count in 0i64..1000) {
        let schema = Schema::compile(r#"{"properties": {"n": {"type": "integer"}}}"#).unwrap();
        let text = format!(r#"{{"a" :{before} ,"n": "{count}", "z":[ {before}]}}"#);
        let expected = format!(r#"{{"a" :{before} ,"n": {count}, "z":[ {before}]}}"#);
        prop_assert_eq!(schema.check(&text).unwrap().text, expected);
    }

    #[test]
    fn no_name_and_no_reference_makes_it_panic(schema in named_schema(), value in any_value()) {
        if let Ok(schema) = Schema::compile(&schema.to_string()) {
            let _ = schema.check(&value.to_string());
        }
    }

    #[test]
    fn no_text_makes_it_panic(schema in near_schema(), value in near_schema()) {
        if let Ok(schema) = Schema::compile(&schema) {
            let _ = schema.check(&value);
            let _ = schema.check_value(&value);
        }
    }
}
