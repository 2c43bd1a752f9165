"""A function's signature: its arguments, their JSON types, and how they are passed."""

from __future__ import annotations

from . import callables
from .call_context import Context
from .callables import Missing
from .encoding import name_tuples, plain_or_none
from .errors import BadArgument, DefinitionError
from .mismatch import show
from .nullable import with_null
from .scalar_shapes import Shape, plain_shape
from .schema_roots import root_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple

# As texts, which all hints of a file can be.
_PLAIN_HINTS = {"bool": bool, "int": int, "float": float, "str": str}


class Parameter:
    """One argument."""

    __slots__ = ("name", "shape", "required", "default", "description")

    def __init__(self, name: str, shape: Shape, default: Any, description: Optional[str]) -> None:
        self.name = name
        self.shape = shape
        self.required = default is Missing
        self.default = default
        self.description = description

    def schema(self, definitions: Dict[str, Any]) -> Dict[str, Any]:
        schema = dict(self.shape.schema)
        if self.description:
            schema.setdefault("description", self.description)
        if not self.required:
            default = plain_or_none(name_tuples(self.default) if self.shape.named_tuple else self.default)
            # A default that its own schema refuses is the author's choice.
            if default is not None and _fits(default, self.shape, schema, definitions):
                schema.setdefault("default", default)
        return with_null(schema)


def _fits(default: Any, shape: Shape, schema: Dict[str, Any], definitions: Dict[str, Any]) -> bool:
    if shape.is_exactly is not None and type(default) is shape.is_exactly:
        return True
    from .schema_check import fits

    return fits(default, schema, definitions)


