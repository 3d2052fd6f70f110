"""`semver(…)`.

Source: k8s.io/apiserver v0.37 pkg/cel/library/semverlib.go; github.com/blang/semver v4 for what is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import BOOL, INT, STRING
from env_core.cel._values import CelError, Opaque, no_overload
from env_core.objects.problems import quoted

SEMVER: Final = _types.struct("kubernetes.Semver")
_DIGITS: Final = frozenset("0123456789")
_ALPHANUMERIC: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789")
_PARTS: Final = ("major", "minor", "patch")


@dataclass(frozen=True, slots=True)
class _Semver(Opaque):
    numbers: tuple[int, int, int]
    prerelease: tuple[str, ...]
    build: tuple[str, ...]
    cel_type = SEMVER

    def equals(self, other: Any) -> Any:
        """Compare without the build."""
        return _compare(self, other) == 0 if isinstance(other, _Semver) else no_overload(other)

    def __str__(self) -> str:
        text = ".".join(map(str, self.numbers))
        text += f"-{'.'.join(self.prerelease)}" if self.prerelease else ""
        return text + (f"+{'.'.join(self.build)}" if self.build else "")


class _Bad(Exception):
    pass


def _parse(text: str) -> _Semver:
    if not text:
        raise _Bad("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise _Bad("No Major.Minor.Patch elements found")
    numbers = [_number(name, part) for name, part in zip(_PARTS[:2], parts[:2], strict=True)]
    patch, build, prerelease = parts[2], "", ""
    has_build, has_prerelease = "+" in patch, False
    if has_build:
        patch, _, build = patch.partition("+")
    if "-" in patch:
        patch, _, prerelease = patch.partition("-")
        has_prerelease = True
    numbers.append(_number("patch", patch))
    pre = tuple(map(_prerelease, prerelease.split("."))) if has_prerelease else ()
    return _Semver((numbers[0], numbers[1], numbers[2]), pre, _build(build) if has_build else ())


def _number(name: str, part: str) -> int:
    if not set(part) <= _DIGITS:
        raise _Bad(f"Invalid character(s) found in {name} number {quoted(part)}")
    if len(part) > 1 and part[0] == "0":
        raise _Bad(f"{name.capitalize()} number must not contain leading zeroes {quoted(part)}")
    if not part or int(part) > 2**64 - 1:
        why = "value out of range" if part else "invalid syntax"
        raise _Bad(f"strconv.ParseUint: parsing {quoted(part)}: {why}")
    return int(part)


def _prerelease(part: str) -> str:
    if not part:
        raise _Bad("Prerelease is empty")
    if set(part) <= _DIGITS:
        if len(part) > 1 and part[0] == "0":
            raise _Bad(f"Numeric PreRelease version must not contain leading zeroes {quoted(part)}")
    elif not set(part) <= _ALPHANUMERIC:
        raise _Bad(f"Invalid character(s) found in prerelease {quoted(part)}")
    return part


def _build(text: str) -> tuple[str, ...]:
    for part in text.split("."):
        if not part:
            raise _Bad("Build meta data is empty")
        if not set(part) <= _ALPHANUMERIC:
            raise _Bad(f"Invalid character(s) found in build meta data {quoted(part)}")
    return tuple(text.split("."))


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            if not stripped or stripped[0] not in _DIGITS:
                stripped = "0" + stripped
            parts[index] = stripped
    if len(parts) < 3:
        if any(char in "+-" for char in parts[-1]):
            raise _Bad("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalize: bool = False) -> Any:
    try:
        return _parse(_normalized(text) if normalize else text)
    except _Bad as problem:
        return CelError(str(problem))


def _is_semver(text: str, normalize: bool = False) -> bool:
    return isinstance(_semver(text, normalize), _Semver)


def _compare(one: _Semver, two: _Semver) -> int:
    if one.numbers != two.numbers:
        return 1 if one.numbers > two.numbers else -1
    if not one.prerelease or not two.prerelease:
        return (not one.prerelease) - (not two.prerelease)
    mine, theirs = (
        [(0, int(part), "") if set(part) <= _DIGITS else (1, 0, part) for part in each.prerelease]
        for each in (one, two)
    )
    return (mine > theirs) - (mine < theirs)


def _part(index: int) -> Function:
    name = _PARTS[index]
    return Function((member(f"semver_{name}", (SEMVER,), INT, lambda semver: semver.numbers[index]),))


LIBRARY = Library(
    order=20,
    functions={
        "semver": Function(
            (
                overload("string_to_semver", (STRING,), SEMVER, _semver),
                overload("string_bool_to_semver", (STRING, BOOL), SEMVER, _semver),
            )
        ),
        "isSemver": Function(
            (
                overload("is_semver_string", (STRING,), BOOL, _is_semver),
                overload("is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
            )
        ),
        "isGreaterThan": Function(
            (member("semver_is_greater_than", (SEMVER, SEMVER), BOOL, lambda a, b: _compare(a, b) == 1),)
        ),
        "isLessThan": Function(
            (member("semver_is_less_than", (SEMVER, SEMVER), BOOL, lambda a, b: _compare(a, b) == -1),)
        ),
        "compareTo": Function((member("semver_compare_to", (SEMVER, SEMVER), INT, _compare),)),
        "major": _part(0),
        "minor": _part(1),
        "patch": _part(2),
    },
    types=(SEMVER,),
    source="k8s.io/apiserver v0.37 pkg/cel/library/semverlib.go",
)
