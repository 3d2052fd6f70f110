"""Checks values against a schema, with the findings and texts of the OpenAPI validator.

On an update, what is as it was before is not complained about (ratcheting).

Source: k8s.io/kube-openapi pkg/validation (validate, errors); k8s.io/apiextensions-apiserver pkg/apiserver/validation
(validation.go, ratcheting.go); tests/golden/l2/facts/errors, l2/kubectl/crd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from env_core.apiextensions.formats import has_format
from env_core.apiextensions.structural import Structural
from env_core.objects.goformat import scalar_text, value_text
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import (
    INVALID,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    Problem,
    invalid,
    not_supported,
    quoted,
    required,
    shown,
    too_long,
    too_many,
)
from env_core.objects.re2 import Re2Error, compiled

ABSENT: Final = object()
"""In place of an old value that there was none of."""
_IN: Final = "in body"
_RANGES: Final = {"int32": 2**31, "int64": 2**63}
_FLOAT32_MAX: Final = 3.4028234663852886e38


class Finding(NamedTuple):
    """One complaint. `name` is the path of the value; `limit` the bound it broke, for some reasons."""

    reason: str
    name: str
    value: Any
    message: str
    limit: Any = None
    has_place: bool = True


@dataclass(slots=True)
class _Result:
    """What a node found, and how many of its checks passed: of several alternatives, the nearest is reported."""

    findings: list[Finding] = field(default_factory=list)
    matches: int = 0

    def add(self, finding: Finding) -> None:
        if all(each.message != finding.message for each in self.findings):
            self.findings.append(finding)

    def merge(self, other: _Result) -> None:
        for finding in other.findings:
            self.add(finding)
        self.matches += other.matches


def problems_of(schema: Structural, value: Any, *, old: Any = ABSENT, prefix: str = "") -> list[Problem]:
    """Return what is wrong with a value; `prefix` is its field, `old` what it was before an update."""
    result = _ratcheted(schema, value, "", old)
    return [_problem(finding, prefix) for finding in result.findings]


def _problem(finding: Finding, prefix: str) -> Problem:
    place = ".".join(part for part in (prefix, finding.name.removeprefix(".")) if part) or "<nil>"
    if not finding.has_place:
        return invalid(prefix or "<nil>", "", finding.message)
    if finding.reason == REQUIRED:
        return required(place)
    if finding.reason == NOT_SUPPORTED:
        supported = [each if isinstance(each, str) else to_compact_json(each) for each in finding.limit]
        return not_supported(place, finding.value, supported, is_sorted=False)
    if finding.reason == TOO_LONG:
        return too_long(place, finding.limit)
    if finding.reason == TOO_MANY:
        return too_many(place, finding.value, finding.limit)
    value = "" if finding.value is None else finding.value
    return Problem(finding.reason, place, shown(value), finding.message)


def _ratcheted(schema: Structural, value: Any, path: str, old: Any) -> _Result:
    result = _check(schema, value, path, old)
    if result.findings and old is not ABSENT and old == value:
        return _Result(matches=result.matches)
    return result


def _check(schema: Structural, value: Any, path: str, old: Any) -> _Result:
    if value is None:
        result = _type(schema, value, path)
        enum = _enum(schema, value, path)
        if enum is not None:
            result.add(enum)
        return result
    result = _Result()
    checks = [_junctors(schema, value, path, old)]
    if schema.types or schema.format:
        checks.insert(0, _type(schema, value, path))
    if isinstance(value, str):
        checks.append(_string(schema, value, path))
        if schema.format:
            checks.append(_format(schema, value, path))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        checks.append(_number(schema, value, path))
    elif isinstance(value, list):
        checks.append(_list(schema, value, path, old))
    enum = _enum(schema, value, path)
    checks.append(_Result([enum] if enum is not None else []))
    if isinstance(value, dict):
        checks.append(_map(schema, value, path, old))
    for check in checks:
        result.merge(check)
        result.matches += 1
    result.matches += 1
    return result


def json_type(value: Any) -> str:
    """Return the JSON type of a value, as messages name it."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _wrong_type(path: str, wanted: str, found: str) -> Finding:
    return Finding(TYPE_INVALID, path, found, f"{path} {_IN} must be of type {wanted}: {quoted(found)}")


