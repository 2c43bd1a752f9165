"""Caller, meta, printed output, logs and questions belong to the right call, whichever thread or task does
the work."""

import unittest

from host import WorkerTest

SOURCE = """
import asyncio, atexit, contextlib, contextvars, io, logging, logging.handlers, multiprocessing.pool, os, queue, threading, time
from concurrent.futures import ThreadPoolExecutor
from mcp_bash import Context, CannotAsk, aio, confirm, context, folder, keep, log, meta, progress, tool, worker

WORKER

pool = ThreadPoolExecutor(2)
lazy_pools = {}

def lazy_pool(way, make, size):
    if way not in lazy_pools:
        lazy_pools[way] = make(size)
    return lazy_pools[way]

logger = logging.getLogger("mine")
mine = contextvars.ContextVar("mine", default="nobody's")
gates = {}

def gate(name):
    return gates.setdefault(name, threading.Event())

def who():
    print("printed by", context().caller)
    logger.warning("logged by %s", context().caller)
    log.info("said by %s" % context().caller)
    return [context().caller, meta().get("from")]

def who_asks():
    found = who()
    try:
        return found + [confirm("Delete the files of %s?" % context().caller)]
    except CannotAsk as problem:
        return found + [str(problem)]

def through(way, work):
    if way == "executor":
        return pool.submit(work).result()
    if way == "executor map":
        return list(pool.map(lambda _: work(), [1]))[0]
    if way == "lazy executor":
        return lazy_pool(way, ThreadPoolExecutor, 1).submit(work).result()
    if way == "callback of a future":
        found = queue.Queue()
        pool.submit(time.sleep, 0.01).add_done_callback(lambda _: found.put(work()))
        return found.get()
    if way == "thread pool":
        return lazy_pool(way, multiprocessing.pool.ThreadPool, 1).apply(work)
    if way == "thread pool map":
        return lazy_pool(way, multiprocessing.pool.ThreadPool, 2).map(lambda _: work(), [1])[0]
    if way == "thread pool imap":
        return list(lazy_pool(way, multiprocessing.pool.ThreadPool, 1).imap(lambda _: work(), [1]))[0]
    if way == "callback of a pool":
        found = queue.Queue()
        lazy_pool(way, multiprocessing.pool.ThreadPool, 1).apply_async(int, callback=lambda _: found.put(work()))
        return found.get()
    if way == "loop of its own":
        async def inner():
            return await asyncio.get_running_loop().run_in_executor(None, work)
        return asyncio.run(inner())
    if way == "thread":
        found = []
        thread = threading.Thread(target=lambda: found.append(work()))
        thread.start()
        thread.join()
        return found[0]
    if way == "timer":
        found = queue.Queue()
        threading.Timer(0, lambda: found.put(work())).start()
        return found.get()
    return work()

@tool
def asks(way: str) -> list:
    return through(way, who_asks)

@tool
async def asks_async(way: str) -> list:
    loop = asyncio.get_running_loop()
    if way == "default executor":
        return await loop.run_in_executor(None, who_asks)
    if way == "named executor":
        return await loop.run_in_executor(pool, who_asks)
    if way == "to_thread" and hasattr(asyncio, "to_thread"):
        return await asyncio.to_thread(who_asks)
    found = who()
    return found + [await aio.confirm("Delete the files of %s?" % context().caller)]

# What outlives the call that started it.

left = queue.Queue()
told = queue.Queue()
left_thread = []
held = []

def serve_left():
    while True:
        wanted = left.get()
        told.put(who_asks() + [wanted])

@tool
def start_left() -> str:
    left_thread.append(threading.Thread(target=serve_left, daemon=True, name="left"))
    left_thread[0].start()
    return "started"

@tool
def use_left(text: str) -> list:
    left.put(text)
    return told.get()

@tool
def wait_for(name: str) -> list:
    if not left_thread:
        start_left()
    log.info("waiting")
    gate(name).wait()
    return who()

@tool
def open_gate(name: str) -> list:
    gate(name).set()
    return who()

@tool
def hold(call: Context) -> str:
    held.append(call)
    return "held"

@tool
def use_held() -> list:
    try:
        held[0].log("info", "logged too late")
        held[0].progress(1)
        return [held[0].put_question({"method": "elicitation/create", "params": {}})]
    except CannotAsk as problem:
        return [str(problem)]

@keep
def kept():
    jobs, answers = queue.Queue(), queue.Queue()
    print("made for", context().caller)
    def serve():
        while True:
            jobs.get()
            answers.put(who_asks())
    threading.Thread(target=serve, daemon=True).start()
    yield jobs, answers

@tool
def use_kept() -> list:
    jobs, answers = kept()
    jobs.put(1)
    return answers.get()

@tool
def hand_context_on() -> list:
    return contextvars.copy_context().run(who)

@tool
def remember(text: str) -> str:
    before = mine.get()
    mine.set(text)
    return before

@tool
async def remember_async(text: str) -> str:
    before = mine.get()
    mine.set(text)
    return before

@tool
def captures(name: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print("of", name)
        log.info("inside")
        gate(name).wait()
        print("still of", name)
    print("not captured")
    return text.getvalue()

records = queue.Queue()
queued = logging.getLogger("queued")
queued.propagate = False
queued.addHandler(logging.handlers.QueueHandler(records))

@tool
def log_through_queue() -> str:
    if not gates.get("listener"):
        gates["listener"] = logging.handlers.QueueListener(records, logging.getLogger().handlers[0])
        gates["listener"].start()
    queued.warning("through a queue by %s", context().caller)
    while not records.empty():
        time.sleep(0.001)
    gates["listener"].stop()
    gates["listener"].start()
    return "logged"

@tool
def in_child() -> str:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, repr(context().caller).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return os.read(read, 100).decode()
"""

