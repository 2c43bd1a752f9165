"""Type hints as JSON schemas, and JSON as values of those types."""

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import sys
import typing
import unittest
import uuid
from typing import (
    Any, DefaultDict, Dict, FrozenSet, Generic, List, Literal, Mapping, NamedTuple, NewType, Optional, Sequence, Set, Tuple, TypedDict,
    TypeVar, Union,
)  # fmt: skip

from mcp_bash import Context, DefinitionError, Field
from mcp_bash.definitions import Definitions
from mcp_bash.declaring import Declaration
from mcp_bash.shapes import Shapes, Undescribable
from mcp_bash.signatures import Signature


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    A = (1, 2)
    B = (3, 4)


@dataclasses.dataclass
class Address:
    """Where somebody lives.

    Attributes:
        city: The name of the city
    """

    city: str
    zip: Optional[str] = None


@dataclasses.dataclass
class Person:
    name: str
    address: Address
    born: datetime.date
    tags: List[str] = dataclasses.field(default_factory=list)
    nick: str = dataclasses.field(default="", metadata={"description": "What friends say"})
    secret: str = dataclasses.field(default="x", init=False)


@dataclasses.dataclass
class Node:
    value: int
    children: "List[Node]" = dataclasses.field(default_factory=list)


class Movie(TypedDict, total=False):
    title: str
    year: int


class Film(Movie):
    seen: datetime.date


class Point(NamedTuple):
    x: int
    y: int = 0


T = TypeVar("T")


@dataclasses.dataclass
class Page(Generic[T]):
    items: List[T]
    after: Optional[T] = None


@dataclasses.dataclass
class NamedPage(Page[int], Generic[T]):
    """The same variable has another meaning here."""

    name: Optional[T] = None


@dataclasses.dataclass
class NamedPages(NamedPage[Color]):
    more: bool = False


@dataclasses.dataclass
class Branch(Generic[T]):
    value: T
    below: "List[Branch[T]]" = dataclasses.field(default_factory=list)


