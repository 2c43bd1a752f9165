"""The client's roots: known from the start, or requested when a function needs them."""

import textwrap

from host import WorkerTest

SOURCE = textwrap.dedent(
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from mcp_bash import CannotAsk, Context, aio, inside_roots, roots, tool

    def paths(named):
        return [root.path for root in named]

    @tool
    def nothing() -> str:
        return "nothing"

    @tool
    def listed(call: Context) -> dict:
        return {"roots": paths(roots()), "again": paths(roots()), "of_call": paths(call.roots)}

    @tool
    def inside(path: str) -> str:
        return str(inside_roots(path))

    @tool
    def from_a_thread() -> dict:
        with ThreadPoolExecutor(1) as pool:
            return {"roots": pool.submit(lambda: paths(roots())).result()}
    """
)
ASYNC = textwrap.dedent(
    """
    @tool
    async def listed_async() -> dict:
        before = paths(roots())
        several = await asyncio.gather(aio.roots(), aio.roots())
        return {"before": before, "several": [paths(one) for one in several], "after": paths(roots())}

    @tool
    async def inside_async(path: str) -> str:
        return str(await aio.inside_roots(path))

    @tool
    async def inside_unasked(path: str) -> str:
        return str(inside_roots(path))

    @tool
    async def in_a_thread() -> dict:
        return {"roots": paths(await asyncio.to_thread(roots))}
    """
)
OWN = [{"uri": "file:///own", "path": "/own"}]
ANSWER = {"result": {"roots": [{"uri": "file:///theirs", "name": "T", "path": "/theirs"}]}}


class Roots(WorkerTest):
    source = SOURCE

    def setUp(self):
        self.worker = self.served(self.source)

    def asked(self, tool, answer=ANSWER, **arguments):
        """The result of a call whose client is asked for its roots exactly once."""
        number = self.worker.begin("tool", tool, arguments, ask=True, askForRoots=True, roots=OWN)
        question = self.worker.read()
        self.assertEqual(question, {"call": number, "ask": 1, "method": "roots/list"})
        self.worker.send(call=number, answer=1, **answer)
        result = self.worker.wait(number)["result"]
        self.assertEqual([frame for frame in self.worker.said if "ask" in frame], [])
        return result

    def test_a_function_that_does_not_want_to_know_asks_nobody(self):
        result = self.worker.call("nothing", ask=True, askForRoots=True, roots=OWN)
        self.assertEqual((result["content"][0]["text"], self.worker.said), ("nothing", []))

    def test_the_client_is_asked_once_in_a_call(self):
        theirs = ["/theirs"]
        self.assertEqual(self.asked("listed")["structuredContent"], {"roots": theirs, "again": theirs, "of_call": theirs})
        # The next call knows nothing of it.
        self.assertEqual(self.worker.call("listed", roots=OWN)["structuredContent"]["roots"], ["/own"])
        self.assertEqual(self.worker.said, [])

    def test_threads_of_a_call_ask_too(self):
        self.assertEqual(self.asked("from_a_thread")["structuredContent"], {"roots": ["/theirs"]})

    def test_a_path_is_held_against_what_the_client_answers(self):
        self.assert_text(self.asked("inside", path="/theirs/notes"), "/theirs/notes")
        refused = self.asked("inside", path="/own/notes")
        self.assertTrue(refused["isError"])
        self.assert_text(refused, "/own/notes is outside the open folders (/theirs)")

    def test_folders_that_are_all_wrong_open_nothing(self):
        refused = self.asked("inside", {"result": {"roots": [], "refused": "none of them can be used"}}, path="/own/notes")
        self.assertTrue(refused["isError"])
        self.assert_text(refused, "none of them can be used")

    def test_a_client_that_does_not_answer_leaves_it_at_the_folders_of_the_project(self):
        silent = {"error": {"code": -1, "message": "no"}}
        self.assertEqual(self.asked("listed", silent)["structuredContent"]["roots"], ["/own"])

    def test_a_call_that_is_cancelled_meanwhile_ends(self):
        number = self.worker.begin("tool", "listed", {}, ask=True, askForRoots=True)
        self.assertEqual(self.worker.read()["method"], "roots/list")
        self.worker.send(cancel=number)
        self.assertIn("error", self.worker.wait(number))
        self.assert_text(self.worker.call("nothing"), "nothing")


class RootsBesideAsyncFunctions(Roots):
    source = SOURCE + ASYNC

    def test_coroutines_share_one_question(self):
        expected = {"before": ["/own"], "several": [["/theirs"], ["/theirs"]], "after": ["/theirs"]}
        self.assertEqual(self.asked("listed_async")["structuredContent"], expected)

    def test_an_async_function_awaits_the_answer(self):
        self.assert_text(self.asked("inside_async", path="/theirs/notes"), "/theirs/notes")
        self.assert_text(self.asked("inside_async", path="/own/x"), "/own/x is outside the open folders (/theirs)")
        self.assert_text(self.worker.call("inside_async", {"path": "/own/x"}, roots=OWN), "/own/x")

    def test_an_async_function_that_does_not_await_is_told_how(self):
        result = self.worker.call("inside_unasked", {"path": "/theirs/x"}, ask=True, askForRoots=True, roots=OWN)
        self.assertTrue(result["isError"])
        self.assertIn("(/own); the client was not asked for its own: `await aio.inside_roots(path)`", result["content"][0]["text"])

    def test_a_thread_of_an_async_function_may_wait(self):
        if hasattr(__import__("asyncio"), "to_thread"):
            self.assertEqual(self.asked("in_a_thread")["structuredContent"], {"roots": ["/theirs"]})


class RootsOfSeveralCallsAtOnce(Roots):
    source = SOURCE + "\nfrom mcp_bash import worker\nworker(at_once=2)\n"
