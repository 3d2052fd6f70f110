"""JSONPath of client-go: templates with braces, ranges and filters, and how their results print."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from env_core.objects._jsonpath_nodes import JSONPathError, Node
from env_core.objects._jsonpath_parser import parse_nodes
from env_core.objects._jsonpath_walk import Walk
from env_core.objects.goformat import scalar_text, syntax_text
from env_core.objects.jsonout import to_compact_json, to_json
from env_core.objects.problems import quoted

__all__ = ["JSONPath", "JSONPathError", "compiled", "printer_for", "relaxed", "result_text"]

_RELAXED: Final = re.compile(r"\{\.?([^{}]+)\}|\.?([^{}]+)")
_OUTPUT_MAX: Final = 4_000_000


class JSONPath:
    """A compiled template."""

    __slots__ = ("_nodes", "template")

    def __init__(self, template: str, nodes: tuple[Node, ...]) -> None:
        self.template = template
        self._nodes = nodes

    def find(self, subject: Any, *, allow_missing: bool = True) -> list[list[Any]]:
        """Return the values that each action (and each stretch of plain text) of the template finds.

        Raises:
            JSONPathError: with client-go's text; a missing field is an error only when not allowed.
        """
        return self.walk(allow_missing=allow_missing).results(subject)

    def walk(self, *, allow_missing: bool = True) -> Walk:
        """Return an evaluation that has not begun, whose work can be asked for afterwards."""
        return Walk(self._nodes, allow_missing=allow_missing)

    def render(self, subject: Any, *, allow_missing: bool = True, as_json: bool = False) -> str:
        """Return what `kubectl -o jsonpath=` prints for `subject` (or jsonpath-as-json).

        Source: cli-runtime JSONPathPrinter; tests/golden/l0/output_formats.

        Raises:
            JSONPathError: with kubectl's whole text, which repeats the template and the object.
        """
        try:
            found = self.find(subject, allow_missing=allow_missing)
        except JSONPathError as error:
            report = (
                f"Error executing template: {error}. Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{self.template}\n"
                f"\tobject given to jsonpath engine was:\n\t\t{syntax_text(subject)}\n\n"
            )
            raise JSONPathError(f"error executing jsonpath {quoted(self.template)}: {report}\n") from error
        out: list[str] = []
        size = 0
        for values in found:
            if as_json:
                out.append(to_json(values))
                size += len(out[-1])
                self._check(size)
                continue
            for place, value in enumerate(values):
                text = result_text(value)
                out.append(f" {text}" if place else text)
                size += len(text)
                self._check(size)
        return "".join(out)

    def _check(self, size: int) -> None:
        if size > _OUTPUT_MAX:
            raise JSONPathError(f"error executing jsonpath {quoted(self.template)}: output is too large")


def result_text(value: Any) -> str:
    """Return a value that a path found as it is printed."""
    return to_compact_json(value) if isinstance(value, dict | list) else scalar_text(value)


@lru_cache(maxsize=512)
def compiled(template: str) -> JSONPath:
    """Parse a template.

    Raises:
        JSONPathError: with client-go's text ("unclosed action").
    """
    return JSONPath(template, parse_nodes(template))


def printer_for(template: str) -> JSONPath:
    """Parse the template of `-o jsonpath=`.

    Raises:
        JSONPathError: with kubectl's text, which names the template.
    """
    if not template:
        raise JSONPathError("template format specified but no template given")
    try:
        return compiled(template)
    except JSONPathError as error:
        raise JSONPathError(f"error parsing jsonpath {template}, {error}") from error


def relaxed(expression: str) -> str:
    """Return a path as a template: braces and the leading dot may be left out.

    Source: kubectl pkg/cmd/get RelaxedJSONPathExpression; tests/golden/l0/output_formats.

    Raises:
        JSONPathError: with kubectl's text, if the braces do not match.
    """
    if not expression:
        return ""
    found = _RELAXED.fullmatch(expression)
    if found is None:
        raise JSONPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or "
            "'{.name1.name2}'"
        )
    return "{." + (found[1] or found[2]) + "}"
