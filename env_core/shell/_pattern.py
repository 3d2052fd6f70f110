"""Shell patterns (`*`, `?`, `[…]`) as Python expressions, and the file names they match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from env_core.shell.filesystem import FileSystem, ShellFileError

Piece = tuple[str, bool]
"""Text of a word and whether it was quoted."""

_CLASSES: Final = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "space": r"\s", "blank": " \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F",
    "cntrl": "\x00-\x1f\x7f", "print": " -~", "graph": "!-~",
}  # fmt: skip
MATCHES_MAX: Final = 4096


def has_pattern(pieces: Sequence[Piece]) -> bool:
    """Tell whether an unquoted piece holds a pattern character."""
    return any(not quoted and ("*" in text or "?" in text or "[" in text) for text, quoted in pieces)


def pattern_text(pieces: Sequence[Piece]) -> str:
    """Return the pieces as one pattern, quoted characters escaped by backslashes."""
    return "".join(re.sub(r"([*?\[\]\\])", r"\\\1", text) if quoted else text for text, quoted in pieces)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression for a whole shell pattern.

    Every stretch after a `*` is matched at its first place and never again, so that work stays linear.
    """
    first, *rest = _stretches(pattern)
    if not rest:
        return re.compile(f"(?s:{first})\\Z")
    middle = "".join(f"(?>.*?{stretch})" for stretch in rest[:-1])
    return re.compile(f"(?s:{first}{middle}.*{rest[-1]})\\Z")


@lru_cache(maxsize=1024)
def prefix(pattern: str, *, is_longest: bool) -> re.Pattern[str]:
    """Return the expression for what `${name#pattern}` (or `##`) takes away."""
    first, *rest = _stretches(pattern)
    return re.compile(f"(?s:{first}{_in_order(rest, last='.*' if is_longest else '.*?')})")


@lru_cache(maxsize=1024)
def suffix(pattern: str, *, is_longest: bool) -> re.Pattern[str]:
    """Return an expression whose first group is what `${name%pattern}` (or `%%`) leaves."""
    kept = ".*?" if is_longest else ".*"
    first, *rest = _stretches(pattern)
    return re.compile(f"(?s:({kept}){first}{_in_order(rest, last='.*')})\\Z")


def _in_order(stretches: Sequence[str], *, last: str) -> str:
    """Return an expression for `*` and a stretch, again and again; all but the last stay at their first place."""
    if not stretches:
        return ""
    return "".join(f"(?>.*?{stretch})" for stretch in stretches[:-1]) + last + stretches[-1]


def _stretches(pattern: str) -> list[str]:
    """Return the Python source of what stands between the pattern's `*`s."""
    done: list[str] = []
    out: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "*":
            if out or not done:
                done.append("".join(out))
                out.clear()
        elif char == "?":
            out.append(".")
        elif char == "\\" and index < len(pattern):
            out.append(re.escape(pattern[index]))
            index += 1
        elif char == "[":
            index, source = _bracket(pattern, index)
            out.append(source)
        else:
            out.append(re.escape(char))
    return [*done, "".join(out)]


def _bracket(pattern: str, start: int) -> tuple[int, str]:
    """Return where a bracket expression that began before `start` ends, and its Python source."""
    index = start
    negation = ""
    if pattern[index : index + 1] in ("!", "^") and pattern[index : index + 1]:
        negation = "^"
        index += 1
    body: list[str] = []
    first = True
    while index < len(pattern):
        char = pattern[index]
        if char == "]" and not first:
            if not body:
                # Only empty ranges: nothing matches, or with a negation anything.
                return index + 1, "." if negation else "(?!)"
            return index + 1, f"[{negation}{''.join(body)}]"
        first = False
        if char == "[" and pattern.startswith("[:", index):
            end = pattern.find(":]", index)
            name = pattern[index + 2 : end]
            if end != -1 and name in _CLASSES:
                body.append(_CLASSES[name])
                index = end + 2
                continue
        if char == "\\" and index + 1 < len(pattern):
            index += 1
            char = pattern[index]
        if pattern[index + 1 : index + 2] == "-" and pattern[index + 2 : index + 3] not in ("]", ""):
            last = pattern[index + 2]
            if char <= last:
                body.append(f"{re.escape(char)}-{re.escape(last)}")
            index += 3
            continue
        body.append(re.escape(char))
        index += 1
    return start, re.escape("[")


def matching_paths(fs: FileSystem, cwd: str, pattern: str) -> list[str]:
    """Return the sorted paths (as the pattern spells them) that a file-name pattern matches."""
    is_absolute = pattern.startswith("/")
    found = ["/" if is_absolute else ""]
    for component in pattern.split("/"):
        if not component:
            continue
        expression = compiled(component)
        is_plain = not any(char in component for char in "*?[\\")
        following: list[str] = []
        for base in found:
            directory = _absolute(cwd, base)
            if is_plain:
                if fs.exists(_absolute(directory, component)):
                    following.append(base + component + "/")
                continue
            try:
                names = fs.listdir(directory)
            except ShellFileError:
                continue
            following.extend(
                base + name + "/"
                for name in names
                if expression.match(name) and (not name.startswith(".") or component.startswith("."))
            )
        found = following[:MATCHES_MAX]
    ends_in_slash = pattern.endswith("/")
    paths = [path if ends_in_slash else path.rstrip("/") for path in found]
    return sorted(
        path for path in paths if path and (not ends_in_slash or fs.is_dir(_absolute(cwd, path.rstrip("/"))))
    )


def _absolute(cwd: str, name: str) -> str:
    if not name:
        return cwd
    parts: list[str] = []
    for part in (name if name.startswith("/") else f"{cwd}/{name}").split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