UserId = NewType("UserId", int)
INT, STR = {"type": "integer"}, {"type": "string"}
ADDRESS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The name of the city"},
        "zip": {"anyOf": [STR, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
POINT = {
    "type": "object",
    "properties": {"x": INT, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
    "additionalProperties": False,
}
MOVIE = {"type": "object", "properties": {"title": STR, "year": INT}, "additionalProperties": False}
DAY = datetime.date(2026, 1, 31)

# A hint, its schema, a value as JSON, and the function's value.
TABLE = [
    (int, INT, 3, 3),
    (int, INT, 3.0, 3),
    (float, {"type": "number"}, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (str, STR, "a", "a"),
    (Any, {}, [1], [1]),
    (None, {"type": "null"}, None, None),
    (Optional[int], {"anyOf": [INT, {"type": "null"}]}, None, None),
    (Union[int, str], {"anyOf": [INT, STR]}, "3", "3"),
    (Union[datetime.date, int], {"anyOf": [{"type": "string", "format": "date"}, INT]}, 3, 3),
    (Union[Color, Address], {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, ADDRESS]}, {"city": "Rome"}, Address("Rome")),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "a", "a"),
    (Literal["a", 1], {"enum": ["a", 1]}, 1, 1),
    (Color, {"type": "string", "enum": ["red", "blue"]}, "red", Color.RED),
    (Odd, {"type": "string", "enum": ["A", "B"]}, "B", Odd.B),
    (list, {"type": "array", "items": {}}, [1], [1]),
    (List[int], {"type": "array", "items": INT}, [1.0], [1]),
    (Sequence[str], {"type": "array", "items": STR}, ["a"], ["a"]),
    (Set[int], {"type": "array", "items": INT, "uniqueItems": True}, [1, 2], {1, 2}),
    (FrozenSet[str], {"type": "array", "items": STR, "uniqueItems": True}, ["a"], frozenset("a")),
    (Tuple[int, ...], {"type": "array", "items": INT}, [1, 2], (1, 2)),
    (Tuple[int, int], {"type": "array", "items": INT, "minItems": 2, "maxItems": 2}, [1, 2], (1, 2)),
    (Tuple[int, str], {"type": "array", "items": {"anyOf": [INT, STR]}, "minItems": 2, "maxItems": 2}, [1, "a"], (1, "a")),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (Dict[str, int], {"type": "object", "additionalProperties": INT}, {"a": 1.0}, {"a": 1}),
    (Dict[int, Color], {"type": "object", "additionalProperties": {"type": "string", "enum": ["red", "blue"]}}, {"7": "red"}, {7: Color.RED}),
    (Mapping[str, str], {"type": "object", "additionalProperties": STR}, {"a": "b"}, {"a": "b"}),
    (datetime.datetime, {"type": "string", "format": "date-time"}, "2026-01-31T12:00:00Z",
     datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)),
    (datetime.date, {"type": "string", "format": "date"}, "2026-01-31", DAY),
    (datetime.time, {"type": "string", "format": "time"}, "12:30:00", datetime.time(12, 30)),
    (datetime.timedelta, {"type": "number", "description": "In seconds"}, 90, datetime.timedelta(seconds=90)),
    (uuid.UUID, {"type": "string", "format": "uuid"}, "12345678123456781234567812345678", uuid.UUID(int=0x12345678123456781234567812345678)),
    (pathlib.Path, {"type": "string", "format": "path"}, "/tmp/x", pathlib.Path("/tmp/x")),
    (decimal.Decimal, {"type": "string", "format": "decimal", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}, "1.50", decimal.Decimal("1.50")),
    (bytes, {"type": "string", "contentEncoding": "base64"}, "aGk=", b"hi"),
    (UserId, INT, 7, 7),
    (Address, ADDRESS, {"city": "Rome"}, Address("Rome")),
    (Point, POINT, {"x": 1}, Point(1)),
    (DefaultDict[str, int], {"type": "object", "additionalProperties": INT}, {"a": 1.0}, collections.defaultdict(int, {"a": 1})),
    (collections.OrderedDict, {"type": "object"}, {"a": 1}, collections.OrderedDict(a=1)),
    (Union[Movie, Address], {"anyOf": [MOVIE, ADDRESS]}, {"city": "Rome"}, Address("Rome")),
    (Union[Movie, Address], {"anyOf": [MOVIE, ADDRESS]}, {"year": 1.0}, {"year": 1}),
    (Movie, MOVIE, {"year": 1.0}, {"year": 1}),
]  # fmt: skip
if sys.version_info >= (3, 9):  # before, a TypedDict does not know its bases
    TABLE.append(
        (Film, {"type": "object", "properties": {"title": STR, "year": INT, "seen": {"type": "string", "format": "date"}},
         "required": ["seen"], "additionalProperties": False}, {"seen": "2026-01-31"}, {"seen": DAY})  # fmt: skip
    )


def convert(hint, value):
    shape = Shapes().of(hint)
    return value if shape.convert is None else shape.convert(value)


class Table(unittest.TestCase):
    maxDiff = None

    def test_schemas(self):
        for hint, schema, _, _ in TABLE:
            with self.subTest(hint=hint):
                self.assertEqual(Shapes().of(hint).schema, schema)

    def test_conversions(self):
        for hint, _, given, expected in TABLE:
            with self.subTest(hint=hint):
                got = convert(hint, given)
                self.assertEqual(got, expected)
                self.assertIs(type(got), type(expected))

    def test_nested_classes(self):
        given = {"name": "Ada", "address": {"city": "Rome"}, "born": "2026-01-31", "tags": ["x"]}
        self.assertEqual(convert(Person, given), Person("Ada", Address("Rome"), DAY, ["x"]))
        schema = Shapes().of(Person).schema
        self.assertEqual(schema["properties"]["address"], ADDRESS)
        self.assertEqual(schema["properties"]["nick"], {"type": "string", "description": "What friends say", "default": ""})
        self.assertNotIn("secret", schema["properties"])
        self.assertEqual(schema["required"], ["name", "address", "born"])

    def test_a_class_that_holds_itself_is_the_only_reference(self):
        shapes = Shapes()
        shape = shapes.of(Node)
        self.assertEqual(shape.schema, {"$ref": "#/$defs/Node"})
        self.assertEqual(shapes.definitions["Node"]["properties"]["children"]["items"], {"$ref": "#/$defs/Node"})
        tree = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}
        self.assertEqual(convert(Node, tree), Node(1, [Node(2, [Node(3)])]))

    def test_the_place_of_a_wrong_value_is_told(self):
        for hint, given, words in [
            (Person, {"name": "x", "address": {"city": "y"}, "born": "31.1."}, 'born: "31.1." is not a date (2026-01-31)'),
            (List[Color], ["red", "green"], '[1]: "green" is not one of red, blue'),
            (Address, {"town": "x"}, "there is no member `town`; known are city, zip"),
            (Tuple[int, str], ["a", 1], '[0]: "a" is not of type integer'),
            (Tuple[int, str], [1], "2 values are needed, 1 were given"),
            (Union[int, datetime.date], "x", '"x" is not of type integer; or "x" is not a date (2026-01-31)'),
            (Dict[str, List[uuid.UUID]], {"a": ["1"]}, 'a[0]: "1" is not a UUID'),
        ]:
            with self.subTest(hint=hint), self.assertRaises(ValueError) as raised:
                convert(hint, given)
            self.assertEqual(str(raised.exception), words)

    def test_what_json_has_no_words_for_is_refused(self):
        for hint in (complex, typing.Callable, type, collections.deque, Host):
            with self.subTest(hint=hint), self.assertRaises(Undescribable):
                Shapes().of(hint)

    @unittest.skipIf(sys.version_info < (3, 10), "written as X | Y")
    def test_newer_spellings(self):
        self.assertEqual(Shapes().of(eval("int | None")).schema, {"anyOf": [INT, {"type": "null"}]})
        self.assertEqual(Shapes().of(eval("list[dict[str, int]]")).schema["items"]["additionalProperties"], INT)


    def test_a_dict_with_defaults_has_those_of_its_type(self):
        self.assertEqual(convert(DefaultDict[str, List[int]], {"a": [1]})["b"], [])
        self.assertEqual(convert(DefaultDict[str, int], {})["b"], 0)
        with self.assertRaises(KeyError):
            convert(DefaultDict[str, Color], {})["b"]

    def test_a_typed_dict_in_a_union_takes_only_what_fits_it(self):
        class Needs(TypedDict):
            x: int
            y: str

        for given, expected in [
            ({"x": 1, "y": "a"}, {"x": 1, "y": "a"}),
            ({"x": 1}, Point(1)),
            ({"x": 1, "y": 2}, Point(1, 2)),
        ]:
            with self.subTest(given=given):
                got = convert(Union[Needs, Point], given)
                self.assertEqual((got, type(got)), (expected, type(expected)))
        with self.assertRaises(ValueError) as raised:
            convert(Union[Needs, Point], {"z": 1})
        self.assertEqual(str(raised.exception), "the member `x` is missing")