WAYS = (
    "executor",
    "executor map",
    "lazy executor",
    "callback of a future",
    "thread pool",
    "thread pool map",
    "thread pool imap",
    "callback of a pool",
    "loop of its own",
    "thread",
    "timer",
    "here",
)
ASYNC_WAYS = ("default executor", "named executor", "to_thread", "here")
NOBODY = "No call is being served here, or it has ended: nobody can be asked"


class Base(WorkerTest):
    options = ""

    def setUp(self):
        self.worker = self.served(SOURCE.replace("WORKER", self.options))

    def begin(self, caller, tool, arguments=None):
        return self.worker.begin("tool", tool, arguments, caller=caller, meta={"from": caller}, ask=True, elicit=True)

    def answered(self, number, caller):
        """The result of a call; all its messages and questions must be its own."""
        said = []
        while True:
            frame = self.worker.read()
            self.assertIsNotNone(frame, self.worker.printed())
            if "ask" in frame:
                self.assertEqual((frame["call"], frame["params"]["message"]), (number, "Delete the files of %s?" % caller))
                self.worker.send(call=number, answer=frame["ask"], result={"action": "accept", "content": {"confirmed": True}})
            elif "result" in frame or "error" in frame:
                self.assertEqual(frame["call"], number)
                return frame["result"], said
            else:
                said.append((frame.get("call"), frame["params"]["data"]))

    def structured(self, caller, tool, arguments=None):
        number = self.begin(caller, tool, arguments)
        result, said = self.answered(number, caller)
        self.assertNotIn("isError", result, result)
        self.own = [data for call, data in said if call == number and "threads still run" not in str(data)]
        self.no_calls = [data for call, data in said if call is None]
        self.assertEqual([one for one in said if one[0] not in (number, None)], [])
        return (result.get("structuredContent") or {}).get("result")

    def test_work_belongs_to_the_call_that_submits_it(self):
        for tool, ways in (("asks", WAYS), ("asks_async", ASYNC_WAYS)):
            for way in ways:
                for caller in ("alice", "bob", "carol"):
                    found = self.structured(caller, tool, {"way": way})
                    self.assertEqual(found, [caller, caller, True], way)
                    self.assertEqual(self.own, ["printed by " + caller, "logged by " + caller, "said by " + caller], way)

    def test_a_thread_of_an_ended_call_has_no_call(self):
        self.structured("alice", "start_left")
        self.assertEqual(self.structured("bob", "use_left", {"text": "x"}), [None, None, NOBODY, "x"])
        self.assertEqual(self.own, [])
        self.assertEqual(self.no_calls, ["logged by None", "said by None"])
        self.assertIn("printed by None", self.worker.printed())

    def test_a_call_that_ended_is_dead_for_whoever_holds_it(self):
        self.structured("alice", "hold")
        self.assertEqual(self.structured("bob", "use_held"), ["The call has ended: nobody can be asked"])
        self.assertEqual((self.own, self.no_calls), ([], ["logged too late"]))

    def test_what_is_kept_belongs_to_no_call(self):
        for caller in ("alice", "bob"):
            self.assertEqual(self.structured(caller, "use_kept"), [None, None, NOBODY])
            self.assertEqual(self.own, [])
        self.assertIn("made for None", self.worker.printed())

    def test_a_context_can_be_handed_on(self):
        self.assertEqual(self.structured("alice", "hand_context_on"), ["alice", "alice"])
        self.assertEqual(self.own, ["printed by alice", "logged by alice", "said by alice"])

    def test_context_variables_of_one_call_are_not_those_of_the_next(self):
        for tool in ("remember", "remember_async"):
            for _ in range(6):
                self.begin("alice", tool, {"text": "alice's"})
            for _ in range(6):
                self.assert_text(self.worker.read()["result"], "nobody's")

    def test_a_record_that_another_thread_handles(self):
        for caller in ("alice", "bob"):
            self.structured(caller, "log_through_queue")
            self.assertEqual(self.own, ["through a queue by " + caller])

    def test_a_forked_process_has_no_call(self):
        self.assertEqual(self.structured("alice", "in_child"), "None")


