"""A session about the functions of `functions/tools`, with version 2 of the official Python library in any of its modes.

Both languages have the same functions, whose names begin with the language. The library checks structured results against
the output schemas of their tools by itself.
"""

import asyncio
import base64
import os
import sys
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import (
    LOG_LEVEL_META_KEY,
    REQUEST_TIMEOUT,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import SCRATCH, Answers, Heard, alive, check, until

LANGUAGES = ["node", "py"]
TOOLS = [
    "add", "ask_both", "contents", "count", "echo", "fail", "folders", "introduce", "place", "steps", "summarise", "talk",
    "wait",
]  # fmt: skip
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


def run(mode, version):
    asyncio.run(converse(sys.argv[1:], mode, version))


def equal(what, seen, wanted):
    check(what, seen == wanted, seen)


async def converse(command, mode, version):
    heard, answers = Heard(), Answers()

    async def elicit(context, params):
        action, content = answers.form(params.message)
        return ElicitResult(action=action, content=content)

    async def sample(context, params):
        reply = TextContent(type="text", text=answers.sample(params.messages[0].content.text))
        return CreateMessageResult(role="assistant", content=reply, model="none")

    async def roots(context):
        return ListRootsResult(roots=[Root(uri=answers.root())])

    server = StdioServerParameters(command=command[0], args=command[1:])
    project = Path(command[command.index("--project-root") + 1])
    async with Client(
        server,
        mode=mode,
        logging_callback=heard.log,
        message_handler=heard.message,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
    ) as client:
        equal("the protocol version is the newest of the era", client.protocol_version, version)
        said = client.instructions.split("\n\n")
        equal("each file says what the model should know", said, ["Node.js is here.", "Python is here."])
        await check_lists(client)
        for language in LANGUAGES:
            await check_results(client, language)
            await check_progress(client, language)
            await check_logs(client, language, heard, mode)
            await check_questions(client, language, answers)
            await check_cancellation(client, language)
            await check_resources(client, language)
            await check_prompts(client, language)
            await check_state(client, language)
        await check_many(client)
        check("the library understood everything", not heard.complaints, heard.complaints)
    for language in LANGUAGES:
        ended = project / f"{language}-ended"
        check(f"{language}: what is kept was ended with the server", await until(ended.exists), os.listdir(project))


async def check_lists(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    equal("all functions are tools", sorted(tools), sorted(f"{of}_{name}" for of in LANGUAGES for name in TOOLS))
    for language in LANGUAGES:
        add = tools[f"{language}_add"]
        equal(f"{language}: a description", add.description, "Adds two numbers.")
        check(f"{language}: a title", add.title.startswith("Adder of "), add.title)
        equal(f"{language}: a hint", add.annotations.read_only_hint, True)
        a, b = (add.input_schema["properties"][name] for name in "ab")
        equal(f"{language}: a parameter", (a["type"], a["description"]), ("integer", "what is added to"))
        wanted = {"type": "integer", "minimum": 0, "default": 1, "description": "what is added"}
        equal(f"{language}: a parameter with bounds", b, wanted)
        equal(f"{language}: what is required", add.input_schema["required"], ["a"])
        place = tools[f"{language}_place"].output_schema["properties"]
        equal(f"{language}: an output schema", sorted(place), ["degrees", "name", "tags"])
        equal(f"{language}: a tool that promises no shape", tools[f"{language}_contents"].output_schema, None)


async def check_results(client, language):
    result = await client.call_tool(f"{language}_add", {"a": 40, "b": 2})
    seen = (result.content[0].text, result.structured_content, result.is_error)
    equal(f"{language}: a typed result", seen, ("42", {"result": 42}, False))
    result = await client.call_tool(f"{language}_add", {"a": 40})
    equal(f"{language}: a default", result.structured_content, {"result": 41})
    result = await client.call_tool(f"{language}_place", {"name": "Zoë", "unit": "F"})
    equal(f"{language}: data", result.structured_content, {"name": "Zoë", "degrees": 70.7, "tags": ["warm"]})
    for arguments, said in [({"a": "x"}, "must be an integer"), ({}, "required"), ({"a": 1, "b": -1}, "`/b`")]:
        result = await client.call_tool(f"{language}_add", arguments)
        text = result.content[0].text
        check(f"{language}: refused arguments: {said}", result.is_error and said in text, text)

    text, image, audio, embedded, link = (await client.call_tool(f"{language}_contents", {})).content
    equal(f"{language}: text", (text.type, text.text), ("text", "a text"))
    picture = (image.type, image.mime_type, base64.b64decode(image.data))
    equal(f"{language}: an image", picture, ("image", "image/png", PIXEL))
    equal(f"{language}: audio", (audio.type, audio.mime_type), ("audio", "audio/wav"))
    inside = (str(embedded.resource.uri), embedded.resource.text, embedded.resource.mime_type)
    equal(f"{language}: an embedded resource", inside, ("note://embedded", "an embedded text", "text/plain"))
    equal(f"{language}: a link", (link.type, str(link.uri), link.name), ("resource_link", "note://linked", "linked"))

    result = await client.call_tool(f"{language}_fail", {"how": "raise"})
    told = result.content[0].text
    is_line = "Error: there is no such month (" in told and "features." in told and "\n" not in told
    check(f"{language}: an exception is one line", result.is_error and is_line, told)
    result = await client.call_tool(f"{language}_fail", {"how": "advise"})
    seen = (result.is_error, result.content[0].text)
    equal(f"{language}: an error with advice", seen, (True, "there is no such day. Hint: use YYYY-MM-DD"))


async def check_progress(client, language):
    events = []

    async def progressed(progress, total, message):
        events.append((progress, total, message))

    result = await client.call_tool(f"{language}_steps", {"count": 4}, 30, progressed)
    equal(f"{language}: a call with progress has its result", result.content[0].text, "Took 4 steps.")
    equal(f"{language}: progress", events, [(step, 4, f"step {step}") for step in range(1, 5)])


async def check_logs(client, language, heard, mode):
    # Without a session to remember the level, every request has to say it.
    meta = None if mode == "legacy" else {LOG_LEVEL_META_KEY: "info"}
    if mode == "legacy":
        await client.set_logging_level("info")
    heard.logs.clear()
    result = await client.call_tool(f"{language}_talk", {}, meta=meta)
    equal(f"{language}: a function that logs has its result", result.content[0].text, "Said it.")

    def told():
        return [(level, data) for level, logger, data in heard.logs if not logger.startswith("mcp.")]

    second = {"message": "second words", "number": 2}
    wanted = [("info", "printed words"), ("info", "first words"), ("warning", second)]
    check(f"{language}: logs", await until(lambda: told() == wanted), heard.logs)
    if mode == "legacy":
        await client.set_logging_level("error")


async def check_questions(client, language, answers):
    answers.asked.clear()
    confirmed = ("accept", {"confirmed": True})
    answers.forms = [("accept", {"value": "Zoë"}), confirmed]
    result = await client.call_tool(f"{language}_introduce", {})
    equal(f"{language}: the user is asked", result.content[0].text, "Zoë, well: yes")
    equal(f"{language}: one after the other", answers.asked, ["What is your name?", "Are you well, Zoë?"])
    answers.forms = [("decline", None)]
    result = await client.call_tool(f"{language}_introduce", {})
    equal(f"{language}: the user may decline", result.content[0].text, "Nobody.")
    answers.forms = [("accept", {"value": "Zoë"}), confirmed]
    answers.asked.clear()
    result = await client.call_tool(f"{language}_ask_both", {})
    equal(f"{language}: two questions at once", result.content[0].text, "Zoë yes")
    equal(f"{language}: both are asked", sorted(answers.asked), ["Sure?", "Who?"])
    answers.asked.clear()
    result = await client.call_tool(f"{language}_summarise", {"text": "a long text"})
    equal(f"{language}: the model is asked", result.content[0].text, "The model says: In short.")
    equal(f"{language}: what it is asked", answers.asked, ["Summarise: a long text"])
    result = await client.call_tool(f"{language}_folders", {})
    equal(f"{language}: the folders", result.structured_content, {"result": [answers.root()]})


async def check_cancellation(client, language):
    file = Path(SCRATCH.name, f"{language}-wait")
    ended = Path(f"{file}.ended")
    try:
        outcome = await client.call_tool(f"{language}_wait", {"file": str(file)}, 2)
    except MCPError as error:
        outcome = error.code
    equal(f"{language}: the client gives up", outcome, REQUEST_TIMEOUT)
    check(f"{language}: the function ends", await until(ended.exists), file.exists())
    check(f"{language}: and its worker goes on", alive(int(file.read_text())))
    result = await client.call_tool(f"{language}_echo", {"word": "after"})
    equal(f"{language}: calls work after it", result.content[0].text, "after")


async def check_resources(client, language):
    listed = {str(one.uri): one for one in (await client.list_resources()).resources}
    config = listed[f"{language}://config"]
    seen = (config.name, config.description, config.mime_type)
    equal(f"{language}: a resource is listed", seen, (f"{language}_config", "The configuration.", "application/json"))
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    check(f"{language}: a template is listed", f"{language}://greeting/{{name}}" in templates, templates)

    (config,) = (await client.read_resource(f"{language}://config")).contents
    check(f"{language}: a resource is read", '"zoë"' in config.text and config.mime_type == "application/json", config)
    (picture,) = (await client.read_resource(f"{language}://bytes")).contents
    equal(f"{language}: bytes are read", (base64.b64decode(picture.blob), picture.mime_type), (PIXEL, "image/png"))
    (greeting,) = (await client.read_resource(f"{language}://greeting/Ada")).contents
    equal(f"{language}: a template is read", (str(greeting.uri), greeting.text), (f"{language}://greeting/Ada", "Hello, Ada!"))
    for uri in [f"{language}://greeting/nobody", f"{language}://nowhere"]:
        try:
            code = await client.read_resource(uri)
        except MCPError as error:
            code = error.code
        check(f"{language}: what is not there is not found", code in (-32002, -32602), code)


async def check_prompts(client, language):
    prompts = {one.name: one for one in (await client.list_prompts()).prompts}
    listed = [(one.name, one.required) for one in prompts[f"{language}_letter"].arguments]
    equal(f"{language}: a prompt is listed", listed, [("name", True), ("tone", False)])
    for arguments, tone in [({"name": "Zoë"}, "kind"), ({"name": "Zoë", "tone": "stern"}, "stern")]:
        messages = (await client.get_prompt(f"{language}_letter", arguments)).messages
        seen = [(message.role, message.content.text) for message in messages]
        wanted = [("user", f"Write a {tone} letter to Zoë."), ("assistant", "Dear Zoë,")]
        equal(f"{language}: a prompt is filled in", seen, wanted)
    try:
        code = await client.get_prompt(f"{language}_letter", {})
    except MCPError as error:
        code = error.code
    equal(f"{language}: a prompt needs its arguments", code, -32602)
    reference = PromptReference(type="ref/prompt", name=f"{language}_letter")
    values = (await client.complete(reference, {"name": "tone", "value": "st"})).completion.values
    equal(f"{language}: an argument is completed", values, ["stern"])


async def check_state(client, language):
    counts = [(await client.call_tool(f"{language}_count", {})).structured_content["result"] for _ in range(3)]
    equal(f"{language}: what is kept outlives a call", counts, [1, 2, 3])


async def check_many(client):
    """Calls of both languages at once, each with its own result."""
    words = [(f"{language}_echo", f"{language} {number}") for number in range(25) for language in LANGUAGES]
    results = await asyncio.gather(*(client.call_tool(name, {"word": word}) for name, word in words))
    equal("calls at once have each their own result", [one.content[0].text for one in results], [word for _, word in words])
