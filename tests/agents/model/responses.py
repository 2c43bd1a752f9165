"""The Responses API of OpenAI."""

import json
from .conversation import Answer, Conversation, Result, Tool, data_of_url, joined_text
from .events import event

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 20,
}


def serves(path):
    return path.endswith("/responses")


def read(body):
    items = body.get("input", [])
    items = items if isinstance(items, list) else []
    outputs = [item for item in items if item.get("type") == "function_call_output"]
    parts = [
        part
        for item in items
        for part in (item.get("content") or item.get("output") or [])
        if isinstance(part, dict)
    ]
    return Conversation(
        tools=list(tools(body.get("tools") or [])),
        results=[Result(item["call_id"], joined_text(item["output"])) for item in outputs],
        pictures=[data_of_url(part["image_url"]) for part in parts if part.get("type") == "input_image"],
    )


def tools(offered, namespace=None):
    """Codex puts the tools of a server into a namespace."""
    for tool in offered:
        if tool["type"] == "namespace":
            yield from tools(tool["tools"], tool["name"])
        elif tool["type"] == "function":
            yield Tool(tool["name"], tool.get("description", ""), tool["parameters"], namespace)


def item(reply):
    if isinstance(reply, Answer):
        text = {"type": "output_text", "text": reply.text, "annotations": []}
        return {"type": "message", "id": f"msg_{reply.id}", "role": "assistant", "status": "completed", "content": [text]}
    call = {
        "type": "function_call",
        "id": f"fc_{reply.id}",
        "call_id": reply.id,
        "name": reply.tool.name,
        "arguments": json.dumps(reply.arguments),
        "status": "completed",
    }
    return {**call, "namespace": reply.tool.namespace} if reply.tool.namespace else call


def whole(reply, body):
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"],
        "output": [item(reply)],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": USAGE,
    }


def stream(reply, body):
    response = whole(reply, body)
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    output = response["output"][0]
    events = [
        {"type": "response.created", "response": started},
        {"type": "response.output_item.added", "output_index": 0, "item": output},
        {"type": "response.output_item.done", "output_index": 0, "item": output},
        {"type": "response.completed", "response": response},
    ]
    for number, data in enumerate(events):
        yield event({**data, "sequence_number": number}, data["type"])
