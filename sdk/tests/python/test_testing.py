"""The test clients, as an author uses them: real pytest runs a test file beside a project."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from host import SDK

PAGE = os.path.join(SDK, "..", "..", "docs", "testing.md")

PROJECT = {
    "tools/shop.py": '''
        from dataclasses import dataclass
        from typing import Annotated, Iterator, Literal, Optional

        from mcp_bash import Context, Field, Image, NotFound, ToolError, aio, confirm, keep, log, progress, prompt, resource, sample, tool, user

        opened = []

        @dataclass
        class Order:
            drink: Literal["tea", "coffee"]
            count: Annotated[int, Field(minimum=1)] = 1

        @keep
        def till() -> Iterator[list]:
            opened.append("open")
            yield []
            opened.append("closed")

        def price_of(drink: str) -> int:
            return {"tea": 2, "coffee": 3}[drink]

        @tool(timeout=5)
        def buy(order: Order, note: Optional[str] = None, tip: int = 0) -> dict:
            """Buys drinks."""
            for _ in progress.each(range(order.count), message="cup {}"):
                till().append(order.drink)
            log.info("sold", drink=order.drink)
            return {"total": order.count * price_of(order.drink) + tip, "sold": len(till()), "note": note}

        @tool
        def clear() -> str:
            """Empties the till."""
            return "cleared" if confirm("Really?") else "kept"

        @tool
        async def chat(ctx: Context) -> str:
            """Talks."""
            name = await aio.ask("Name?")
            said = await ctx.sample("Greet " + name)
            return f"{name}: {said}"

        @tool
        def count(ctx: Context) -> int:
            ctx.state["n"] = ctx.state.get("n", 0) + 1
            return ctx.state["n"]

        @tool
        def fail(how: str) -> str:
            if how == "told":
                raise ToolError("no tea", hint="ask for coffee")
            raise ValueError("broken")

        @tool
        def logo() -> Image:
            return Image(data=b"\\x89PNG\\r\\n\\x1a\\n", format="png")

        @resource("shop://{drink}")
        def drink(drink: str) -> dict:
            if drink not in ("tea", "coffee"):
                raise NotFound("no " + drink)
            return {"price": price_of(drink)}

        @prompt
        def recommend(taste: str, count: int = 3) -> list:
            return [user(f"I like {taste}: {count}")]
    ''',
    "tests/test_shop.py": '''
        import os
        import pytest
        import shop
        from mcp_bash import ToolError
        from mcp_bash.errors import ProtocolError
        from mcp_bash.testing import Cancel, Client, Decline, Progress, ServerClient

        ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        KINDS = ["file", "server"] if os.environ.get("MCPBASH_PROGRAM") else ["file"]

        @pytest.fixture(params=KINDS)
        def connect(request):
            opened = []

            def connect(**options):
                made = Client(ROOT + "/tools/shop.py", **options) if request.param == "file" else ServerClient(ROOT, **options)
                opened.append(made)
                return made

            yield connect
            for one in opened:
                one.close()

        def test_lists(connect):
            client = connect()
            tools = {tool["name"]: tool for tool in client.list_tools()}
            assert set(tools) == {"buy", "clear", "chat", "count", "fail", "logo"}
            assert "timeoutSecs" not in tools["buy"]
            assert tools["buy"]["inputSchema"]["required"] == ["order"]
            assert client.list_resource_templates()[0]["uriTemplate"] == "shop://{drink}"
            assert client.list_resources() == []
            assert client.list_prompts()[0]["arguments"][0]["name"] == "taste"

        def test_a_call(connect):
            result = connect().call_tool("buy", {"order": {"drink": "tea", "count": 2}, "tip": None})
            assert result.data == {"total": 4, "sold": 2, "note": None}
            assert result.structured == result.data and not result.is_error
            assert result.progress[-1] == Progress(2, 2, "cup 1")
            assert [log.data for log in result.logs if log.level == "info"] == [{"message": "sold", "drink": "tea"}]

        @pytest.mark.parametrize("arguments, words", [
            ({}, "order"),
            ({"order": {"drink": "water"}}, "drink"),
            ({"order": {"drink": "tea", "count": 0}}, "count"),
            ({"order": {"drink": "tea"}, "more": 1}, "more"),
            ({"order": 5}, "order"),
        ])
        def test_arguments_that_do_not_fit(connect, arguments, words):
            client = connect()
            with pytest.raises(ToolError, match=words):
                client.call_tool("buy", arguments)
            assert client.call_tool("buy", arguments, raise_on_error=False).is_error

        def test_answers(connect):
            client = connect(answers=[True])
            result = client.call_tool("clear")
            assert (result.text, [asked.message for asked in result.asked]) == ("cleared", ["Really?"])
            client.answer([Decline()])
            assert client.call_tool("clear").text == "kept"
            client.answer([Cancel()])
            assert client.call_tool("clear").text == "kept"
            client.answer(lambda asked: {"Name?": "Ada"}.get(asked.message, "Hello"))
            assert client.call_tool("chat").text == "Ada: Hello"

        def test_a_question_without_an_answer_fails_the_test(connect):
            client = connect(answers=[])
            with pytest.raises(AssertionError, match="no answer to: Really?"):
                client.call_tool("clear")

        def test_a_client_that_cannot_be_asked(connect):
            with pytest.raises(ToolError, match="cannot"):
                connect().call_tool("clear")

        def test_errors(connect):
            client = connect()
            with pytest.raises(ToolError, match="no tea. Hint: ask for coffee"):
                client.call_tool("fail", {"how": "told"})
            result = client.call_tool("fail", {"how": "x"}, raise_on_error=False)
            assert result.text.startswith("ValueError: broken (shop.py:")
            assert any("Traceback" in str(log.data) for log in result.logs)
            with pytest.raises(ProtocolError, match="(?i)unknown tool|tool.*nothing"):
                client.call_tool("nothing")

        def test_state_belongs_to_a_session(connect):
            client = connect()
            assert [client.call_tool("count").data for _ in range(3)] == [1, 2, 3]
            assert connect().call_tool("count").data == 1

        def test_resources_and_prompts(connect):
            client = connect()
            read = client.read_resource("shop://tea")
            assert (read.text, read.mime_type) == ('{"price":2}', "application/json")
            for uri in ("shop://water", "other://x"):
                with pytest.raises(ProtocolError):
                    client.read_resource(uri)
            assert client.get_prompt("recommend", {"taste": "tea", "count": "2"}).text == "I like tea: 2"
            with pytest.raises(ProtocolError):
                client.get_prompt("recommend", {"taste": "tea", "count": "two"})

        def test_pictures(connect):
            assert connect().call_tool("logo").content[0]["mimeType"] == "image/png"

        def test_patches_apply(monkeypatch):
            monkeypatch.setattr(shop, "price_of", lambda drink: 100)
            with Client(shop) as client:
                assert client.call_tool("buy", {"order": {"drink": "tea"}}).data["total"] == 100

        def test_what_is_kept_ends_with_the_client():
            for _ in range(2):
                shop.opened.clear()
                with Client(shop) as client:
                    assert client.call_tool("buy", {"order": {"drink": "tea"}}).data["sold"] == 1
                assert shop.opened == ["open", "closed"]

        def test_no_session():
            with pytest.raises(ToolError, match="no session"):
                Client(shop, session=False).call_tool("count")

        def test_a_file_that_is_not_there():
            with pytest.raises(FileNotFoundError, match="nothing.py"):
                Client(ROOT + "/tools/nothing.py")

        def test_a_server_that_cannot_start():
            with pytest.raises((FileNotFoundError, ConnectionError)):
                ServerClient(ROOT, program="/bin/false")
    ''',
}


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
class WithPytest(unittest.TestCase):
    def test_the_tests_of_a_project(self):
        self.run_tests(PROJECT)

    def test_the_tests_on_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL))
        self.assertEqual(set(blocks), {"tools/orders.py", "tests/test_orders.py"})
        self.run_tests(blocks)

    def run_tests(self, files):
        folder = os.path.realpath(tempfile.mkdtemp(prefix="mcp-bash-test-"))
        self.addCleanup(shutil.rmtree, folder)
        for path, text in files.items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text).lstrip())
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(folder, "tools"), SDK])}
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == "__main__":
    unittest.main()
