"""The definitions of a file: each decorated function with its definition for clients, and how to call it."""

from __future__ import annotations

import os

from .callables import Missing, is_async
from .errors import DefinitionError
from .json_types import is_object
from .nullable import without_null
from .rendering import ResultForm, render_prompt, render_resource, render_tool
from .scalar_shapes import Shape, plain_shape
from .schema_roots import is_object_schema, root_schema
from .signatures import Signature, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    from .call_context import Context
    from .declaring import Declaration

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_LONGEST_NAME = 128


class Offered:
    """A function that clients may use."""

    def __init__(self, declaration: Declaration) -> None:
        self.file = declaration.file
        self.line = declaration.line
        self.function = declaration.function
        self.signature = Signature(declaration.function)
        self.is_async = is_async(declaration.function)
        self.name: str = str(declaration.options.get("name") or getattr(declaration.function, "__name__", ""))
        if not (self.name and len(self.name) <= _LONGEST_NAME and _LETTERS.issuperset(self.name)):
            raise DefinitionError(
                "%s: `%s` cannot be a name; give it one of letters, digits, _ and - with name=…"
                % (where(self.function), self.name)
            )
        self.definition: Dict[str, Any] = {"name": self.name}
        description = declaration.options.get("description") or self.signature.description
        if description:
            self.definition["description"] = description

    def prepare(self, frame: Dict[str, Any], context: Context) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        return self.signature.prepare(frame.get("arguments") or {}, context)

    def render(self, value: Any, frame: Dict[str, Any]) -> str:
        """The function's return value, as the result of the protocol."""
        raise NotImplementedError


class ToolFunction(Offered):
    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration)
        options = dict(declaration.options)
        output = options.pop("output", True)
        self.definition.update(options)
        self.definition["inputSchema"] = self.signature.input_schema()
        schema, self.form = self._output(output)
        if schema is not None:
            self.definition["outputSchema"] = schema

    def _output(self, output: Any) -> Tuple[Optional[Dict[str, Any]], ResultForm]:
        if output is False:
            return None, ResultForm()
        if is_object(output):
            return output, ResultForm(has_schema=True)
        hint = self.signature.returns() if output is True else output
        definitions: Dict[str, Any] = {}
        shape = plain_shape(hint) or _describe(hint, definitions)
        if shape is None:
            return None, ResultForm()
        if is_object_schema(shape.schema, definitions):
            return root_schema(shape.schema, definitions), ResultForm(True, False, shape.named_tuple)
        wrapped = {"type": "object", "properties": {"result": shape.schema}, "required": ["result"]}
        return root_schema(wrapped, definitions), ResultForm(True, True, shape.named_tuple)

    def render(self, value: Any, frame: Dict[str, Any]) -> str:
        return render_tool(value, self.form)


def _describe(hint: Any, definitions: Dict[str, Any]) -> Optional[Shape]:
    """The shape of a result. Content, None and values without a schema have none."""
    if hint is Missing or hint is None or hint is type(None) or hint is bytes:
        return None
    import typing

    from .shapes import Shapes

    if hint is typing.Any or _has_content(hint):
        return None
    try:
        shape = Shapes(output=True, definitions=definitions).of(hint)
    except Exception:
        return None
    return shape if shape.schema else None


def _has_content(hint: Any) -> bool:
    import typing

    from .contents import Content, Result

    if isinstance(hint, type) and issubclass(hint, (Content, Result)):
        return True
    parts: Tuple[Any, ...] = typing.get_args(hint)
    return any(_has_content(part) or part is bytes for part in parts)


class ResourceFunction(Offered):
    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration)
        options = dict(declaration.options)
        uri: str = options.pop("uri")
        self.mime: Optional[str] = options.get("mimeType")
        self.definition.update(options)
        variables = _variables(uri)
        self.is_template = bool(variables)
        self.definition["uriTemplate" if variables else "uri"] = uri
        self.signature.take_texts()
        self._refuse_other_arguments(uri, variables)

    def _refuse_other_arguments(self, uri: str, variables: List[str]) -> None:
        taken = [parameter.name for parameter in self.signature.parameters]
        for parameter in self.signature.parameters:
            if parameter.required and parameter.name not in variables:
                raise DefinitionError(
                    "%s, parameter `%s`: the URI has no such variable; write {%s} into %s, or give it a default"
                    % (where(self.function), parameter.name, parameter.name, uri)
                )
        for name in variables:
            if name not in taken:
                raise DefinitionError(
                    "%s: {%s} of its URI is not among its parameters; write `%s: str`" % (where(self.function), name, name)
                )

    def render(self, value: Any, frame: Dict[str, Any]) -> str:
        return render_resource(value, str(frame.get("resource")), self.mime)


def _variables(uri: str) -> List[str]:
    """The names in a URI template of RFC 6570."""
    import re

    found: List[str] = []
    for expression in re.findall(r"\{([^{}]*)\}", uri):
        for part in expression.lstrip("+#./;?&").split(","):
            found.append(part.partition(":")[0].rstrip("*"))
    return found


class PromptFunction(Offered):
    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration)
        self.definition.update(declaration.options)
        self.signature.take_texts()
        arguments = [self._argument(parameter) for parameter in self.signature.parameters]
        if arguments:
            self.definition["arguments"] = arguments

    def _argument(self, parameter: Any) -> Dict[str, Any]:
        schema = without_null(parameter.schema(self.signature.definitions))
        argument: Dict[str, Any] = {"name": parameter.name, "required": parameter.required}
        if schema.get("description"):
            argument["description"] = schema["description"]
        if schema.get("type") == "string" and "enum" in schema:
            argument["enum"] = schema["enum"]
        return argument

    def render(self, value: Any, frame: Dict[str, Any]) -> str:
        return render_prompt(value, self.definition.get("description", ""))


_KINDS = {"tool": ToolFunction, "resource": ResourceFunction, "prompt": PromptFunction}


class Definitions:
    """All definitions of a file, by kind and name."""

    def __init__(self, declarations: List[Declaration]) -> None:
        self.tools: Dict[str, ToolFunction] = {}
        self.resources: Dict[str, ResourceFunction] = {}
        self.prompts: Dict[str, PromptFunction] = {}
        for declaration in declarations:
            self._add(declaration)

    def _add(self, declaration: Declaration) -> None:
        place = "%s:%d" % (os.path.basename(declaration.file), declaration.line)
        try:
            offered = _KINDS[declaration.kind](declaration)
        except DefinitionError as problem:
            raise DefinitionError("%s: %s" % (place, problem)) from None
        table: Dict[str, Any] = getattr(self, declaration.kind + "s")
        if offered.name in table:
            raise DefinitionError("%s: there are two %ss called `%s`" % (place, declaration.kind, offered.name))
        table[offered.name] = offered

    def all(self) -> List[Offered]:
        return [*self.tools.values(), *self.resources.values(), *self.prompts.values()]

    def find(self, frame: Dict[str, Any]) -> Optional[Offered]:
        """The function of a call."""
        if "tool" in frame:
            return self.tools.get(frame["tool"])
        if "resource" in frame:
            return self.resources.get(frame.get("name") or "")
        return self.prompts.get(frame.get("prompt") or "")

    def describe(self) -> Dict[str, Any]:
        """The definitions in the server's format."""
        found = {
            "tools": [one.definition for one in self.tools.values()],
            "resources": [one.definition for one in self.resources.values() if not one.is_template],
            "templates": [one.definition for one in self.resources.values() if one.is_template],
            "prompts": [one.definition for one in self.prompts.values()],
        }
        return {key: value for key, value in found.items() if value}
