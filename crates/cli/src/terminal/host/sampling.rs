//! `sampling/createMessage`, answered by the user instead of a model.

use super::person::Person;
use serde_json::{Value, json};

pub(super) fn reply(person: &mut Person, params: &Value) -> Result<Value, String> {
    person.show("\nThe server asks a model. There is none here: you can answer in its place.\n");
    if let Some(system) = params["systemPrompt"].as_str() {
        person.show(&format!("system: {system}\n"));
    }
    for message in params["messages"].as_array().into_iter().flatten() {
        person.show(&format!(
            "{}: {}\n",
            message["role"].as_str().unwrap_or("user"),
            text_of(&message["content"])
        ));
    }
    person.show("Your answer; a line with a single `.` ends it, and nothing before that refuses:\n");
    let mut lines: Vec<String> = Vec::new();
    while let Some(line) = person.line("") {
        if line == "." {
            break;
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Err("the user refused to answer in place of a model".to_owned());
    }
    Ok(json!({
        "role": "assistant",
        "content": { "type": "text", "text": lines.join("\n") },
        "model": "a person",
        "stopReason": "endTurn",
    }))
}

fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        content if content["type"] == "text" => content["text"].as_str().unwrap_or_default().to_owned(),
        content => format!("[{}]", content["type"].as_str().unwrap_or("something")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_answers_in_place_of_a_model_or_refuses() {
        let params =
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "Say hi" } }] });
        let mut person = Person::who_types("hi\nthere\n.\n.\n", std::io::sink());
        assert_eq!(reply(&mut person, &params).unwrap()["content"]["text"], "hi\nthere");
        assert!(reply(&mut person, &params).is_err());
    }
}
