"""Files whose module has state: one process by default, and a word about several."""

import unittest

from host import WorkerTest

HEAD = "from mcp_bash import keep, tool, worker\n"
STATEFUL = {
    "a list that grows": ("VISITS = []\n@tool\ndef visit(n: int) -> int:\n    VISITS.append(n)\n    return len(VISITS)\n", "`VISITS` (line 2)"),
    "a dict": ("cache: dict = {}\n@tool\ndef put(k: str) -> None:\n    cache[k] = 1\n", "`cache` (line 2)"),
    "a global": ("count = 0\n@tool\ndef add() -> int:\n    global count\n    count += 1\n    return count\n", "`count` (line 2)"),
    "a helper changes it": ("seen = set()\ndef _note(x):\n    seen.add(x)\n@tool\ndef f(x: str) -> None:\n    _note(x)\n", "`seen` (line 2)"),
    "a part of it": ("data = {'a': []}\n@tool\nasync def f() -> None:\n    data['a'].append(1)\n", "`data` (line 2)"),
    "an attribute": ("class S: pass\ns = S()\n@tool\ndef f() -> None:\n    s.count = 1\n", "`s` (line 3)"),
    "in a condition": ("import os\nif os:\n    d = {}\n@tool\ndef f() -> None:\n    del d['x']\n", "`d` (line 4)"),
    "kept": ("@keep\ndef db():\n    yield 1\n@tool\ndef f() -> int:\n    return db()\n", "`db` (@keep)"),
}
STATELESS = {
    "a constant": "PRICES = {'tea': 2}\n@tool\ndef price(n: str) -> int:\n    found = []\n    found.append(n)\n    return PRICES[n]\n",
    "a local of the same name": "items = [1]\n@tool\ndef f() -> int:\n    items = []\n    items.append(1)\n    return 1\n",
    "a parameter of the same name": "items = [1]\n@tool\ndef f(items: list) -> int:\n    items.append(1)\n    return 1\n",
    "a module": "import os\n@tool\ndef f(p: str) -> None:\n    os.remove(p)\n",
    "while it is loaded": "names = []\nfor n in 'ab':\n    names.append(n)\n@tool\ndef f() -> list:\n    return names\n",
    "the word global in a text": "@tool\ndef f() -> str:\n    return 'a global word'\n",
}


class ModuleState(WorkerTest):
    def test_a_file_with_state_has_one_process(self):
        for what, (source, _) in STATEFUL.items():
            with self.subTest(what):
                ready = self.served(HEAD + source).ready["ready"]
                self.assertEqual(ready.get("worker"), {"processes": 1})
                self.assertNotIn("splitState", ready)

    def test_other_files_have_as_many_as_before(self):
        for what, source in STATELESS.items():
            with self.subTest(what):
                self.assertNotIn("worker", self.served(HEAD + source).ready["ready"])

    def test_several_processes_are_the_choice_of_the_author_and_named(self):
        for what, (source, words) in STATEFUL.items():
            with self.subTest(what):
                ready = self.served(HEAD + source + "worker(processes=3)\n").ready["ready"]
                self.assertEqual(ready["worker"]["processes"], 3)
                self.assertEqual(ready["splitState"], words)
        for source in STATELESS.values():
            self.assertNotIn("splitState", self.served(HEAD + source + "worker(processes=3)\n").ready["ready"])


if __name__ == "__main__":
    unittest.main()
