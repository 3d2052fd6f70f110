"""Text: match, capture, split and sub by regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.shell._jq.evaluate import Evaluator, Found, Path
from env_core.shell._jq.formtable import Form
from env_core.shell._jq.matching import match_all, sub_text
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.operators import add
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import JqError, Json, kind


def _match(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pattern, flags in _patterns(jq, arguments, scope, value):
        for found in match_all(value, pattern, flags, jq.process.work):
            yield found, jq.off(path)


def _patterns(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json
) -> Iterator[tuple[Json, Json]]:
    for pattern in jq.values(arguments[0], scope, value):
        for flags in jq.values(arguments[1], scope, value) if len(arguments) > 1 else iter((None,)):
            if len(arguments) == 1 and isinstance(pattern, list) and pattern:
                yield pattern[0], pattern[1] if len(pattern) > 1 else None
            elif len(arguments) == 1 and not isinstance(pattern, str):
                raise JqError(f"{kind(pattern)} not a string or array")
            else:
                yield pattern, flags


def _test(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pattern, flags in _patterns(jq, arguments, scope, value):
        yield next(match_all(value, pattern, flags, jq.process.work), None) is not None, jq.off(path)


def _capture(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pattern, flags in _patterns(jq, arguments, scope, value):
        for found in match_all(value, pattern, flags, jq.process.work):
            yield (
                {each["name"]: each["string"] for each in found["captures"] if each["name"] is not None},
                jq.off(path),
            )


def _scan(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pattern in jq.values(arguments[0], scope, value):
        for found in match_all(value, pattern, "g", jq.process.work):
            captures = [each["string"] for each in found["captures"]]
            yield captures or found["string"], jq.off(path)


def _splits(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pieces in _split_pieces(jq, arguments, scope, value):
        for piece in pieces:
            yield piece, jq.off(path)


def _split_pieces(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json
) -> Iterator[list[str]]:
    for pattern in jq.values(arguments[0], scope, value):
        for flags in jq.values(arguments[1], scope, value) if len(arguments) > 1 else iter((None,)):
            pieces: list[str] = []
            position = 0
            for found in match_all(value, pattern, add("g", flags), jq.process.work):
                pieces.append(value[position : found["offset"]])
                position = found["offset"] + found["length"]
            yield [*pieces, value[position:]]


def _split(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for pieces in _split_pieces(jq, arguments, scope, value):
        yield pieces, jq.off(path)


def _sub(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    return _substituted(jq, arguments, scope, value, path, "")


def _substituted(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path, extra: str
) -> Iterator[Found]:
    for pattern in jq.values(arguments[0], scope, value):
        for flags in jq.values(arguments[2], scope, value) if len(arguments) > 2 else iter(("",)):
            for text in sub_text(
                value,
                pattern,
                add(flags, extra),
                lambda captures: jq.values(arguments[1], scope, captures),
                jq.process.work,
            ):
                yield text, jq.off(path)


def _gsub(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    return _substituted(jq, arguments, scope, value, path, "g")


TEXT_FORMS: Final[dict[tuple[str, int], Form]] = {
    ("match", 1): _match,
    ("match", 2): _match,
    ("test", 1): _test,
    ("test", 2): _test,
    ("capture", 1): _capture,
    ("capture", 2): _capture,
    ("scan", 1): _scan,
    ("scan", 2): _scan,
    ("splits", 1): _splits,
    ("splits", 2): _splits,
    ("sub", 2): _sub,
    ("sub", 3): _sub,
    ("split", 2): _split,
    ("gsub", 2): _gsub,
    ("gsub", 3): _gsub,
}