def _type(schema: Structural, value: Any, path: str) -> _Result:
    wanted = ",".join(schema.types)
    if value is None:
        if schema.types and not schema.is_nullable:
            return _Result([_wrong_type(path, wanted, "null")])
        return _Result(matches=1)
    found = json_type(value)
    fits = found in schema.types
    if found == "number":
        fits = fits or ("integer" in schema.types and float(value).is_integer())
    if found == "integer":
        fits = fits or "number" in schema.types
    is_texty = found in ("string", "array")
    if schema.format and not is_texty and not fits:
        of = "int64" if found == "integer" else "float64" if found == "number" else ""
        return _Result(matches=1) if of == schema.format else _Result([_wrong_type(path, schema.format, of)])
    is_numeric = "number" in schema.types or "integer" in schema.types
    if (schema.format and is_texty and not is_numeric) or fits or not schema.types:
        return _Result(matches=1)
    return _Result([_wrong_type(path, wanted, found)])


def _enum(schema: Structural, value: Any, path: str) -> Finding | None:
    allowed = schema.props.get("enum")
    if not allowed or any(_is_same(value, each) for each in allowed if each is not None):
        return None
    text = f"{path} {_IN} should be one of {value_text(list(allowed))}"
    return Finding(NOT_SUPPORTED, path, value, text, allowed)


def _is_same(value: Any, other: Any) -> bool:
    if isinstance(value, bool) is not isinstance(other, bool):
        return False
    return bool(value == other)


def _string(schema: Structural, value: str, path: str) -> _Result:
    props = schema.props
    most, least, pattern = props.get("maxLength"), props.get("minLength"), props.get("pattern")
    if most is not None and len(value) > most:
        text = f"{path} {_IN} should be at most {most} chars long"
        return _Result([Finding(TOO_LONG, path, value, text, most)])
    if least is not None and len(value) < least:
        text = f"{path} {_IN} should be at least {least} chars long"
        return _Result([Finding(INVALID, path, value, text)])
    if pattern:
        try:
            matches = compiled(pattern).search(value)
        except Re2Error as error:
            pattern, matches = f"{pattern}, but pattern is invalid: {error}", False
        if not matches:
            return _Result([Finding(INVALID, path, value, f"{path} {_IN} should match '{pattern}'")])
    return _Result()


def _format(schema: Structural, value: str, path: str) -> _Result:
    if has_format(value, schema.format):
        return _Result()
    text = f"{path} {_IN} must be of type {schema.format}: {quoted(value)}"
    return _Result([Finding(TYPE_INVALID, path, value, text)])


def _number(schema: Structural, value: float, path: str) -> _Result:
    result = _Result(matches=1)
    out_of_range = _range_text(schema, value, path)
    if out_of_range:
        result.add(Finding(INVALID, path, value, out_of_range, has_place=False))
    props = schema.props
    factor, least, most = props.get("multipleOf"), props.get("minimum"), props.get("maximum")
    if factor is not None and not _is_multiple(value, factor):
        what = f"{path} {_IN} should be a multiple of {_bound(value, factor)}"
        if factor <= 0:
            what = f"factor MultipleOf declared for {path} must be positive: {_bound(value, factor)}"
        result.add(Finding(INVALID, path, value if factor > 0 else factor, what))
    if least is not None:
        bound, is_strict = _native(value, least), bool(props.get("exclusiveMinimum"))
        if value < bound or (is_strict and value == bound):
            words = "greater than" if is_strict else "greater than or equal to"
            text = f"{path} {_IN} should be {words} {scalar_text(bound)}"
            result.add(Finding(INVALID, path, value, text))
    if most is not None:
        bound, is_strict = _native(value, most), bool(props.get("exclusiveMaximum"))
        if value > bound or (is_strict and value == bound):
            words = "less than" if is_strict else "less than or equal to"
            text = f"{path} {_IN} should be {words} {scalar_text(bound)}"
            result.add(Finding(INVALID, path, value, text))
    return result


def _native(value: float, bound: float) -> float:
    # Bounds are compared as integers with integers, cut towards zero.
    return int(bound) if isinstance(value, int) else float(bound)


def _bound(value: float, bound: float) -> str:
    return scalar_text(_native(value, bound))


def _is_multiple(value: float, factor: float) -> bool:
    native = _native(value, factor)
    if native <= 0:
        return False
    if isinstance(value, int):
        return value % native == 0
    return float(value / factor if factor >= 1 else 1 / factor * value).is_integer()