class OneAtATime(Base):
    def test_captured_output(self):
        self.structured("bob", "open_gate", {"name": "alice"})
        self.assertEqual(self.structured("alice", "captures", {"name": "alice"}), "of alice\nstill of alice\n")
        self.assertEqual(self.own, ["inside", "not captured"])


class SeveralAtOnce(Base):
    options = "worker(at_once=4)"

    def waiting(self, caller, tool, arguments):
        number = self.begin(caller, tool, arguments)
        self.assertEqual(self.worker.read()["call"], number)
        return number

    def test_work_of_another_call_in_a_thread_of_an_open_one(self):
        first = self.waiting("alice", "wait_for", {"name": "alice"})
        self.assertEqual(self.structured("bob", "use_left", {"text": "bob's"}), [None, None, NOBODY, "bob's"])
        self.assertEqual(self.own, [])
        self.begin("bob", "open_gate", {"name": "alice"})
        self.assertEqual(self.worker.wait(first)["result"]["structuredContent"], {"result": ["alice", "alice"]})

    def test_pools_while_another_call_is_open(self):
        first = self.waiting("alice", "wait_for", {"name": "alice"})
        for way in WAYS:
            self.assertEqual(self.structured("bob", "asks", {"way": way}), ["bob", "bob", True], way)
            self.assertEqual(self.own, ["printed by bob", "logged by bob", "said by bob"], way)
        self.begin("bob", "open_gate", {"name": "alice"})
        self.assertEqual(self.worker.wait(first)["result"]["structuredContent"], {"result": ["alice", "alice"]})

    def test_captured_output_is_that_of_one_call(self):
        first = self.waiting("alice", "captures", {"name": "alice"})
        self.structured("bob", "open_gate", {"name": "bob"})
        self.assertIn("printed by bob", self.own)
        self.assertEqual(self.structured("bob", "captures", {"name": "bob"}), "of bob\nstill of bob\n")
        self.begin("bob", "open_gate", {"name": "alice"})
        self.assert_text(self.worker.wait(first)["result"], "of alice\nstill of alice\n")


del Base

if __name__ == "__main__":
    unittest.main()
