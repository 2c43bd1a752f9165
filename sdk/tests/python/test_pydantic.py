"""Models of pydantic, if it is installed."""

import datetime
import decimal
import pathlib
import unittest
import uuid
from typing import List, Optional, Set

try:
    import pydantic
except ImportError:
    raise unittest.SkipTest("pydantic is not installed")

from mcp_bash.definitions import ToolFunction
from mcp_bash.declaring import Declaration
from mcp_bash.errors import BadArgument
from mcp_bash.shapes import Shapes


class Address(pydantic.BaseModel):
    city: str = pydantic.Field(description="The city")


class Person(pydantic.BaseModel):
    name: str
    home: Address
    others: List[Address] = []


class Tree(pydantic.BaseModel):
    value: int
    below: "List[Tree]" = []


getattr(Tree, "model_rebuild", getattr(Tree, "update_forward_refs"))()


class Models(unittest.TestCase):
    def test_schemas_have_no_references_without_need(self):
        schema = Shapes().of(Person).schema
        self.assertNotIn("$ref", str(schema))
        self.assertEqual(schema["properties"]["home"]["properties"]["city"]["description"], "The city")

    def test_recursive_models(self):
        def grow(tree: Tree, other: Optional[Tree] = None) -> Tree:
            return tree

        tool = ToolFunction(Declaration("tool", grow, {}))
        schema = tool.definition["inputSchema"]
        self.assertEqual(schema["properties"]["tree"], {"$ref": "#/$defs/Tree"})
        self.assertEqual(schema["$defs"]["Tree"]["properties"]["below"]["items"], {"$ref": "#/$defs/Tree"})
        output = tool.definition["outputSchema"]
        self.assertEqual(output["type"], "object")
        given = tool.prepare({"arguments": {"tree": {"value": 1, "below": [{"value": 2}]}}}, None)[1]
        self.assertEqual(given["tree"].below[0].value, 2)
        self.assertIn('"structuredContent":{"value":1,"below":[{"value":2,"below":[]}]}', tool.render(given["tree"], {}))

    @unittest.skipUnless(hasattr(pydantic, "TypeAdapter"), "strict models are of version 2")
    def test_strict_models_take_texts_for_what_json_has_no_word_for(self):
        class Order(pydantic.BaseModel):
            model_config = {"strict": True}
            file: pathlib.Path
            when: datetime.datetime
            id: uuid.UUID
            price: decimal.Decimal
            tags: Set[str]
            count: int

        given = {
            "file": "/a",
            "when": "2026-01-31T12:00:00Z",
            "id": "12345678-1234-5678-1234-567812345678",
            "price": "1.50",
            "tags": ["a"],
            "count": 3,
        }
        convert = Shapes().of(Order).convert
        made = convert(given)
        self.assertEqual((made.file, made.price, made.tags), (pathlib.Path("/a"), decimal.Decimal("1.50"), {"a"}))
        with self.assertRaises(ValueError) as raised:
            convert({**given, "count": "3"})
        self.assertIn("count: ", str(raised.exception))

    def test_arguments_are_validated_in_one_line(self):
        def meet(person: Person) -> str:
            return person.name

        tool = ToolFunction(Declaration("tool", meet, {}))
        with self.assertRaises(BadArgument) as raised:
            tool.prepare({"arguments": {"person": {"name": "x", "home": {}}}}, None)
        self.assertIn("Argument `person`: home.city: ", str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
