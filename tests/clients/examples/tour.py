"""A visit to each example project: what its README promises, and what it is an example of."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from mcp.types import PromptReference, ResourceTemplateReference

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import check, until
from readme import arguments, commands
from schemas import faults
from served import PATIENCE, Served, copy_of

# The library warns of what the stateless era has no more.
warnings.simplefilter("ignore")


def tour(mode):
    server = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        examples = copy_of(Path(os.environ["EXAMPLES"]), Path(scratch).resolve() / "examples")
        try:
            asyncio.run(visit_all(server, examples, mode))
        except Exception as error:
            traceback.print_exc()
            check("the step after the last one above can be taken", False, error)


async def visit_all(server, examples, mode):
    folders = sorted(path for path in examples.iterdir() if path.is_dir())
    names = [folder.name for folder in folders]
    check("each example is visited", sorted(VISITS) == names, names)
    index = (examples / "README.md").read_text()
    missing = [name for name in names if f"[{name}]({name}/README.md)" not in index]
    check("the index has each example", not missing, missing)
    for folder in folders:
        print(f"-- {folder.name}", flush=True)
        await try_readme(server, folder, mode)

        def serve(environment=None, root=None, folder=folder):
            return Served(server, folder, mode, environment, root)

        await VISITS[folder.name](serve)


async def try_readme(server, folder, mode):
    """Does what the README says, with the official client in the place of `mcp-bash call`."""
    asked = list(commands(folder))
    check("the README has something to try", asked)
    called = set()
    for role in sorted({command.role for command in asked}):
        environment = {
            "OPS_ROLE": role,
            "MCPBASH_ALLOW_PROJECT_HOOKS": "true",
            "SIGNING_KEY": "an-example-of-a-key",
            "DEPLOY_KEY": "an-example-of-a-key",
        }
        async with Served(server, folder, mode, environment) as served:
            tools, prompts = await served.tools(), await served.prompts()
            wrong = [fault for tool in tools.values() for fault in faults(tool)]
            check("all models accept its tools", not wrong, wrong)
            for command in (command for command in asked if command.role == role):
                called.add(command.name)
                await try_command(served, command, tools)
    left_out = sorted({*tools, *prompts} - called)
    check("the README tries each tool and each prompt", not left_out, left_out)


async def try_command(served, command, tools):
    what = f"`{command.kind} {command.name} {' '.join(command.given)}` works"
    if command.kind == "read":
        text = await served.read(command.name)
        check(what, isinstance(text, str) and text, text)
    elif command.kind == "get":
        texts = await served.prompt(command.name, **arguments(command.given, {}))
        check(what, isinstance(texts, list) and all(texts), texts)
    else:
        properties = tools[command.name].input_schema.get("properties", {})
        result = await served.call(command.name, **arguments(command.given, properties))
        check(what, not isinstance(result, int) and result is not None and not result.is_error, result)


async def disk_and_logs(serve):
    async with serve() as served:
        found = await served.structured("disk_usage", top=1)
        check("the folder of the client is looked at", found["folder"] == str(served.folder), found)
        refused = await served.call("disk_usage", path="/etc")
        is_refused = not isinstance(refused, int) and refused.is_error
        check("a folder that is not open is refused with a result", is_refused, refused)
        found = await served.structured("log_search", log="shop", pattern="gateway timeout")
        check("a line is found with its number", [match["line"] for match in found["matches"]] == [8], found)
        text = await served.text("log_search", log="shops", pattern="x")
        check("an error says which logs there are", text.endswith("There are: backup shop."), text)


async def git_guide(serve):
    async with serve() as served:
        found = await served.structured("git_overview")
        check("the repository is read", (found["commits"], found["authors"]) == (4, 2), found)
        found = await served.structured("git_history", changed_text="MINUTES_PER_LITRE")
        subjects = [commit["subject"] for commit in found["commits"]]
        check("commits are found by what they changed", subjects == ["Name the time that a litre takes"], subjects)
        found = await served.structured("git_hot_files", count=1)
        check("the hottest file is found", found["files"][0]["path"] == "src/kettle.py", found)
    with tempfile.TemporaryDirectory() as elsewhere:
        async with serve(root=Path(elsewhere).resolve()) as served:
            text = await served.text("git_overview")
            check("a folder without a repository is told", "is not a git repository" in text, text)


async def wrap_a_cli(serve):
    async with serve() as served:
        text = await served.text("search_text", pattern="-v|chairs")
        check("a value behind -- is no option", text == "documents/notes.txt:2:Order new chairs.", text)
        text = await served.text("find_files", name="-delete")
        check("a value that could be an option is refused", "must not begin with `-`" in text, text)
        text = await served.text("sort_lines", text="9\n10\n", numeric=True, descending=True)
        check("flags and standard input arrive", text == "10\n9", text)


async def sandbox(serve):
    async with serve() as served:
        text = await served.text("read_log", file="../config/gateway.ini")
        check("a file that is not declared cannot be read", "Permission denied" in text and "token" not in text, text)
        text = await served.text("write_report", file="../logs/shop.log", text="nothing happened")
        kept = (served.folder / "logs/shop.log").read_text()
        check("a folder that is not declared cannot be written", "Permission denied" in text and "1043" in kept, text)
        await served.text("write_report", file="tour.txt", text="all is well")
        written = (served.folder / "out/tour.txt").read_text()
        check("a folder that is declared can be written", written == "all is well\n", written)
        text = await served.text("check_service", port=22)
        check("a port that is not declared is not reached", text.startswith("Nothing answers at localhost:22 "), text)


async def remote_hosts(serve):
    async with serve() as served:
        text = await served.text("sum_column", column=3)
        check("files of the project come along", text.strip() == "115", text)
        text = await served.text("where")
        check("the environment of the server stays", "home not known" in text, text)


async def shared_over_http(serve):
    async with serve() as served:
        await served.text("add_note", text="Ask $(whoami) -n")
        text = await served.text("read_notes")
        check("notes are read as they were added", text.endswith("Ask $(whoami) -n"), text)
        text = await served.text("add_note", text="one\ntwo")
        check("a note is one line", "`/text`" in text, text)


async def guarded_delete(serve):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve()
        async with serve(root=root) as served:
            file = root / "a.tmp"
            for answer in [("decline", None), ("cancel", None), ("accept", {"confirmed": False})]:
                file.touch()
                served.answers = [answer]
                found = await served.structured("delete_files", pattern="*.tmp")
                check(f"nothing is deleted after {answer}", file.exists() and found["deleted"] == [], found)
            served.answers, served.asked = [("accept", {"confirmed": True})], []
            found = await served.structured("delete_files", pattern="*.tmp")
            check("the file is deleted after a yes", not file.exists() and found["deleted"] == ["a.tmp"], found)
            check("the question named it", served.asked == [f"Delete from {root}: a.tmp?"], served.asked)
            for answer in [("decline", None), ("cancel", None), ("accept", {"consent": "no"})]:
                file.touch()
                served.answers = [answer]
                result = await served.call("delete_file", file=str(file))
                check(f"delete_file does not run after {answer}", file.exists() and result.is_error, result)
            served.answers, served.asked = [("accept", {"consent": "once"})], []
            text = await served.text("delete_file", file=str(file))
            check("delete_file runs with consent", not file.exists() and text == "Deleted: a.tmp", text)
            check("the form showed the argument", f'file: "{file}"' in served.asked[0], served.asked)


async def ask_and_sample(serve):
    async with serve() as served:
        served.answers = [("accept", {"severity": "urgent", "reporter": "Ada"})]
        found = await served.structured("file_ticket", summary="The shop is slow")
        wanted = {"summary": "The shop is slow", "severity": "urgent", "reporter": "Ada"}
        check("the answers of the user are in the ticket", found == wanted, found)
        served.answers = [("decline", None)]
        result = await served.call("file_ticket", summary="x", severity="low")
        check("a user who declines ends it", result.is_error, result)
        text = await served.text("summarise", text="It was a long day.")
        check("the model of the client writes the summary", text == "In short.", text)


async def long_job(serve):
    async with serve() as served:
        events = []
        result = await served.call("build_index", folder="documents", on_progress=events.append)
        check("the index is built", result.structured_content["words"] == 12, result)
        # The library calls back when it comes to it, which may be after the result.
        told = await until(lambda: [progress for progress, _ in events] == [0, 1, 2, 3])
        check("each file is told of", told, events)
        events.clear()
        await served.call("render", scene="sea", frames=4, pause=0.1, on_progress=events.append)
        told = await until(lambda: (100, "frame 4/4 100%") in events)
        check("the percentage of the program is told", told, events)

        documents = served.folder / "documents"
        before = (documents / "index.tsv").stat().st_ino
        outcome = await served.call("build_index", folder="documents", pause=10, timeout=2)
        check("the client can give up", outcome is None, outcome)
        gone = await until(lambda: not list(documents.glob(".index*")))
        check("nothing half-done is left", gone, list(documents.iterdir()))
        check("the old index is still there", (documents / "index.tsv").stat().st_ino == before)


async def query_data(serve):
    async with serve() as served:
        found = await served.structured("query_sql", sql="SELECT name FROM customers WHERE id = ?", values=["3"])
        check("the database answers", found["rows"] == [["Chloé Example"]], found)
        for sql in ["DELETE FROM invoices", "ATTACH '/etc/passwd' AS x", "PRAGMA user_version = 5"]:
            text = await served.text("query_sql", sql=sql)
            check(f"refused: {sql}", text.startswith("Only a SELECT is allowed here"), text)
        where = [{"column": "quantity", "is": "greater", "value": "4"}]
        found = await served.structured("query_csv", file="orders", where=where)
        check("the CSV file answers", [row["order"] for row in found["rows"]] == ["3", "7"], found)


async def image_output(serve):
    async with serve() as served:
        result = await served.call("bar_chart", bars=[{"label": "one", "value": 1}], width=64, height=80)
        picture, text = result.content
        check("the first part is a picture", (picture.type, picture.mime_type) == ("image", "image/png"), picture)
        data = base64.b64decode(picture.data)
        size = (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
        check("it is a PNG of the size that was asked for", data[:4] == b"\x89PNG" and size == (64, 80), size)
        check("it is described in words", text.text == "Bars from left to right: one 1", text)
        result = await served.call("show_picture", name="flag")
        flag = (served.folder / "pictures/flag.png").read_bytes()
        check("a file arrives as it is", base64.b64decode(result.content[0].data) == flag)


async def prompt_library(serve):
    async with serve() as served:
        (text,) = await served.prompt("review", code="{{focus}} $(id)", language="python")
        check("gaps are filled, values are not read again", "python code" in text and "{{focus}} $(id)" in text, text)
        texts = await served.prompt("incident", service="shop", symptom="it is slow")
        check("a file is part of the conversation", "First stop the harm" in texts[1], texts)
        code = await served.prompt("incident", service="shop")
        check("a missing argument is refused with -32602", code == -32602, code)
        values = await served.complete(PromptReference(type="ref/prompt", name="review"), "focus", "s")
        check("an argument completes from its schema", values == ["security", "speed"], values)


async def completion_from_data(serve):
    letter = PromptReference(type="ref/prompt", name="customer-letter")
    async with serve() as served:
        values = await served.complete(letter, "city", "", country="DE")
        check("the cities of a country are offered", values == ["Berlin", "Hamburg", "Munich"], values)
        values = await served.complete(letter, "customer", "i", country="FR", city="Paris")
        check("the customers of a city are offered", values == ["Inès Exemple"], values)
        values = await served.complete(letter, "city", "$(id)", country="DE")
        check("what nothing begins with is offered nothing", values == [], values)


async def live_logs(serve):
    async with serve() as served:
        templates = (await served.client.list_resource_templates()).resource_templates
        check("the template is listed", [t.uri_template for t in templates] == ["log://{service}{?lines}"], templates)
        reference = ResourceTemplateReference(type="ref/resource", uri="log://{service}{?lines}")
        values = await served.complete(reference, "service", "m")
        check("services complete", values == ["mail"], values)
        # -32002 before the stateless era.
        code = await served.read("log://nope")
        check("a service without a log is not found", code in (-32002, -32602), code)
        await hear_of_a_change(served, "log://mail", lambda: served.text("write_log", service="mail", text="news"))
        text = await served.read("log://mail?lines=1")
        check("the new line is there", text.endswith(" news\n"), text)
        notes = served.folder / "resources/service-notes.md"
        await hear_of_a_change(served, notes.as_uri(), lambda: append(notes, "- `bank`: new.\n"))


async def hear_of_a_change(served, uri, change):
    """Subscribes in the way of the era."""
    if served.client.protocol_version < "2026":
        await served.client.subscribe_resource(uri)
        await change()
        check(f"a change of {uri} is told", await until(lambda: uri in served.updates), served.updates)
        return
    async with served.client.listen(resource_subscriptions=[uri]) as changes:
        await change()
        event = await asyncio.wait_for(anext(aiter(changes)), PATIENCE)
        check(f"a change of {uri} is told", event.uri == uri, event)


async def append(file, text):
    file.write_text(file.read_text() + text)


async def registered_by_hand(serve):
    async with serve() as served:
        tools, prompts = await served.tools(), await served.prompts()
        check("only registered tools are there", sorted(tools) == ["deploy_status", "word_count"], list(tools))
        check("only registered prompts are there", list(prompts) == ["explain-deployment"], list(prompts))
        resources = (await served.client.list_resources()).resources
        check("only registered resources are there", [r.uri for r in resources] == ["docs://runbook"], resources)
        code = await served.call("rollback")
        check("what is not registered cannot be called", code == -32602, code)
        result = await served.call("deploy_status", service="mail", stage="production")
        check("a failure of the script is an error result", result.is_error, result)


async def registered_by_script(serve):
    async with serve() as served:
        tools = await served.tools()
        check("without the gate the script does not run", list(tools) == ["status"], list(tools))
    async with serve({"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}) as served:
        tools = await served.tools()
        check("each line is a tool", sorted(tools) == ["mail_status", "shop_status"], list(tools))
        text = await served.text("mail_status")
        check("a tool runs with its own word", text == "mail is down since this morning", text)


async def bash_provider(serve):
    async with serve() as served:
        tools = await served.tools()
        check("the script describes its tools", sorted(tools) == ["outline", "slug"], list(tools))
        text = await served.text("slug", title="A  B")
        check("and runs them", text == "a-b.md", text)
        code = await served.call("outline", text="none")
        check("its failure is an error", code == -32603, code)


async def policy_by_role(serve):
    allowed = {"": 1, "viewer": 1, "operator": 2, "admin": 3, "amdin": 0}
    for role, count in allowed.items():
        async with serve({"OPS_ROLE": role}) as served:
            outcomes = [
                await served.call("list_jobs"),
                await served.call("restart_job", job="import"),
                await served.call("remove_job", job="import"),
            ]
            refused = [outcome for outcome in outcomes if outcome == 403]
            check(f"the role {role or 'of nobody'} may call {count}", len(refused) == 3 - count, outcomes)


async def secrets(serve):
    key = "a key of the tour"
    async with serve({"SIGNING_KEY": key}) as served:
        text = await served.text("sign", text="hello")
        expected = hmac.new(key.encode(), b"hello", hashlib.sha256).hexdigest()
        check("the key signs", text.strip() == expected, text)
        text = await served.text("careless")
        check("and is not shown", text.count("***") == 3 and "tour" not in text, text)


async def team(serve):
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "audit.jsonl"
        key = "the key of the tour"
        async with serve({"DEPLOY_KEY": key, "MCPBASH_AUDIT": str(log)}) as served:
            text = await served.text("deploy", env="staging", version="main")
            check("staging is deployed without a question", "Deployed main to staging." in text and not served.asked, text)
            check("neither key nor session is shown", "[redacted] signed with ***" in text, text)
            text = await served.text("deploy", env="production", version="main")
            check("the policy decides by arguments", "main is no release" in text, text)
            served.answers = [("accept", {"consent": "no"})]
            text = await served.text("deploy", env="production", version="1.4.2")
            check("production needs a yes", "the user declined" in text, text)
            served.answers = [("accept", {"consent": "once"})]
            text = await served.text("rollback", env="production")
            check("and goes on after it", "production runs 1.4.0 again." in text, text)
        calls = [json.loads(line) for line in log.read_text().splitlines()]
        calls = [call for call in calls if call["event.name"] == "mcp.tools.call"]
        found = [(call["outcome"], call.get("consent"), call["arguments"]["env"]) for call in calls if call["outcome"] != "input_required"]
        expected = [
            ("success", None, "staging"),
            ("refused", None, "production"),
            ("refused", "declined", "production"),
            ("success", "once", "production"),
        ]
        check("the audit log has each call with its consent", found == expected, calls)
        check("and not the key", key not in log.read_text())


async def rust_provider(serve):
    async with serve() as served:
        found = await served.structured("text_stats", text="one two\nthree\n")
        check("the program counts", found == {"lines": 2, "words": 3, "characters": 14, "minutes": 1}, found)
        found = await served.structured("duplicate_lines", text="a\nb\nA\n", ignore_case=True)
        check("the program finds duplicates", found["duplicates"] == [{"line": "a", "numbers": [1, 3]}], found)
        result = await served.call("text_stats", text=" ")
        check("what the model can mend is an error result", result.is_error, result)


async def perl_worker(serve):
    async with serve() as served:
        found = await served.structured("anagrams", word="peach")
        check("the worker finds words", found == {"word": "peach", "anagrams": ["cheap"]}, found)
        words = served.folder / "data/words.txt"
        words.write_text(words.read_text() + "peahc\n")
        found = await served.structured("anagrams", word="peach")
        check("a changed list is read by a new worker", found["anagrams"] == ["cheap", "peahc"], found)
        found = await asyncio.gather(*[served.structured("anagrams", word=word) for word in ["night", "deal"] * 10])
        right = [answer["anagrams"] for answer in found] == [["thing"], ["lead"]] * 10
        check("calls at the same time get their own answers", right, found)
        result = await served.call("anagrams", word="a b")
        check("what the model can mend is an error result", result.is_error, result)


async def python_functions(serve):
    async with serve() as served:
        tools = await served.tools()
        schema = tools["slowest_jobs"].input_schema["properties"]
        check("choices and bounds are in the schema", schema["result"]["enum"][0] == "passed", schema)
        found = await served.structured("slowest_jobs", limit=2)
        check("typed rows come back", [row["job"] for row in found["result"]] == ["integration", "unit"], found)
        result = await served.call("job_chart", job="unit")
        kinds = [content.type for content in result.content]
        picture = base64.b64decode(result.content[1].data)
        check("a picture comes with words", kinds == ["text", "image"] and picture[1:4] == b"PNG", kinds)
        seen = []
        await served.call("trends", on_progress=seen.append)
        check("each job is told of", [message for _, message in seen][-1:] == ["unit"], seen)
        code = await served.read("builds://build/99")
        check("a build that never was is refused", isinstance(code, int), code)
        text = await served.text("job_chart", job="units")
        check("an error leads on", "Hint: There are: docs, " in text, text)


async def node_functions(serve):
    async with serve() as served:
        found = await served.structured("latency", limit=1)
        check("the slowest path comes first", found["paths"][0]["path"] == "/checkout", found)
        seen = []
        await served.call("latency", on_progress=seen.append)
        check("each path is told of", [message for _, message in seen][-1:] == ["/search"], seen)
        refused = await served.call("per_minute", status=201)
        check("types in a comment are a schema", refused.is_error, refused)
        text = await served.text("errors", path="/chekout")
        check("an error leads on", "Hint: There are: /, /cart, " in text, text)
        found = await asyncio.gather(*[served.structured("errors", path=path) for path in ["/checkout", "/search"] * 5])
        right = all({one["path"] for one in answer["requests"]} == {path} for answer, path in zip(found, ["/checkout", "/search"] * 5))
        check("calls at the same time get their own answers", right, found)


async def plain_scripts(serve):
    async with serve() as served:
        text = await served.text("words", files=["documents/fox.txt"], least=4, order="name")
        check("a script in a folder of its own answers", [line.split()[1] for line in text.splitlines()] == ["brown", "lazy", "quick"], text)
        refused = await served.call("words", files=[])
        check("its arguments are checked", refused.is_error, refused)
        tools = await served.tools()
        check("what may lose something says so", tools["rotate"].annotations.destructive_hint is True, tools["rotate"])


VISITS = {
    "ask-and-sample": ask_and_sample,
    "bash-provider": bash_provider,
    "completion-from-data": completion_from_data,
    "disk-and-logs": disk_and_logs,
    "git-guide": git_guide,
    "guarded-delete": guarded_delete,
    "image-output": image_output,
    "live-logs": live_logs,
    "long-job": long_job,
    "node-functions": node_functions,
    "perl-worker": perl_worker,
    "plain-scripts": plain_scripts,
    "policy-by-role": policy_by_role,
    "prompt-library": prompt_library,
    "python-functions": python_functions,
    "query-data": query_data,
    "registered-by-hand": registered_by_hand,
    "registered-by-script": registered_by_script,
    "rust-provider": rust_provider,
    "remote-hosts": remote_hosts,
    "sandbox": sandbox,
    "secrets": secrets,
    "shared-over-http": shared_over_http,
    "team": team,
    "wrap-a-cli": wrap_a_cli,
}
