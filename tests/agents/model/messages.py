"""The Messages API of Anthropic."""

import json
from .conversation import Answer, Conversation, Result, Tool, joined_text
from .events import event

USAGE = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def serves(path):
    return path.endswith("/v1/messages")


def read(body):
    blocks = [
        block
        for message in body.get("messages", [])
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = [block for block in blocks if block["type"] == "tool_result"]
    inner = [part for block in results if isinstance(block.get("content"), list) for part in block["content"]]
    return Conversation(
        tools=[
            Tool(tool["name"], tool.get("description", ""), tool["input_schema"])
            for tool in body.get("tools", [])
            if "input_schema" in tool
        ],
        results=[Result(block["tool_use_id"], joined_text(block.get("content"))) for block in results],
        pictures=[
            part["source"]["data"]
            for part in blocks + inner
            if part["type"] == "image" and part["source"]["type"] == "base64"
        ],
    )


def content(reply):
    if isinstance(reply, Answer):
        return {"type": "text", "text": reply.text}
    return {"type": "tool_use", "id": reply.id, "name": reply.tool.name, "input": reply.arguments}


def whole(reply, body):
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [content(reply)],
        "stop_reason": "end_turn" if isinstance(reply, Answer) else "tool_use",
        "stop_sequence": None,
        "usage": USAGE,
    }


def stream(reply, body):
    message = whole(reply, body)
    if isinstance(reply, Answer):
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply.text}
    else:
        start = {**content(reply), "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    for data in (
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": USAGE},
        {"type": "message_stop"},
    ):
        yield event(data, data["type"])
