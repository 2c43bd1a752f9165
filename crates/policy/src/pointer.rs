//! JSON pointers with wildcards: `/rows/*/email` names the member `email` of every element of `rows`.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Any,
    Named(String),
}

/// The longest pointer, in steps.
const LONGEST: usize = 32;

impl Pointer {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let steps = text.strip_prefix('/')?.split('/').map(|step| match step {
            "*" => Some(Step::Any),
            step => unescape(step).map(Step::Named),
        });
        let steps: Vec<Step> = steps.collect::<Option<_>>()?;
        (steps.len() <= LONGEST).then_some(Self(steps))
    }

    /// Replaces every value that the pointer names. Returns whether there was one, and how many values were looked at.
    pub(crate) fn replace(&self, value: &mut Value, by: &str) -> (bool, usize) {
        let mut looked_at = 0;
        let was_there = replace(&self.0, value, by, &mut looked_at);
        (was_there, looked_at)
    }
}

fn unescape(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let letter = match part.as_bytes().first()? {
            b'0' => '~',
            b'1' => '/',
            _ => return None,
        };
        text.push(letter);
        text.push_str(&part[1..]);
    }
    Some(text)
}

fn replace(steps: &[Step], value: &mut Value, by: &str, looked_at: &mut usize) -> bool {
    *looked_at += 1;
    let Some((step, rest)) = steps.split_first() else {
        *value = Value::String(by.to_owned());
        return true;
    };
    let mut was_there = false;
    let mut go_on = |inner: &mut Value| was_there |= replace(rest, inner, by, looked_at);
    match (step, value) {
        (Step::Any, Value::Array(items)) => items.iter_mut().for_each(go_on),
        (Step::Any, Value::Object(members)) => members.values_mut().for_each(go_on),
        (Step::Named(name), Value::Object(members)) => {
            members.get_mut(name).into_iter().for_each(go_on);
        }
        (Step::Named(name), Value::Array(items)) => {
            if let Some(item) = name.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                go_on(item);
            }
        }
        _ => {}
    }
    was_there
}
