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


BUDGET: Final = 10_000_000
"""What all rules may cost together for one object. Source: k8s.io/apiserver v0.37 pkg/apis/cel RuntimeCELCostBudget."""
_SPENT: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT: Final = "operation cancelled: actual cost limit exceeded"


class RuleError(Exception):
    """An expression cannot be evaluated; the message is that of the language, `cost` what it cost up to there."""

    def __init__(self, message: str, cost: int = 0) -> None:
        super().__init__(message)
        self.cost = cost


class RuleEngine(Protocol):
    """Evaluates the expressions of rules."""

    def uses_old(self, expression: str) -> bool:
        """Whether an expression speaks of `oldSelf`."""

    def evaluate(
        self, expression: str, schema: Structural, value: Any, old: Any, *, is_old_optional: bool
    ) -> tuple[Any, int]:
        """Return what an expression gives for a value of a schema as `self`, and what that cost.

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
    return [] if engine is None else _Run(engine).over(schema, new, old).found


def rule_warnings(schema: Structural, new: Object, old: Object, engine: RuleEngine | None) -> list[str]:
    """Return warnings about values that an update leaves as they are, though rules are against them."""
    if engine is None or not schema.has_rules:
        return []
    return [problem.text() for problem in _Run(engine).over(schema, new, old).tolerated]


class _Stop(Exception):
    """No further rule is evaluated."""


class _Run:
    """The rules of a schema on their way over one object."""

    __slots__ = ("_engine", "_left", "found", "tolerated")

    def __init__(self, engine: RuleEngine) -> None:
        self._engine = engine
        self._left = BUDGET
        self.found: list[Problem] = []
        self.tolerated: list[Problem] = []

    def over(self, schema: Structural, new: Object, old: Object | None) -> _Run:
        """Evaluate all rules, as far as the budget goes."""
        try:
            for site in _sites(schema, "", new, old):
                for rule in site.schema.rules:
                    self._judge(site, rule)
        except _Stop:
            pass
        return self

    def _spend(self, cost: int, place: str, type_: str) -> None:
        if cost > self._left:
            self.found.append(Problem(INVALID, place, shown(type_), _SPENT))
            raise _Stop
        self._left -= cost

    def _judge(self, site: _Site, rule: Object) -> None:
        expression = (rule.get("rule") or "").strip()
        uses_old = self._engine.uses_old(expression)
        if uses_old and site.old is None and not rule.get("optionalOldSelf"):
            return
        type_ = site.schema.props.get("type") or ""
        place = site.path or "<nil>"
        try:
            result, cost = self._evaluated(expression, site, rule)
        except RuleError as why:
            self._spend(why.cost, place, type_)
            self.found.append(Problem(INVALID, place, shown(type_), _why(why, rule)))
            if str(why).startswith(_LIMIT):
                raise _Stop from None
            return
        self._spend(cost, place, type_)
        if result is True:
            return
        reason = rule.get("reason") if rule.get("reason") in _REASONS else INVALID
        value = None if type_ in ("object", "array") else shown(site.value)
        detail = self._message(site, rule)
        problem = Problem(reason or INVALID, _place(site, rule), value, detail or _message(rule))
        (self.tolerated if not uses_old and site.is_unchanged else self.found).append(problem)

    def _evaluated(self, text: str, site: _Site, rule: Object) -> tuple[Any, int]:
        is_optional = bool(rule.get("optionalOldSelf"))
        return self._engine.evaluate(text, site.schema, site.value, site.old, is_old_optional=is_optional)

    def _message(self, site: _Site, rule: Object) -> str:
        if not rule.get("messageExpression"):
            return ""
        try:
            value, cost = self._evaluated(rule["messageExpression"], site, rule)
        except RuleError:
            return ""
        self._left = max(self._left - cost, 0)
        return str(value)


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


def _why(why: RuleError, rule: Object) -> str:
    """Return what is said of a rule that cannot be evaluated."""
    text = str(why)
    if text.startswith(_NO_OVERLOAD):
        what = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{text}': {what}: {_named(rule)}"
    if text.startswith(_LIMIT):
        what = "no further validation rules will be run due to call cost exceeds limit for rule"
        return f"'{text}': {what}: {_named(rule)}"
    return f"{text} evaluating rule: {_named(rule)}"


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