class Generics(unittest.TestCase):
    def test_variables_stand_for_what_is_written(self):
        self.assertEqual(Shapes().of(Page[int]).schema["properties"]["items"], {"type": "array", "items": INT})
        self.assertEqual(convert(Page[datetime.date], {"items": ["2026-01-31"]}), Page([DAY]))
        self.assertEqual(Shapes().of(Page).schema["properties"]["items"], {"type": "array", "items": {}})
        with self.assertRaises(ValueError) as raised:
            convert(Page[int], {"items": ["not an int"]})
        self.assertEqual(str(raised.exception), 'items[0]: "not an int" is not an integer')

    def test_variables_of_bases(self):
        properties = Shapes().of(NamedPages).schema["properties"]
        self.assertEqual(properties["items"], {"type": "array", "items": INT})
        self.assertEqual(properties["name"]["anyOf"][0]["enum"], ["red", "blue"])
        self.assertEqual(convert(NamedPages, {"items": [1.0], "name": "red"}), NamedPages([1], None, Color.RED))

    def test_a_generic_class_that_holds_itself(self):
        tree = {"value": "2026-01-31", "below": [{"value": "2026-01-31"}]}
        self.assertEqual(convert(Branch[datetime.date], tree), Branch(DAY, [Branch(DAY)]))

    @unittest.skipIf(sys.version_info < (3, 11), "TypedDicts and NamedTuples have variables since then")
    def test_other_classes(self):
        namespace = {"T": T, "Generic": Generic, "TypedDict": TypedDict, "NamedTuple": NamedTuple}
        exec(
            "class Rows(TypedDict, Generic[T]):\n    rows: list[T]\n"
            "class Named(Rows[int], Generic[T]):\n    name: T\n"
            "class Pair(NamedTuple, Generic[T]):\n    one: T\n    two: T\n",
            namespace,
        )
        properties = Shapes().of(namespace["Named"][str]).schema["properties"]
        self.assertEqual(properties, {"rows": {"type": "array", "items": INT}, "name": STR})
        pair = convert(namespace["Pair"][datetime.date], {"one": "2026-01-31", "two": "2026-01-31"})
        self.assertEqual((pair.one, pair.two), (DAY, DAY))


