"""Arguments of resources and prompts: they arrive as texts, and only the SDK checks them against their
types."""

import dataclasses
import decimal
import enum
import sys
import typing
import unittest
from typing import Dict, List, Literal, Optional, Union

from host import WorkerTest
from mcp_bash import DefinitionError, Field
from mcp_bash.declaring import Declaration
from mcp_bash.definitions import Definitions
from mcp_bash.errors import BadArgument


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Node:
    value: int
    children: "List[Node]" = dataclasses.field(default_factory=list)


def prompt_of(hint):
    """A prompt with one argument of that type."""

    def f(a):
        return a

    f.__annotations__["a"] = hint
    return Definitions([Declaration("prompt", f, {})]).all()[0]


def read(hint, text):
    return prompt_of(hint).prepare({"arguments": {"a": text}}, None)[1]["a"]


class Texts(unittest.TestCase):
    def refused(self, hint, text, words):
        with self.assertRaises(BadArgument) as raised:
            read(hint, text)
        self.assertEqual(str(raised.exception), "Argument `a`: " + words)

    def test_what_fits_is_read(self):
        for hint, text, expected in [
            (Literal["users", "orders"], "users", "users"),
            (Literal["a", 1, None], "1", 1),
            (Literal["a", 1, None], "null", None),
            (Literal[1, 2], "2", 2),
            (Optional[Literal["a", "b"]], "b", "b"),
            (Level, "2", Level.HIGH),
            (List[Literal["a", "b"]], "a, b", ["a", "b"]),
            (Union[int, str], "7", 7),
            (Union[int, str], "seven", "seven"),
            (Node, '{"value":1,"children":[{"value":2}]}', Node(1, [Node(2)])),
            (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
            (Dict[Literal["x", "y"], str], '{"x":"1"}', {"x": "1"}),
        ]:
            with self.subTest(hint=hint, text=text):
                self.assertEqual(read(hint, text), expected)

    def test_what_does_not_fit_is_refused_with_what_is_allowed(self):
        self.refused(Literal["users", "orders"], "secrets", '"secrets" is not one of users, orders')
        self.refused(Optional[Literal["a", "b"]], "zzz", '"zzz" is not one of a, b')
        self.refused(Literal["a", 1], "2", '"2" is not one of a, 1')
        self.refused(Literal[1, 2], "3", "3 is not one of 1, 2")
        self.refused(Literal[True], "no", "false is not one of True")
        self.refused(Level, "3", "3 is not one of 1, 2")
        self.refused(List[Literal["a", "b"]], "a,c", '[1]: "c" is not one of a, b')
        self.refused(int, "x", '"x" is not an integer')
        self.refused(decimal.Decimal, "NaN", '"NaN" does not match the pattern ^-?[0-9]+(\\.[0-9]+)?$')
        self.refused(Node, '{"value":1,"children":[{"value":"x"}]}', 'children[0].value: "x" is not of type integer')
        self.refused(Node, "{}", "the member `value` is missing")
        self.refused(Dict[Literal["x", "y"], str], '{"z":"1"}', 'z: "z" is not one of x, y')

    def test_numbers_that_json_does_not_have(self):
        for text in ("nan", "inf", "-Infinity"):
            with self.subTest(text=text), self.assertRaises(BadArgument):
                read(float, text)

    def test_other_names_are_refused_in_our_words(self):
        for given, words in [
            ({"a": "1", "zz": "2"}, "Argument `zz`: there is no such argument; known are: a"),
            ({}, "Argument `a`: it is needed, and was not given"),
            ({"a": "1", "z\nz": "2"}, "Argument `z\\nz`: there is no such argument; known are: a"),
        ]:
            with self.subTest(given=given), self.assertRaises(BadArgument) as raised:
                prompt_of(str).prepare({"arguments": given}, None)
            self.assertEqual(str(raised.exception), words)


@unittest.skipIf(sys.version_info < (3, 9), "Annotated is newer")
class Bounds(unittest.TestCase):
    def test_bounds_lengths_and_patterns(self):
        for base, note, good, bad, words in [
            (int, Field(maximum=10), "10", "11", "11 is more than 10"),
            (int, Field(minimum=1), "1", "0", "0 is less than 1"),
            (float, Field(exclusive_minimum=0), "0.1", "0", "0.0 is not more than 0"),
            (float, Field(exclusive_maximum=1), "0.9", "1", "1.0 is not less than 1"),
            (int, Field(multiple_of=5), "10", "11", "11 is no multiple of 5"),
            (float, Field(multiple_of=0.1), "0.3", "0.35", "0.35 is no multiple of 0.1"),
            (str, Field(min_length=2), "ab", "a", "at least 2 characters are needed, 1 were given"),
            (str, Field(max_length=2), "ab", "abc", "at most 2 characters are allowed, 3 were given"),
            (str, Field(pattern="^[a-z]+$"), "abc", "a/b", '"a/b" does not match the pattern ^[a-z]+$'),
            (List[int], Field(max_items=1), "1", "1,2", "at most 1 values are allowed, 2 were given"),
            (Optional[int], Field(maximum=10), "10", "11", "11 is more than 10"),
        ]:
            with self.subTest(words=words):
                hint = typing.Annotated[base, note]
                read(hint, good)
                with self.assertRaises(BadArgument) as raised:
                    read(hint, bad)
                self.assertEqual(str(raised.exception), "Argument `a`: " + words)

    def test_patterns_mean_what_json_schema_means(self):
        """In Python `$` also matches before a final line break, and `\\d` matches the digits of all
        scripts."""
        for pattern, bad in [("^[a-z]+$", "abc\n"), (r"^\d+$", "١٢"), (r"^(a$|b$)", "b\n"), (r"^[$]\$$", "$$\n")]:
            with self.subTest(pattern=pattern), self.assertRaises(BadArgument):
                read(typing.Annotated[str, Field(pattern=pattern)], bad)
        self.assertEqual(read(typing.Annotated[str, Field(pattern=r"^[$]\$$")], "$$"), "$$")

    def test_a_pattern_that_cannot_be_checked_is_refused_with_the_file(self):
        with self.assertRaises(DefinitionError) as raised:
            prompt_of(typing.Annotated[str, Field(pattern=r"^\p{L}+$")])
        self.assertIn(r"parameter `a`: its pattern ^\p{L}+$ cannot be read", str(raised.exception))

    def test_a_union_takes_what_one_of_its_types_takes(self):
        hint = Union[typing.Annotated[int, Field(maximum=10)], str]
        self.assertEqual(read(hint, "10"), 10)
        self.assertEqual(read(hint, "50"), "50")


class Served(WorkerTest):
    def test_a_literal_is_a_whitelist(self):
        host = self.served(
            """
            from typing import Literal
            from mcp_bash import prompt, resource

            @resource("lit://{t}")
            def lit(t: Literal["users", "orders"]) -> str:
                return "table " + t

            @prompt
            def pr(style: Literal["short", "long"]) -> str:
                return style
            """
        )
        good = host.wait(host.begin("resource", "lit://users", {"t": "users"}, name="lit"))
        self.assertEqual(good["result"]["contents"][0]["text"], "table users")
        for kind, what, given, words in [
            ("resource", "lit://secrets", {"t": "secrets"}, 'Argument `t`: "secrets" is not one of users, orders'),
            ("prompt", "pr", {"style": "zzz"}, 'Argument `style`: "zzz" is not one of short, long'),
            ("prompt", "pr", {"style": "short", "zz": "1"}, "Argument `zz`: there is no such argument; known are: style"),
        ]:
            with self.subTest(words=words):
                error = host.wait(host.begin(kind, what, given, **({"name": "lit"} if kind == "resource" else {})))["error"]
                self.assertEqual((error["code"], error["message"]), (-32602, words))


if __name__ == "__main__":
    unittest.main()