def _range_text(schema: Structural, value: float, path: str) -> str:
    if schema.types == ("integer",):
        limit = _RANGES.get(schema.format, 2**63)
        if -limit <= value < limit and float(value).is_integer():
            return ""
        where = f"with format {schema.format}" if schema.format else "(default format)"
        return f"Checked value must be of type integer {where} in {path}"
    if schema.format == "float" and abs(value) > _FLOAT32_MAX:
        return f"Checked value must be of type number with format float in {path}"
    return ""


def _list(schema: Structural, value: Sequence[Any], path: str, old: Any) -> _Result:
    result = _Result(matches=1)
    if schema.items is not None:
        before = _old_items(schema, old)
        for index, item in enumerate(value):
            was = before.get(_key_of(schema, item), ABSENT) if before else ABSENT
            result.merge(_ratcheted(schema.items, item, f"{path}[{index}]", was))
    least, most = schema.props.get("minItems"), schema.props.get("maxItems")
    if least is not None and len(value) < least:
        text = f"{path} {_IN} should have at least {least} items"
        result.add(Finding(INVALID, path, len(value), text))
    if most is not None and len(value) > most:
        text = f"{path} {_IN} should have at most {most} items"
        result.add(Finding(TOO_MANY, path, len(value), text, most))
    return result


def _old_items(schema: Structural, old: Any) -> dict[str, Any]:
    """Return the old items by key: only those of maps can be told apart."""
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    return {_key_of(schema, item): item for item in old}


def _key_of(schema: Structural, item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    return to_compact_json([item.get(key) for key in schema.list_keys])


def _map(schema: Structural, value: dict[str, Any], path: str, old: Any) -> _Result:
    result = _Result()
    props = schema.props
    least, most = props.get("minProperties"), props.get("maxProperties")
    if least is not None and len(value) < least:
        text = f"{path} {_IN} should have at least {least} properties"
        result.add(Finding(INVALID, path, len(value), text))
    if most is not None and len(value) > most:
        text = f"{path} {_IN} should have at most {most} properties"
        result.add(Finding(TOO_MANY, path, len(value), text, most))
    before = old if isinstance(old, dict) and schema.map_type != "atomic" else {}
    if props.get("additionalProperties") is False:
        for key in sorted(value.keys() - schema.properties.keys()):
            result.add(Finding(INVALID, path, key, f"{path}.{key} {_IN} is a forbidden property"))
    elif schema.additional is not None:
        for key in sorted(value.keys() - schema.properties.keys()):
            was = before.get(key, ABSENT)
            result.merge(_ratcheted(schema.additional, value[key], f"{path}.{key}", was))
    for key in sorted(schema.properties):
        if key in value:
            here = f"{path}.{key}" if path else key
            was = ABSENT if not path and key in ("kind", "apiVersion") else before.get(key, ABSENT)
            result.merge(_ratcheted(schema.properties[key], value[key], here, was))
    for key in props.get("required") or ():
        if key not in value:
            result.add(Finding(REQUIRED, f"{path}.{key}", None, f"{path}.{key} {_IN} is required"))
    return result


def _junctors(schema: Structural, value: Any, path: str, old: Any) -> _Result:
    result = _Result(matches=1)
    where = quoted(path)
    if schema.any_of:
        chosen, is_valid = _nearest([_check(each, value, path, old) for each in schema.any_of])
        if not is_valid:
            result.add(_composite(path, f"{where} must validate at least one schema (anyOf)"))
        result.merge(chosen)
    if schema.one_of:
        results = [_check(each, value, path, old) for each in schema.one_of]
        valid = [each for each in results if not each.findings]
        if len(valid) == 1:
            result.merge(valid[0])
        else:
            more = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
            result.add(_composite(path, f"{where} must validate one and only one schema (oneOf). {more}"))
            if not valid:
                result.merge(_nearest(results)[0])
    if schema.all_of:
        results = [_check(each, value, path, old) for each in schema.all_of]
        valid = [each for each in results if not each.findings]
        for each in results:
            result.merge(each)
        if len(valid) != len(results):
            more = "" if valid else ". None validated"
            result.add(_composite(path, f"{where} must validate all the schemas (allOf){more}"))
    if schema.negated is not None and not _check(schema.negated, value, path, old).findings:
        result.add(_composite(path, f"{where} must not validate the schema (not)"))
    return result


def _nearest(results: list[_Result]) -> tuple[_Result, bool]:
    """Return the first valid result, or the one with most passed checks, and whether it is valid."""
    for each in results:
        if not each.findings:
            return each, True
    return max(results, key=lambda each: each.matches), False


def _composite(path: str, text: str) -> Finding:
    return Finding(INVALID, path, "", text, has_place=False)