@unittest.skipIf(sys.version_info < (3, 12), "`type` is newer")
class Aliases(unittest.TestCase):
    def setUp(self):
        self.names = {"date": datetime.date}
        exec(
            "type Tree = dict[str, Tree] | date\ntype Many[T] = list[T] | T\ntype Loop = Loop | int\ntype Simple = list[int]\n"
            "type Deep[T] = list[Deep[T]] | T\ntype Row = dict[str, Row]\n",
            self.names,
        )

    def test_one_that_holds_itself_is_a_reference(self):
        shapes = Shapes()
        shape = shapes.of(self.names["Tree"])
        self.assertEqual(shape.schema, {"$ref": "#/$defs/Tree"})
        self.assertEqual(shapes.definitions["Tree"]["anyOf"][0], {"type": "object", "additionalProperties": shape.schema})
        self.assertEqual(shape.convert({"a": {"b": "2026-01-31"}}), {"a": {"b": DAY}})
        with self.assertRaises(ValueError) as raised:
            shape.convert({"a": {"b": 7}})
        self.assertIn("a: b: 7 is not of type", str(raised.exception))

    def test_others_stand_where_they_are_used(self):
        self.assertEqual(Shapes().of(self.names["Simple"]).schema, {"type": "array", "items": INT})
        many = Shapes().of(self.names["Many"][int]).schema
        self.assertEqual(many, {"anyOf": [{"type": "array", "items": INT}, INT]})
        self.assertEqual(convert(self.names["Deep"][datetime.date], [["2026-01-31"]]), [[DAY]])

    def test_one_that_is_nothing_else_is_refused_with_a_remedy(self):
        with self.assertRaises(Undescribable) as raised:
            Shapes().of(self.names["Loop"])
        self.assertIn("Loop means itself; let it hold itself inside of something", str(raised.exception))

    def test_results(self):
        def tree():
            return {}

        tree.__annotations__["return"] = self.names["Tree"]
        schema = offered(tree).definition["outputSchema"]
        self.assertEqual(schema["type"], "object")
        self.assertEqual(schema["properties"], {"result": {"$ref": "#/$defs/Tree"}})
        tree.__annotations__["return"] = self.names["Row"]
        schema = offered(tree).definition["outputSchema"]
        self.assertEqual((schema["type"], schema["additionalProperties"]), ("object", {"$ref": "#/$defs/Row"}))

    def test_parameters_of_a_class_in_texts(self):
        names = {}
        exec(
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            "@dataclass\nclass Page[T]:\n    items: list[T]\n",
            names,
        )
        self.assertEqual(Shapes().of(names["Page"][int]).schema["properties"]["items"], {"type": "array", "items": INT})


class Host:
    """A class without fields."""