class Signature:
    """The arguments and the result of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.description, described = _described(callables.doc_of(function))
        self.context_name: Optional[str] = None
        self.parameters: List[Parameter] = []
        self.definitions: Dict[str, Any] = {}
        self._shapes: Any = None
        self._positional: List[str] = []
        self._namespace, self._local = _namespaces(function)
        given, self._returns = callables.signature_of(function)
        _refuse_generators(function)
        for parameter in given:
            self._add(parameter, described)
        self._converters = [(one.name, one.shape.convert) for one in self.parameters if one.shape.convert is not None]
        self._names = {one.name for one in self.parameters}
        self._required = {one.name for one in self.parameters if one.required}

    def _add(self, parameter: callables.Given, described: Dict[str, str]) -> None:
        name = parameter.name
        if parameter.kind in (callables.STAR, callables.TWO_STARS):
            stars = "*" if parameter.kind == callables.STAR else "**"
            instead = "list[str]" if stars == "*" else "dict[str, str]"
            self._refuse(stars + name, "arguments need names", "write one parameter for them, as `%s: %s`" % (name, instead))
        hint = self._hint(parameter)
        if _is_context(hint):
            self.context_name = name
        else:
            shape = self._shape(name, hint)
            self.parameters.append(Parameter(name, shape, parameter.default, described.get(name)))
        if parameter.kind == callables.POSITIONAL_ONLY:
            self._positional.append(name)

    def _hint(self, parameter: callables.Given) -> Any:
        name, hint = parameter.name, parameter.hint
        if hint is Missing:
            if name in ("self", "cls"):
                self._refuse(name, "a method cannot be called without its object", "decorate a function, or a bound method")
            guessed = parameter.default.__class__
            if guessed in (bool, int, float, str):
                return guessed
            self._refuse(name, "it has no type", "write one, as `%s: str`" % name)
        try:
            return self._evaluated(hint)
        except Exception as problem:
            self._refuse(name, "its type %s cannot be read (%s)" % (hint, problem), "import or define what it names")

    def _evaluated(self, hint: Any) -> Any:
        plain = _PLAIN_HINTS.get(hint) if isinstance(hint, str) and hint not in self._namespace else None
        if plain is not None and hint not in self._local:
            return plain
        if plain_shape(hint) is not None:
            return hint
        from .hints import evaluate

        return evaluate(hint, self._namespace, self._local)

    def _shape(self, name: str, hint: Any) -> Shape:
        plain = plain_shape(hint)
        if plain is not None:
            return plain
        from .hints import spell
        from .shapes import Shapes, Undescribable

        if self._shapes is None:
            self._shapes = Shapes(definitions=self.definitions)
        try:
            described: Shape = self._shapes.of(hint)
            return described
        except Undescribable as problem:
            problem_text = str(problem)
        except Exception as problem:
            problem_text = "its type %s cannot be read: %s: %s" % (spell(hint), type(problem).__name__, problem)
        raise DefinitionError("%s, parameter `%s`: %s" % (where(self.function), name, problem_text))

    def _refuse(self, name: str, problem: str, remedy: str) -> NoReturn:
        raise DefinitionError("%s, parameter `%s`: %s; %s" % (where(self.function), name, problem, remedy))

    def input_schema(self) -> Dict[str, Any]:
        schema: Dict[str, Any] = {
            "type": "object",
            "properties": {parameter.name: parameter.schema(self.definitions) for parameter in self.parameters},
        }
        required = [parameter.name for parameter in self.parameters if parameter.required]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        return root_schema(schema, self.definitions)

    def returns(self) -> Any:
        """The return hint, or `Missing` if there is none that can be read."""
        if self._returns is Missing:
            return Missing
        try:
            return self._evaluated(self._returns)
        except Exception:
            return Missing

    def take_texts(self) -> None:
        """All arguments arrive as texts, and are parsed and checked by their types."""
        from .text_reading import from_text

        for one in self.parameters:
            self._refuse_strange_patterns(one)
        self._converters = [
            (one.name, from_text(one.shape.schema, one.shape.convert, self.definitions)) for one in self.parameters
        ]

    def _refuse_strange_patterns(self, parameter: Parameter) -> None:
        import re

        from .schema_check import compiled, patterns

        for pattern in patterns([parameter.shape.schema, self.definitions]):
            try:
                compiled(pattern)
            except re.error as problem:
                words = "its pattern %s cannot be read (%s)" % (pattern, problem)
                self._refuse(parameter.name, words, "write one that Python's `re` takes")

    def prepare(self, given: Dict[str, Any], context: Context) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        """The arguments for the function."""
        if not (given.keys() <= self._names and self._required <= given.keys()):
            self._refuse_names(given)
        if self._converters or self.context_name:
            given = dict(given)
        for name, convert in self._converters:
            if name in given:
                try:
                    given[name] = convert(given[name])
                except (ValueError, TypeError) as problem:
                    raise BadArgument(name, str(problem)) from None
        if self.context_name:
            given[self.context_name] = context
        if not self._positional:
            return (), given
        given = dict(given)
        return tuple(given.pop(name) for name in self._positional if name in given), given

    def _refuse_names(self, given: Dict[str, Any]) -> NoReturn:
        for name in given:
            if name not in self._names:
                known = ", ".join(one.name for one in self.parameters) or "none"
                raise BadArgument(show(name)[1:-1], "there is no such argument; known are: %s" % known)
        name = next(one.name for one in self.parameters if one.required and one.name not in given)
        raise BadArgument(name, "it is needed, and was not given")


def _described(doc: Optional[str]) -> Tuple[str, Dict[str, str]]:
    """The description of a function, and those of its parameters."""
    if not doc or ("\n" not in doc and ":" not in doc):
        return (doc or "").expandtabs().strip(), {}
    from .docstrings import parse

    return parse(doc)


def where(function: Callable[..., Any]) -> str:
    """The function's name in messages."""
    return "%s()" % getattr(function, "__qualname__", repr(function)).replace("<locals>.", "")


def _is_context(hint: Any) -> bool:
    if plain_shape(hint) is not None:
        return False
    from .hints import is_union, unwrap_annotated

    base, _ = unwrap_annotated(hint)
    if is_union(base):
        return any(_is_context(part) for part in base.__args__)
    return isinstance(base, type) and issubclass(base, Context)


def _namespaces(function: Any) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The names that the hints of a function can use: those of its module, and those around it."""
    inner = callables.innermost(function)
    local: Dict[str, Any] = {}
    code = getattr(inner, "__code__", None)
    for name, cell in zip(code.co_freevars if code else (), inner.__closure__ or () if code else ()):
        try:
            local[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return getattr(inner, "__globals__", {}), local


def _refuse_generators(function: Any) -> None:
    if callables.is_generator(function):
        raise DefinitionError(
            "%s: a generator cannot be a tool, resource or prompt; return the whole result, and call progress() on the way"
            % where(function)
        )
