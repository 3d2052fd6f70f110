"""What can be wrong with a query."""

from __future__ import annotations


def place(query: str, position: int) -> str:
    """Return `line:column` of a character position; columns count the bytes of UTF-8, from 1.

    Source: github.com/prometheus/prometheus promql/parser/posrange.
    """
    if not query:
        return "unknown position"
    if not 0 <= position <= len(query):
        return "invalid position"
    before = query[:position]
    line_start = before.rfind("\n") + 1
    return f"{before.count(chr(10)) + 1}:{len(before[line_start:].encode()) + 1}"


class InvalidQuery(Exception):
    """A query that no series could make right; the text is Prometheus's."""


class ParseError(InvalidQuery):
    """A query that is not PromQL, with the place of the fault."""

    def __init__(self, query: str, position: int, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{place(query, position)}: parse error: {problem}")


class EvaluationError(Exception):
    """A query that cannot be evaluated over these series; the text is Prometheus's."""
