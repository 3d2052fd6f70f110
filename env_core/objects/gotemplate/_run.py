"""Running a parsed Go template on an object.

Source: Go text/template exec.go; tests/golden/l0/output_formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from env_core.objects.goformat import value_text
from env_core.objects.gotemplate._functions import (
    OUTPUT_MAX,
    FunctionError,
    Signature,
    Struct,
    TextMap,
    go_type,
    is_true,
    shown,
)
from env_core.objects.gotemplate._nodes import (
    Action,
    Branch,
    Call,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Function,
    Jump,
    Nil,
    Node,
    Operand,
    Pipeline,
    Statement,
    TemplateError,
    Text,
    Variable,
)
from env_core.objects.problems import quoted

_DEPTH_MAX: Final = 100
_STEPS_MAX: Final = 200_000
# So much text counts as one step: a loop of large prints is as much work as many small ones.
_STEP_CHARACTERS: Final = 64


class _Value(NamedTuple):
    """A value, and whether Go holds it in an `interface {}` (elements of maps and lists are)."""

    value: Any
    is_boxed: bool = False


class _Break(Exception):
    """`{{break}}`"""


class _Continue(Exception):
    """`{{continue}}`"""


_ABSENT: Final = object()
"""No value comes down the pipeline."""


class Run:
    """One execution: variables, output so far, and the node that errors point at."""

    __slots__ = (
        "_allow_missing",
        "_depth",
        "_functions",
        "_name",
        "_node",
        "_out",
        "_size",
        "_source",
        "_steps",
        "_templates",
        "_variables",
    )

    def __init__(
        self,
        name: str,
        source: str,
        templates: dict[str, tuple[Statement, ...]],
        functions: Mapping[str, Signature],
        *,
        allow_missing: bool,
    ) -> None:
        self._name = name
        self._source = source
        self._templates = templates
        self._functions = functions
        self._allow_missing = allow_missing
        self._variables: list[tuple[str, _Value]] = []
        self._out: list[str] = []
        self._size = 0
        self._steps = 0
        self._depth = 0
        self._node: Node | None = None

    def text(self) -> str:
        """Return what has been printed so far."""
        return "".join(self._out)

    def execute(self, subject: Any) -> None:
        """Run the main template.

        Raises:
            TemplateError: with Go's text, or when the template asks for an absurd amount of work.
        """
        dot = _Value(subject)
        self._variables = [("$", dot)]
        self._walk_all(dot, self._templates[self._name])

    def _error(self, message: str) -> TemplateError:
        node = self._node
        if node is None:
            return TemplateError(f"template: {self._name}: {message}")
        before = self._source[: node.at]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode())
        return TemplateError(
            f"template: {self._name}:{line}:{column}: executing {quoted(self._name)} at <{node}>: {message}"
        )

    def _write(self, text: str) -> None:
        self._size += len(text)
        if self._size > OUTPUT_MAX:
            raise self._error("output is too large")
        self._out.append(text)

    def _step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > _STEPS_MAX:
            raise self._error("template is too complex")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._error("exceeded maximum template depth (100000)")

    # Statements

    def _walk_all(self, dot: _Value, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self._step()
            self._node = statement
            if isinstance(statement, Text):
                self._write(statement.text)
            elif isinstance(statement, Action):
                value = self._pipeline(dot, statement.pipeline)
                if not statement.pipeline.variables:
                    self._node = statement
                    self._write(shown(value))
            elif isinstance(statement, Branch):
                self._branch(dot, statement)
            elif isinstance(statement, Jump):
                raise _Break if statement.keyword == "break" else _Continue
            else:
                self._call_template(dot, statement)

    def _branch(self, dot: _Value, branch: Branch) -> None:
        mark = len(self._variables)
        self._enter()
        try:
            if branch.keyword == "range":
                self._range(dot, branch)
                return
            value = self._pipeline(dot, branch.pipeline)
            if is_true(value):
                self._walk_all(_Value(value) if branch.keyword == "with" else dot, branch.body)
            elif branch.otherwise is not None:
                self._walk_all(dot, branch.otherwise)
        finally:
            self._depth -= 1
            del self._variables[mark:]

    def _range(self, dot: _Value, branch: Branch) -> None:
        value = self._pipeline(dot, branch.pipeline)
        pairs: list[tuple[Any, _Value]] = []
        if isinstance(value, dict):
            pairs = [(key, _Value(value[key], is_boxed=True)) for key in sorted(value)]
        elif isinstance(value, list):
            pairs = [(place, _Value(item, is_boxed=True)) for place, item in enumerate(value)]
        elif isinstance(value, int) and not isinstance(value, bool):
            if len(branch.pipeline.variables) > 1:
                raise self._error(f"can't use {value} to iterate over more than one variable")
            if value > _STEPS_MAX:
                raise self._error("template is too complex")
            pairs = [(place, _Value(place)) for place in range(value)]
        elif value is not None:
            raise self._error(f"range can't iterate over {value_text(value)}")
        self._step(len(pairs))  # A round with nothing in it is work, too.
        mark = len(self._variables)
        for key, item in pairs:
            self._bind(branch.pipeline, mark, key, item)
            try:
                self._walk_all(item, branch.body)
            except _Break:
                break
            except _Continue:
                pass
            finally:
                del self._variables[mark:]
        if not pairs and branch.otherwise is not None:
            self._walk_all(dot, branch.otherwise)

    def _bind(self, pipeline: Pipeline, mark: int, key: Any, item: _Value) -> None:
        """Give the loop variables of one round their values."""
        names = pipeline.variables
        values = (_Value(key), item) if len(names) > 1 else (item,)
        for offset, (name, value) in enumerate(zip(names, values)):
            if pipeline.is_assignment:
                self._assign(name, value)
            else:
                self._variables[mark - len(names) + offset] = (name, value)

    def _call_template(self, dot: _Value, call: Call) -> None:
        statements = self._templates.get(call.name)
        if statements is None:
            raise self._error(f"template {quoted(call.name)} not defined")
        self._enter()
        inner = _Value(self._pipeline(dot, call.pipeline) if call.pipeline is not None else None)
        outer, self._variables = self._variables, [("$", inner)]
        self._walk_all(inner, statements)
        self._variables = outer
        self._depth -= 1

    # Pipelines

    def _assign(self, name: str, value: _Value) -> None:
        for place in range(len(self._variables) - 1, -1, -1):
            if self._variables[place][0] == name:
                self._variables[place] = (name, value)
                return
        raise self._error(f"undefined variable: {name}")

    def _variable(self, name: str) -> _Value:
        known: tuple[str, _Value]
        for known in reversed(self._variables):
            if known[0] == name:
                return known[1]
        raise self._error(f"undefined variable: {name}")

    def _pipeline(self, dot: _Value, pipeline: Pipeline) -> Any:
        self._node = pipeline
        value: Any = _ABSENT
        for command in pipeline.commands:
            value = self._command(dot, command, value).value
        for name in pipeline.variables:
            if pipeline.is_assignment:
                self._assign(name, _Value(value))
            else:
                self._variables.append((name, _Value(value)))
        return value

    def _command(self, dot: _Value, command: Command, final: Any) -> _Value:
        self._step()
        first = command.operands[0]
        if isinstance(first, Function):
            return self._function(dot, first, command, command.operands[1:], final)
        has_arguments = len(command.operands) > 1 or final is not _ABSENT
        if isinstance(first, Field | Chain | Variable):
            return self._path(dot, first, has_arguments=has_arguments)
        if not isinstance(first, Pipeline):
            self._node = first
        if has_arguments:
            shown_first = f"({first})" if isinstance(first, Pipeline) else str(first)
            raise self._error(f"can't give argument to non-function {shown_first}")
        if isinstance(first, Pipeline):
            return _Value(self._pipeline(dot, first))
        if isinstance(first, Dot):
            return dot
        if isinstance(first, Nil):
            raise self._error("nil is not a command")
        return self._constant(first)

    def _constant(self, node: Constant) -> _Value:
        if isinstance(node.value, int) and node.value > 2**63 - 1:
            raise self._error(f"{node.text} overflows int")
        return _Value(node.value)

    def _path(self, dot: _Value, node: Field | Chain | Variable, *, has_arguments: bool) -> _Value:
        self._node = node
        if isinstance(node, Field):
            value, names = dot, node.names
        elif isinstance(node, Variable):
            value, names = self._variable(node.names[0]), node.names[1:]
            if not names and has_arguments:
                raise self._error(f"can't give argument to non-function {node.names[0]}")
        else:
            if isinstance(node.node, Nil):
                raise self._error(f"indirection through explicit nil in {node}")
            value, names = _Value(self._argument(dot, node.node)), node.names
        for place, name in enumerate(names):
            value = self._field(value, name, has_arguments=has_arguments and place == len(names) - 1)
        return value

    def _field(self, receiver: _Value, name: str, *, has_arguments: bool) -> _Value:
        value = receiver.value
        if value is None:
            if receiver.is_boxed:
                raise self._error(f"nil pointer evaluating interface {{}}.{name}")
            if not self._allow_missing:
                raise self._error(f"nil data; no entry for key {quoted(name)}")
            return _Value(None)
        if isinstance(value, Struct) and name in value.fields:
            return _Value(value.fields[name])
        if isinstance(value, TextMap) and name not in value:
            return _Value("")
        if not isinstance(value, dict):
            kind = "interface {}" if receiver.is_boxed and not isinstance(value, Struct) else go_type(value)
            raise self._error(f"can't evaluate field {name} in type {kind}")
        if has_arguments:
            raise self._error(f"{name} is not a method but has arguments")
        if name in value:
            return _Value(value[name], is_boxed=True)
        if not self._allow_missing:
            raise self._error(f"map has no entry for key {quoted(name)}")
        return _Value(None)

    # Function calls

    def _function(
        self, dot: _Value, node: Function, command: Node, arguments: tuple[Operand, ...], final: Any
    ) -> _Value:
        self._node = node
        signature = self._functions[node.name]
        count = len(arguments) + (final is not _ABSENT)
        if signature.is_variadic and count < signature.fixed:
            raise self._error(
                f"wrong number of args for {node.name}: want at least {signature.fixed} got {len(arguments)}"
            )
        if not signature.is_variadic and count != signature.fixed:
            raise self._error(f"wrong number of args for {node.name}: want {signature.fixed} got {count}")
        if node.name in ("and", "or"):
            return _Value(self._short_circuit(dot, node.name, arguments, final))
        values = [
            self._typed_argument(dot, argument, signature, place) for place, argument in enumerate(arguments)
        ]
        if final is not _ABSENT:
            if signature.text_first and len(values) == 0:
                self._check_text(final)
            values.append(final)
        try:
            value: Any = signature.call(*values)
        except FunctionError as error:
            self._node = command
            raise self._error(f"error calling {node.name}: {error}") from error
        if isinstance(value, str):
            self._steps += len(value) // _STEP_CHARACTERS
        return _Value(value)

    def _short_circuit(self, dot: _Value, name: str, arguments: tuple[Operand, ...], final: Any) -> Any:
        value: Any = None
        for argument in arguments:
            value = self._argument(dot, argument)
            if is_true(value) is (name == "or"):
                return value
        return value if final is _ABSENT else final

    def _typed_argument(self, dot: _Value, node: Operand, signature: Signature, place: int) -> Any:
        if not (signature.text_first and place == 0):
            return self._argument(dot, node)
        if isinstance(node, Constant | Nil):
            self._node = node
            if isinstance(node, Nil):
                raise self._error("cannot assign nil to string")
            if not isinstance(node.value, str):
                raise self._error(f"expected string; found {node}")
        value = self._argument(dot, node)
        self._check_text(value)
        return value

    def _check_text(self, value: Any) -> None:
        if value is None:
            raise self._error("invalid value; expected string")
        if not isinstance(value, str):
            raise self._error(f"wrong type for value; expected string; got {go_type(value)}")

    def _argument(self, dot: _Value, node: Operand) -> Any:
        self._step()
        self._node = node
        if isinstance(node, Dot):
            return dot.value
        if isinstance(node, Nil):
            return None
        if isinstance(node, Constant):
            return self._constant(node).value
        if isinstance(node, Pipeline):
            return self._pipeline(dot, node)
        if isinstance(node, Function):
            return self._function(dot, node, node, (), _ABSENT).value
        return self._path(dot, node, has_arguments=False).value