@unittest.skipIf(sys.version_info < (3, 9), "Annotated is newer")
class Notes(unittest.TestCase):
    def schema(self, hint):
        return Shapes().of(hint).schema

    def test_what_may_be_null(self):
        Annotated = typing.Annotated

        def look(
            a: Annotated[Optional[int], Field("How many", maximum=10)] = None,
            b: Optional[Annotated[Union[int, None], Field()]] = None,
            c: Annotated[Union[int, str, None], Field(examples=[1])] = None,
            d: Annotated[Optional[Node], Field(title="N")] = None,
        ):
            return ""

        null = {"type": "null"}
        told = Signature(look).input_schema()["properties"]
        many = {**INT, "description": "How many", "maximum": 10}
        self.assertEqual(told["a"], {"anyOf": [many, null], "description": "How many"})
        self.assertEqual(told["b"], {"anyOf": [INT, null]})
        self.assertEqual(told["c"], {"anyOf": [INT, STR, null], "examples": [1]})
        self.assertEqual(told["d"], {"anyOf": [{"$ref": "#/$defs/Node"}, null], "title": "N"})

    def test_texts_and_fields(self):
        Annotated = typing.Annotated
        self.assertEqual(self.schema(Annotated[int, "How many"]), {"type": "integer", "description": "How many"})
        bounded = Field("Age", minimum=0, maximum=150)
        self.assertEqual(self.schema(Annotated[int, bounded]), {"type": "integer", "description": "Age", "minimum": 0, "maximum": 150})
        self.assertEqual(self.schema(Annotated[str, Field(pattern="^a", min_length=1)]), {"type": "string", "pattern": "^a", "minLength": 1})
        self.assertEqual(self.schema(Annotated[List[int], Field(min_items=1)])["minItems"], 1)
        self.assertEqual(self.schema(Annotated[complex, Field(schema={"type": "array"})]), {"type": "array"})
        self.assertEqual(self.schema(List[Annotated[int, "one"]])["items"]["description"], "one")

    def test_notes_of_others_are_recognised_by_their_members(self):
        class Ge:
            ge = 3

        class Info:
            description = "words"
            metadata = [Ge()]

        self.assertEqual(self.schema(typing.Annotated[int, Info()]), {"type": "integer", "minimum": 3, "description": "words"})

    @unittest.skipIf(sys.version_info < (3, 11), "Required is newer")
    def test_required_and_not_required(self):
        class Both(TypedDict, total=False):
            a: typing.Required[int]
            b: typing.NotRequired[typing.Annotated[str, "B"]]

        schema = self.schema(Both)
        self.assertEqual(schema["required"], ["a"])
        self.assertEqual(schema["properties"]["b"], {"type": "string", "description": "B"})


def offered(function, kind="tool", **options):
    definitions = Definitions([Declaration(kind, function, options)])
    return definitions.all()[0]


