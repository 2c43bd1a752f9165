"""The Chat Completions API of OpenAI, which many other providers speak too."""

import json
from .conversation import Answer, Conversation, Result, Tool, data_of_url, joined_text
from .events import event

USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}


def serves(path):
    return path.endswith("/chat/completions")


def read(body):
    messages = body.get("messages", [])
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    functions = [tool["function"] for tool in body.get("tools") or [] if tool["type"] == "function"]
    return Conversation(
        tools=[Tool(function["name"], function.get("description", ""), function["parameters"]) for function in functions],
        results=[
            Result(message["tool_call_id"], joined_text(message["content"]))
            for message in messages
            if message["role"] == "tool"
        ],
        pictures=[data_of_url(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"],
    )


def message(reply):
    if isinstance(reply, Answer):
        return {"role": "assistant", "content": reply.text}
    function = {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": reply.id, "type": "function", "function": function}]}


def finish_reason(reply):
    return "stop" if isinstance(reply, Answer) else "tool_calls"


def envelope(kind, reply, body, choice):
    choices = [{"index": 0, **choice}]
    return {"id": f"chat_{reply.id}", "object": kind, "created": 1, "model": body["model"], "choices": choices}


def whole(reply, body):
    choice = {"message": message(reply), "finish_reason": finish_reason(reply)}
    return {**envelope("chat.completion", reply, body, choice), "usage": USAGE}


def stream(reply, body):
    delta = message(reply)
    for number, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = number
    yield event(envelope("chat.completion.chunk", reply, body, {"delta": delta, "finish_reason": None}))
    last = envelope("chat.completion.chunk", reply, body, {"delta": {}, "finish_reason": finish_reason(reply)})
    yield event({**last, "usage": USAGE})
    yield b"data: [DONE]\n\n"
