"""The API of Gemini."""

from .conversation import Answer, Conversation, Result, Tool
from .events import event


def serves(path):
    return path.endswith((":streamGenerateContent", ":generateContent"))


def read(body):
    parts = [part for message in body.get("contents", []) for part in message.get("parts", [])]
    responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
    inner = [part for response in responses for part in response.get("parts", [])]
    declarations = [
        declaration for tool in body.get("tools", []) for declaration in tool.get("functionDeclarations", [])
    ]
    return Conversation(
        tools=[
            Tool(
                declaration["name"],
                declaration.get("description", ""),
                declaration.get("parametersJsonSchema") or declaration.get("parameters") or {},
            )
            for declaration in declarations
        ],
        results=[
            Result(response.get("id", ""), text_of(response.get("response", {})), response["name"])
            for response in responses
        ],
        pictures=[part["inlineData"]["data"] for part in parts + inner if "inlineData" in part],
    )


def text_of(response):
    output = response.get("output", response.get("error"))
    return output if isinstance(output, str) else str(response)


def whole(reply, body):
    if isinstance(reply, Answer):
        part = {"text": reply.text}
    else:
        part = {"functionCall": {"id": reply.id, "name": reply.tool.name, "args": reply.arguments}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
    }


def stream(reply, body):
    yield event(whole(reply, body))