class Signatures(unittest.TestCase):
    maxDiff = None

    def refused(self, function, words, kind="tool", **options):
        with self.assertRaises(DefinitionError) as raised:
            offered(function, kind, **options)
        message = str(raised.exception)
        self.assertIn(words, message)
        self.assertNotIn("\n", message)
        self.assertTrue(message.startswith("test_schemas.py:"), message)

    def test_a_whole_definition(self):
        def find(name: str, limit: int = 10, kind: Optional[Color] = Color.RED, context: Context = None) -> List[Point]:  # type: ignore
            """Finds things.

            More words.

            Args:
                name: What to look for
                limit: How many
                    there may be
            """
            return []

        self.assertEqual(
            offered(find).definition,
            {
                "name": "find",
                "description": "Finds things.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "What to look for"},
                        "limit": {"type": "integer", "description": "How many there may be", "default": 10},
                        "kind": {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}], "default": "red"},
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                },
                "outputSchema": {
                    "type": "object",
                    "properties": {
                        "result": {
                            "type": "array",
                            "items": {"type": "object", "properties": {"x": INT, "y": INT}, "required": ["x"]},
                        }
                    },
                    "required": ["result"],
                },
            },
        )

    def test_no_arguments(self):
        def now():
            return "x"

        self.assertEqual(offered(now).definition["inputSchema"], {"type": "object", "properties": {}, "additionalProperties": False})

    def test_a_recursive_root_is_no_reference(self):
        def tree() -> Node:
            return Node(1)

        schema = offered(tree).definition["outputSchema"]
        self.assertEqual(schema["type"], "object")
        self.assertIn("value", schema["properties"])
        self.assertIn("Node", schema["$defs"])

    def test_types_from_defaults(self):
        def greet(times=3, loud=False, name="you", ratio=0.5):
            return ""

        properties = offered(greet).definition["inputSchema"]["properties"]
        self.assertEqual({name: one["type"] for name, one in properties.items()},
                         {"times": "integer", "loud": "boolean", "name": "string", "ratio": "number"})  # fmt: skip

    def test_defaults_are_written_as_they_would_be_given(self):
        def crop(
            origin: Point = Point(1, 2),
            named: Dict[str, Point] = {"a": Point(3)},
            many: FrozenSet[Point] = frozenset([Point(4)]),
            price: decimal.Decimal = decimal.Decimal("1E+3"),
            strange: decimal.Decimal = decimal.Decimal("NaN"),
            lie: int = "five",  # type: ignore
        ):
            return ""

        tool = offered(crop)
        properties = tool.definition["inputSchema"]["properties"]
        defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
        self.assertEqual(
            defaults,
            {"origin": {"x": 1, "y": 2}, "named": {"a": {"x": 3, "y": 0}}, "many": [{"x": 4, "y": 0}], "price": "1000"},
        )
        given = tool.prepare({"arguments": defaults}, None)[1]
        self.assertEqual((given["origin"], given["named"]), (Point(1, 2), {"a": Point(3)}))
        self.assertEqual((given["many"], given["price"]), ({Point(4)}, decimal.Decimal(1000)))

    def test_positional_only_arguments(self):
        def power(base, exponent):
            return base**exponent

        namespace = {}
        exec("def power(base: int, /, exponent: int) -> int:\n    return base ** exponent", namespace)
        signature = Signature(namespace["power"])
        positional, named = signature.prepare({"base": 2, "exponent": 3.0}, None)
        self.assertEqual((positional, named), ((2,), {"exponent": 3}))

    def test_what_may_be_null_is_told_so_that_every_agent_keeps_it_optional(self):
        def look(
            a: Optional[int] = None,
            b: Optional[Union[int, str]] = None,
            e: Optional[Node] = None,
            f: Optional[Address] = None,
            g: Optional[str] = "x",
            h: int = None,  # type: ignore[assignment]
        ) -> str:
            """Looks.

            Args:
                a: A number
                b: One or the other
                e: A node
            """
            return ""

        null = {"type": "null"}
        schema = Signature(look).input_schema()
        told = schema["properties"]
        self.assertNotIn("required", schema)
        self.assertEqual(told["a"], {"anyOf": [{**INT, "description": "A number"}, null], "description": "A number"})
        either = {"description": "One or the other"}
        self.assertEqual(told["b"], {"anyOf": [{**INT, **either}, {**STR, **either}, null], **either})
        self.assertEqual(told["e"], {"anyOf": [{"$ref": "#/$defs/Node"}, null], "description": "A node"})
        self.assertEqual(told["f"], {"anyOf": [ADDRESS, null]})
        self.assertEqual(told["g"], {"anyOf": [STR, null], "default": "x"})
        self.assertEqual(told["h"], INT)
        for name in "abefg":
            self.assertEqual(Signature(look).prepare({name: None}, None)[1], {name: None})

    def test_fields_of_classes_that_may_be_null(self):
        class Options(TypedDict, total=False):
            """Options.

            Attributes:
                depth: How deep
            """

            depth: Optional[int]

        expected = {"anyOf": [{**INT, "description": "How deep"}, {"type": "null"}], "description": "How deep"}
        self.assertEqual(Shapes().of(Options).schema["properties"]["depth"], expected)
        # Clients do not fill in results, so the description is not repeated in the choices.
        self.assertEqual(Shapes(output=True).of(Options).schema["properties"]["depth"]["anyOf"], [INT, {"type": "null"}])

    def test_texts_as_hints_on_every_python(self):
        namespace = {"Node": Node}
        exec(
            "from __future__ import annotations\n"
            "def f(a: int | None, b: list[dict[str, int]], c: Node | tuple[int, ...] = ()) -> int | str: return 1",
            namespace,
        )
        properties = Signature(namespace["f"]).input_schema()["properties"]
        self.assertEqual(properties["a"], {"anyOf": [INT, {"type": "null"}]})
        self.assertEqual(properties["b"]["items"]["additionalProperties"], INT)
        self.assertEqual(properties["c"]["anyOf"][1], {"type": "array", "items": INT})
        exec(
            "from __future__ import annotations\n"
            "from typing import NamedTuple, TypedDict\n"
            "class T(TypedDict):\n    a: list[int] | None\n"
            "class P(NamedTuple):\n    a: list[int] | None\n"
            "def g(t: T, p: P): pass",
            namespace,
        )
        for schema in Signature(namespace["g"]).input_schema()["properties"].values():
            self.assertEqual(schema["properties"]["a"]["anyOf"][0], {"type": "array", "items": INT})

    def test_what_cannot_be_described_is_refused_in_one_line(self):
        def untyped(a):
            return a

        def stars(*names: str):
            return names

        def double(**named: str):
            return named

        def strange(a: complex):
            return a

        def unknown(a: "Nowhere"):  # type: ignore  # noqa: F821
            return a

        def generator(a: int):
            yield a

        class Thing:
            def method(self, a: int):
                return a

        self.refused(untyped, "untyped(), parameter `a`: it has no type; write one, as `a: str`")
        self.refused(stars, "parameter `*names`: arguments need names; write one parameter for them, as `names: list[str]`")
        self.refused(double, "parameter `**named`")
        self.refused(strange, "strange(), parameter `a`: complex cannot be described; use a type")
        self.refused(unknown, "parameter `a`: its type Nowhere cannot be read")
        self.refused(generator, "a generator cannot be a tool")
        self.refused(Thing.method, "parameter `self`: a method cannot be called without its object")
        self.refused(lambda: 1, "cannot be a name")

    def test_bound_methods(self):
        class Counter:
            def add(self, by: int) -> int:
                """Adds."""
                return by + 1

        tool = offered(Counter().add)
        self.assertEqual(tool.name, "add")
        self.assertEqual(tool.function(by=2), 3)

    def test_resources_and_templates(self):
        def config() -> str:
            """The configuration."""
            return ""

        def profile(id: int, full: bool = False) -> dict:
            return {}

        self.assertEqual(
            offered(config, "resource", uri="config://app", mimeType="text/plain").definition,
            {"name": "config", "description": "The configuration.", "uri": "config://app", "mimeType": "text/plain"},
        )
        template = offered(profile, "resource", uri="users://{id}/profile{?full}")
        self.assertEqual(template.definition, {"name": "profile", "uriTemplate": "users://{id}/profile{?full}"})
        self.assertEqual(template.prepare({"arguments": {"id": "7", "full": "true"}}, None)[1], {"id": 7, "full": True})
        self.refused(profile, "parameter `id`: the URI has no such variable", "resource", uri="users://all")
        self.refused(config, "{x} of its URI is not among its parameters", "resource", uri="config://{x}")

    def test_prompts_read_texts(self):
        def review(code: str, strict: bool = False, lines: Optional[int] = None, style: Optional[Literal["short", "long"]] = None):
            """Reviews code.

            :param code: the code
            """
            return code

        prompt = offered(review, "prompt")
        self.assertEqual(
            prompt.definition["arguments"],
            [
                {"name": "code", "required": True, "description": "the code"},
                {"name": "strict", "required": False},
                {"name": "lines", "required": False},
                {"name": "style", "required": False, "enum": ["short", "long"]},
            ],
        )
        given = prompt.prepare({"arguments": {"code": "12", "strict": "yes", "lines": "3"}}, None)[1]
        self.assertEqual(given, {"code": "12", "strict": True, "lines": 3})

    def test_output_can_be_left_out_or_given(self):
        def f() -> int:
            return 1

        self.assertNotIn("outputSchema", offered(f, output=False).definition)
        self.assertEqual(offered(f, output={"type": "object"}).definition["outputSchema"], {"type": "object"})
        self.assertIn("city", offered(f, output=Address).definition["outputSchema"]["properties"])


if __name__ == "__main__":
    unittest.main()
