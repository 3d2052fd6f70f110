"""Validation rules of a schema (`x-kubernetes-validations`): which apply to a value, and what they find.

The language of the rules is an engine's matter; here is where they stand, what they see, and what their failures say.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel validation.go; tests/golden/l2/facts/errors (cr-cel).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from env_core.apiextensions.fieldpaths import PathError, schema_at
from env_core.apiextensions.structural import Structural
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import DUPLICATE, FORBIDDEN, INVALID, REQUIRED, Problem, shown
from env_core.world import Object

_REASONS: Final = frozenset({DUPLICATE, FORBIDDEN, INVALID, REQUIRED})
_NO_OVERLOAD: Final = "no such overload"


class RuleError(Exception):
    """An expression cannot be evaluated; the message is that of the language."""


class RuleEngine(Protocol):
    """Evaluates the expressions of rules."""

    def uses_old(self, expression: str) -> bool:
        """Whether an expression speaks of `oldSelf`."""

    def evaluate(
        self, expression: str, schema: Structural, value: Any, old: Any, *, is_old_optional: bool
    ) -> Any:
        """Return what an expression gives for a value of a schema as `self`.

        `old` is `oldSelf`, None without one; `is_old_optional` makes it an optional value.

        Raises:
            RuleError: it cannot be evaluated.
        """


@dataclass(frozen=True, slots=True)
class _Site:
    """A value with rules: where it is, its schema, and what it was before."""

    path: str
    schema: Structural
    value: Any
    old: Any
    is_unchanged: bool


def validate_rules(
    schema: Structural, new: Object, old: Object | None, engine: RuleEngine | None
) -> list[Problem]:
    """Return what the rules of a schema find wrong with an object; `old` is what it was before an update.

    Without an engine no rule is evaluated.
    """
    if engine is None:
        return []
    found: list[Problem] = []
    for site in _sites(schema, "", new, old):
        for rule in site.schema.rules:
            found += _failures(site, rule, engine)
    return found


def _sites(schema: Structural, path: str, value: Any, old: Any) -> Iterator[_Site]:
    if not schema.has_rules or value is None:
        return
    if schema.rules:
        yield _Site(path, schema, value, old, is_unchanged=old is not None and old == value)
    for junctor in schema.all_of:
        yield from _sites(junctor, path, value, old)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) and schema.map_type != "atomic" else {}
        for key in sorted(value):
            below = schema.properties.get(key)
            if below is not None:
                yield from _sites(below, f"{path}.{key}" if path else key, value[key], before.get(key))
            elif schema.additional is not None:
                yield from _sites(schema.additional, f"{path}[{key}]", value[key], before.get(key))
    elif isinstance(value, list) and schema.items is not None:
        items = _by_key(schema, old)
        for index, item in enumerate(value):
            was = items.get(_key(schema, item)) if items else None
            yield from _sites(schema.items, f"{path}[{index}]", item, was)


def _by_key(schema: Structural, old: Any) -> dict[str, Any]:
    """Return the old items of a list of type map; those of other lists cannot be told apart."""
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _key(schema: Structural, item: Any) -> str:
    return to_compact_json([item.get(key) for key in schema.list_keys]) if isinstance(item, dict) else ""


def _failures(site: _Site, rule: Object, engine: RuleEngine) -> list[Problem]:
    expression = (rule.get("rule") or "").strip()
    is_old_optional = bool(rule.get("optionalOldSelf"))
    uses_old = engine.uses_old(expression)
    if uses_old and site.old is None and not is_old_optional:
        return []
    type_ = site.schema.props.get("type") or ""
    place = site.path or "<nil>"

    def evaluated(text: str) -> Any:
        return engine.evaluate(text, site.schema, site.value, site.old, is_old_optional=is_old_optional)

    try:
        result = evaluated(expression)
    except RuleError as why:
        text = f"{why} evaluating rule: {_named(rule)}"
        if str(why).startswith(_NO_OVERLOAD):
            what = "call arguments did not match a supported operator, function or macro signature for rule"
            text = f"'{why}': {what}: {_named(rule)}"
        return [Problem(INVALID, place, shown(type_), text)]
    if result is True or (not uses_old and site.is_unchanged):
        return []
    detail = ""
    if rule.get("messageExpression"):
        try:
            detail = str(evaluated(rule["messageExpression"]))
        except RuleError:
            detail = ""
    reason = rule.get("reason") if rule.get("reason") in _REASONS else INVALID
    value = None if type_ in ("object", "array") else shown(site.value)
    return [Problem(reason or INVALID, _place(site, rule), value, detail or _message(rule))]


def _place(site: _Site, rule: Object) -> str:
    path = rule.get("fieldPath")
    if not path:
        return site.path or "<nil>"
    try:
        names = schema_at(site.schema.props, path).names
    except PathError:
        names = ()
    return ".".join(part for part in (site.path, *names) if part)


def _message(rule: Object) -> str:
    return (rule.get("message") or "").strip() or f"failed rule: {_named(rule)}"


def _named(rule: Object) -> str:
    return (rule.get("message") or "").strip() or (rule.get("rule") or "").strip()
