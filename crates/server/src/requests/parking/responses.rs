//! `inputResponses`: matches the answers of a client with the questions.

use super::parked::PendingQuestion;
use crate::requests::request_state::Round;
use mcp_bash_wire::{Object, Raw, RawBuf};

/// Stores the answers that match open questions. Others are ignored.
pub(super) fn fill(questions: &mut [PendingQuestion], responses: Raw<'_>) {
    for question in questions.iter_mut().filter(|question| question.answer.is_none()) {
        question.answer = response(responses, &question.key)
            .filter(|answer| is_answer(question.method, *answer))
            .map(RawBuf::from);
    }
}

fn response<'a>(responses: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    Object::read(responses, "inputResponses", &[key]).ok()?.get(key)
}

/// Adds the new answers to the earlier rounds. Whether they match is checked when the questions are asked.
pub(super) fn answered(mut rounds: Vec<Round>, responses: Option<Raw<'_>>) -> Vec<Round> {
    let open = rounds.iter_mut().flat_map(|round| &mut round.0).filter(|entry| entry.answer.is_none());
    for entry in open {
        entry.answer = responses.and_then(|all| response(all, &entry.key)).map(|answer| answer.text().into());
    }
    rounds
}

/// Whether this is a valid answer to a question of this method.
pub(crate) fn is_answer(method: &str, answer: Raw<'_>) -> bool {
    let Ok(members) = Object::read(answer, "the answer", &["action", "content", "roots"]) else {
        return false;
    };
    match method {
        "elicitation/create" => members
            .get("action")
            .and_then(Raw::string)
            .is_some_and(|action| ["accept", "decline", "cancel"].contains(&&*action)),
        "sampling/createMessage" => {
            members.get("content").is_some_and(|content| content.is_object() || content.is_array())
        }
        _ => members.get("roots").is_some_and(Raw::is_array),
    }
}
